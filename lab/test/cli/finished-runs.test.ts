import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { expectedMinutes, minutesByPilots } from '../../cli/expected-time.ts';
import { FinishedRuns } from '../../cli/finished-runs.ts';
import { playClaim, sayExpectedTime } from '../../cli/play-claim.ts';
import type { ArmRun, Players } from '../../cli/run-arms.ts';
import { runOf } from '../rule/runs.ts';

const sppo = claimed.find('sppo');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'claims-'));
  vi.spyOn(console, 'log').mockReturnValue();
});
afterEach(async () => {
  await rm(folder, { recursive: true });
  vi.restoreAllMocks();
});

/** Plays runs one by one, and dies after `most` of them. */
const mortal = (most: number, played: ArmRun[]) =>
  ({
    async play(
      runs: readonly ArmRun[],
      onDone: (run: ArmRun, summary: ReturnType<typeof runOf>) => Promise<void>,
    ) {
      const results = [];
      for (const run of runs) {
        if (results.length === most) throw new Error('killed');
        const summary = { ...runOf(0.1, run.seed / 100), seed: run.seed };
        played.push(run);
        await onDone(run, summary);
        results.push(summary);
      }
      return results;
    },
  }) as unknown as Players;

const settings = { quick: false, pilot: false, engine: 'onnx' } as const;

test('a claim that was stopped goes on where it was and comes to the same runs', async () => {
  const finished = new FinishedRuns(folder, 'sppo', 'key');
  const played: ArmRun[] = [];
  await expect(playClaim(sppo, settings, mortal(5, played), { finished })).rejects.toThrow('killed');
  const { arms, began } = await playClaim(sppo, settings, mortal(99, played), { finished });
  expect(played).toHaveLength(24);
  const whole = await playClaim(sppo, settings, mortal(99, []));
  expect(arms).toEqual(whole.arms);
  expect(arms.map(({ runs }) => runs.length)).toEqual([8, 8, 8]);
  expect(Date.parse(began)).toBeLessThanOrEqual(Date.parse(whole.began));
  await finished.forget();
  expect(await finished.read(played[0]!)).toBeUndefined();
});

test('the expected time follows the last record, by rounds, seeds and engine', () => {
  const claim = { ...sppo.claim, rounds: 16 };
  const record = {
    rounds: 8,
    // One run of three stood still for an hour.
    arms: [
      {
        name: 'sppo',
        description: '',
        runs: [20_000, 3_600_000, 30_000].map((wallMs) => ({ ...runOf(0.1), wallMs })),
      },
    ],
  };
  // Half a minute for eight rounds is a minute for sixteen; the other arms are taken for average ones.
  expect([...expectedMinutes(claim, 'onnx', record)!]).toEqual([
    ['sppo', 8],
    ['dpo', 8],
    ['random', 8],
  ]);
  expect(expectedMinutes(claim, 'kernels', record)!.get('sppo')).toBeLessThan(8);
  expect(expectedMinutes(claim, 'onnx', undefined)).toBeUndefined();
});

test('the expected time of a first run follows the pilots, of which one may have been stopped', () => {
  const claim = { ...sppo.claim, rounds: 10 };
  const at = '2026-11-01T00:00:00.000Z';
  const pilots = [
    // Ten rounds of four runs, half a minute a run.
    { at, commit: 'a', minutes: 2, arms: ['sppo', 'dpo'], seeds: 2, rounds: 10 },
    // One of two runs ended, in a minute and a half.
    { at, commit: 'a', minutes: 1.5, arms: ['dpo'], seeds: 2, rounds: 10, runs: 1 },
    { at, commit: 'a', minutes: 0, arms: ['random'], seeds: 2, rounds: 10, runs: 0 },
  ];
  const minutes = minutesByPilots(claim, pilots)!;
  expect(minutes.get('sppo')).toBeCloseTo(8 * 0.5);
  expect(minutes.get('dpo')).toBeCloseTo(8 * 0.7);
  // No run of this arm has ended: it is taken for an average one.
  expect(minutes.get('random')).toBeCloseTo(8 * 0.7);
  expect(minutesByPilots(claim, [])).toBeUndefined();
  const recipe = { ...sppo, claim };
  sayExpectedTime(recipe, { engine: 'kernels', jobs: 2 }, { record: undefined, pilots });
  expect(console.log).toHaveBeenLastCalledWith(
    'sppo: 3 arms, 24 runs of 10 rounds, engine kernels, 2 at a time: about 8 minutes, by its pilots, which may have had other settings; the longest arm takes 3.',
  );
  sayExpectedTime(recipe, { engine: 'kernels', jobs: 2 }, { record: undefined, pilots: [] });
  expect(console.log).toHaveBeenLastCalledWith(expect.stringContaining('is not known'));
});
