/** An objective that a recipe brings as a module: it trains as a built-in one does, and what is wrong with it is told before a step is taken. */
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import type { TrainingPlan } from '../../core/plan/training-plan.ts';
import type { PolicyObjectiveSpec } from '../../core/rl/objective.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { objectiveModules } from '../../learner/train/node-objectives.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { sampleOf, sequences, teach, version } from './plan-fixture.ts';

const CLIP = { clipLow: 0.01, clipHigh: 0.02 };
const modules = [{ recipe: { name: 'r' }, file: fileURLToPath(import.meta.url) }];

beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
});

/** Samples whose ratios come to the clip's bounds: two passes, and log-probabilities of another policy. */
const plan = (objective: PolicyObjectiveSpec): TrainingPlan => {
  const items = sequences(3, 5, 4).map((sequence, i) => ({
    sample: sampleOf(
      sequence,
      sequence.ids.map(() => -2.5),
    ),
    advantage: [1, -1, 0.5][i]!,
  }));
  const aggregation = { mode: 'token-mean' as const };
  return {
    updates: [
      {
        set: 'main',
        epochs: 3,
        parts: [{ kind: 'policy', role: 'solver', weight: 1, items, objective, aggregation }],
      },
    ],
  };
};

const play = (
  objective: PolicyObjectiveSpec,
  trainer = new RoundTrainer({ objectives: objectiveModules(modules) }),
) => teach(plan(objective), { versions: [version('own-objective')], trainer });
const module = (path: string): PolicyObjectiveSpec => ({ kind: 'module', module: path, options: CLIP });

test('the same loss as a module gives the same weights and the same report as the built-in one', async () => {
  const own = await play(module('./own-loss.ts'));
  const builtIn = await play({ kind: 'ppo-clip', ...CLIP });
  expect(own.files).toEqual(builtIn.files);
  expect(own.report).toEqual(builtIn.report);
  const other = await play({ kind: 'ppo-clip', clipLow: 0.5, clipHigh: 0.5 });
  expect(other.files['model.safetensors']).not.toEqual(builtIn.files['model.safetensors']);
});

test.each<[string, string, RegExp]>([
  ['is not there', './none.ts', /objective .*none\.ts of recipe r cannot be loaded/],
  ['is no path', 'some-package', /"some-package" of recipe r is no path/],
  ['exports no function', './plan-fixture.ts', /no function as its default export/],
  ['returns no loss', './no-loss.ts', /returned no loss.*tensors of rank 0/],
])('a module that %s is told', async (_, path, said) => {
  await expect(play(module(path))).rejects.toThrow(said);
});

test('a learner that was not started with the recipe says so', async () => {
  await expect(play(module('./own-loss.ts'), new RoundTrainer())).rejects.toThrow(
    /Start the learner with --recipe/,
  );
});
