/** Learning-rate schedules over a run's rounds: the optimiser's own count of steps goes on from version to version. */
import { beforeAll, expect, test } from 'vitest';
import type { OptimizerSettings, SetSettings, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { sequences, teach, trained, version } from './plan-fixture.ts';

beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
});

const plan: TrainingPlan = {
  updates: [{ set: 'main', parts: [{ kind: 'sft', role: 'solver', weight: 1, items: sequences(2, 3) }] }],
};

/** The learning rate of the last step of each round; every round has one. */
async function rates(change: Partial<OptimizerSettings>, rounds: number): Promise<number[]> {
  const main: SetSettings = { optimizer: { ...trained.optimizer!, learningRate: 1, ...change } };
  const versions: VersionFiles[] = [version('schedule')];
  const seen: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { files, report } = await teach(plan, { sets: { main }, versions: [...versions] });
    versions.push(files);
    seen.push(report.learningRate);
  }
  return seen;
}

test('constant, linear and cosine, with a warm-up and a floor, worked by hand', async () => {
  const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 12));
  expect(await rates({ warmup: 2 }, 4)).toEqual(close([1 / 2, 1, 1, 1]));
  // Six steps, of which two are warm-up: four steps down to a fifth, and there it stays.
  const line = await rates({ warmup: 2, schedule: 'linear', totalSteps: 6, floor: 0.2 }, 8);
  expect(line).toEqual(close([1 / 2, 1, 1, 0.8, 0.6, 0.4, 0.2, 0.2]));
  const cosine = await rates({ warmup: 1, schedule: 'cosine', totalSteps: 5 }, 6);
  expect(cosine).toEqual(close([1, 1, (1 + Math.SQRT1_2) / 2, 1 / 2, (1 - Math.SQRT1_2) / 2, 0]));
});
