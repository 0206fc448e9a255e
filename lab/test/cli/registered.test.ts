/** What a claim's files say of a registered run that was stopped. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { FinishedRuns, keyOfDigest } from '../../cli/finished-runs.ts';
import { readAttempts, readRegistration, writeRegistration } from '../../cli/registered.ts';
import type { ArmRun } from '../../cli/run-arms.ts';
import { digestOf } from '../../rule/registration.ts';
import { runOf } from '../rule/runs.ts';

const sppo = claimed.find('sppo');

const here = process.cwd();
const state = '.rollmesh';
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'registered-'));
  process.chdir(folder);
});
afterEach(async () => {
  process.chdir(here);
  await rm(folder, { recursive: true });
});

/** Keeps a run of the registration that is in the file, as it was played on a commit. */
async function endRun(seed: number, commit = 'abc1234', prefix = ''): Promise<void> {
  const digest = digestOf((await readRegistration('sppo'))!);
  const [arm] = sppo.claim.arms;
  const run: ArmRun = {
    ...{ claim: 'sppo', recipe: 'sppo', arm: arm! },
    ...{ seed, rounds: 8, evalEvery: 5, engine: 'kernels' },
  };
  const finished = new FinishedRuns(state, 'sppo', `${prefix}${keyOfDigest(digest)}-${commit}`);
  await finished.write(run, new Date().toISOString(), runOf(0.1, 0.2));
}

const changed = { ...sppo, claim: { ...sppo.claim, rounds: 9 } };

test('a claim of which no run has ended may be registered anew as the same attempt', async () => {
  await writeRegistration(sppo, 'kernels', { state });
  await endRun(30, 'abc1234', 'again-');
  await writeRegistration(changed, 'kernels', { state });
  expect(await readRegistration('sppo')).toMatchObject({ attempt: 1, rounds: 9 });
  expect((await readAttempts('sppo')).earlier).toEqual([]);
});

test('a registered run that was stopped after some of its runs is an attempt', async () => {
  await writeRegistration(sppo, 'kernels', { state });
  const { rounds, seeds, registeredAt } = (await readRegistration('sppo'))!;
  await endRun(30);
  await endRun(31);
  // The same run on another commit is no further one.
  await endRun(31, 'def5678');
  await expect(writeRegistration(changed, 'kernels', { state })).rejects.toThrow(
    'The registered run of sppo has begun: 2 of its runs have ended, and their results are known. Expected one registered attempt, which is played to its end. Go on with `npm run claims -- sppo`, or count what was stopped as an attempt with `--register --again REASON`.',
  );
  expect((await readRegistration('sppo'))!.registeredAt).toBe(registeredAt);
  await writeRegistration(changed, 'kernels', { state, reason: 'eight rounds were too few' });
  expect(await readRegistration('sppo')).toMatchObject({ attempt: 2, reason: 'eight rounds were too few' });
  expect((await readAttempts('sppo')).earlier).toEqual([
    {
      seeds,
      rounds,
      verdict: 'stopped',
      held: 0,
      conditions: 0,
      commit: null,
      registered: true,
      changed: 'the first run; stopped after 2 of 24 runs',
    },
  ]);
});

test('a registered run that has a record is not counted as stopped', async () => {
  await writeRegistration(sppo, 'kernels', { state });
  const played = digestOf((await readRegistration('sppo'))!);
  await endRun(30);
  await expect(writeRegistration(changed, 'kernels', { state, played })).rejects.toThrow(
    'its verdict stands',
  );
  await writeRegistration(changed, 'kernels', { state, played, reason: 'another start' });
  expect(await readRegistration('sppo')).toMatchObject({ attempt: 2 });
  // Of the second attempt no run has ended: registered again, it stays the second.
  await writeRegistration(sppo, 'kernels', { state, played, reason: 'another start, and eight rounds' });
  expect(await readRegistration('sppo')).toMatchObject({ attempt: 2 });
  expect((await readAttempts('sppo')).earlier).toEqual([]);
});
