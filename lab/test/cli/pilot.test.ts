/** A pilot notes its time as its runs end, and stops when the claim's pilots have taken all of theirs. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { notedPilot } from '../../cli/pilot.ts';
import { playClaim } from '../../cli/play-claim.ts';
import { readAttempts } from '../../cli/registered.ts';
import type { ArmRun, Players } from '../../cli/run-arms.ts';
import { pilotMinutes } from '../../rule/attempts.ts';
import { runOf } from '../rule/runs.ts';

const sppo = claimed.find('sppo');

const here = process.cwd();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pilot-'));
  process.chdir(folder);
  vi.spyOn(console, 'log').mockReturnValue();
});
afterEach(async () => {
  process.chdir(here);
  await rm(folder, { recursive: true });
  vi.restoreAllMocks();
});

/** Plays two runs at a time, each of so many minutes, and is killed after `most` of them. */
const minutesEach = (minutes: number, most = Number.POSITIVE_INFINITY) =>
  ({
    async play(
      runs: readonly ArmRun[],
      onDone: (run: ArmRun, summary: ReturnType<typeof runOf>) => Promise<void>,
    ) {
      const results: ReturnType<typeof runOf>[] = [];
      for (let at = 0; at < runs.length; at += 2) {
        if (at >= most) throw new Error('killed');
        await Promise.all(
          runs.slice(at, at + 2).map((run) => {
            const summary = { ...runOf(0.1, 0.2), seed: run.seed, wallMs: minutes * 60_000 };
            results.push(summary);
            return onDone(run, summary);
          }),
        );
      }
      return results;
    },
  }) as unknown as Players;

const play = (players: Players, seeds: number) =>
  playClaim(
    sppo,
    { quick: false, pilot: true, engine: 'kernels', seeds, rounds: 4, arms: ['sppo', 'dpo'] },
    players,
    { onEnded: notedPilot('sppo', 'abc1234') },
  );

test('a pilot notes its time once, and where it is killed what its ended runs took', async () => {
  await play(minutesEach(2), 3);
  const whole = { commit: 'abc1234', minutes: 12, arms: ['sppo', 'dpo'], seeds: 3, rounds: 4 };
  expect((await readAttempts('sppo')).pilots).toEqual([{ at: expect.any(String), ...whole }]);
  await new Promise((resolve) => setTimeout(resolve, 2));
  await expect(play(minutesEach(2, 4), 3)).rejects.toThrow('killed');
  const { pilots } = await readAttempts('sppo');
  expect(pilots.slice(1)).toEqual([{ at: expect.any(String), ...whole, minutes: 8, runs: 4 }]);
  expect(pilotMinutes({ pilots })).toBe(20);
});

test('a pilot is stopped when the pilots have taken their time', async () => {
  await play(minutesEach(50), 1);
  await expect(play(minutesEach(10), 2)).rejects.toThrow(
    'The pilots of sppo have taken 120 minutes. Expected at most 120 minutes of pilots a claim, in all.',
  );
  expect((await readAttempts('sppo')).pilots[1]).toMatchObject({ minutes: 20, runs: 2 });
});

test('a pilot whose last runs take up the rest of the time ends as usual', async () => {
  await play(minutesEach(60), 1);
  expect(pilotMinutes(await readAttempts('sppo'))).toBe(120);
});
