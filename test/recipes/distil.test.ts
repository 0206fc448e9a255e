/** distil: its plan from records, what is refused, and rounds that bring a student nearer to its teacher. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RoundRecords } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { registry } from '../../core/recipe/registry.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { playInProcess } from '../../local/run/in-process.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { runInProcess } from '../../local/run/single-process.ts';
import { parseConfig } from '../../model/config.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { distil } from '../../recipes/distil/recipe.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { randomTask, runningTotals } from '../../worlds/arithmetic/family.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';

const random = new Random('distil');
const tasks = Array.from({ length: 60 }, (_, i): PlacedTask => {
  const task = randomTask(random, 2);
  return {
    messages: [{ role: 'user', content: task }],
    answer: String(runningTotals(task).at(-1)),
    metadata: {},
    difficulty: null,
    file: 'sums',
    line: i + 1,
  };
});
const dataOf = (settings: object) => ({
  name: 'sums',
  start: 'arithmetic-base',
  checker: 'number',
  extract: ['answer'],
  sources: [{ weight: 1, tasks: tasks.slice(20) }],
  heldOut: tasks.slice(0, 20),
  settings,
});
const teacher = { policy: 'large', version: 3 };

/** The plan of a recipe for one group of three samples, one of which wrote nothing. */
async function planOf(settings: object, policy = 'small') {
  const samples = [
    { prompt: [1, 2], ids: [3] },
    { prompt: [1, 2], ids: [] },
    { prompt: [1, 2], ids: [4, 5, 6] },
  ];
  const records = { groups: [{ samples }], round: { settings: { policy } } } as unknown as RoundRecords;
  return distil.make(dataOf(settings)).learn(records, {} as never);
}

test('every token that was sampled is taught by the teacher, and an empty answer is left out', async () => {
  const { updates, figures } = await planOf({ teacher, epochs: 2 });
  expect(updates).toEqual([
    {
      set: 'main',
      epochs: 2,
      parts: [
        {
          kind: 'distillation',
          role: 'solver',
          weight: 1,
          items: [
            { prompt: [1, 2], ids: [3] },
            { prompt: [1, 2], ids: [4, 5, 6] },
          ],
          teacher: { policy: 'large', set: 'main', version: 3 },
          divergence: { kind: 'reverse-kl' },
        },
      ],
    },
  ]);
  expect(figures).toEqual({ tokens: 2 });
});

test('divergence and teacher are as the settings say; an earlier version of the policy itself needs no other name', async () => {
  const settings = { teacher, divergence: { kind: 'jensen-shannon', beta: 0.1 }, top: { k: 8 } };
  const { updates } = await planOf(settings, 'large');
  expect(updates[0]!.parts[0]).toMatchObject({
    teacher: { set: 'main', version: 3 },
    divergence: { kind: 'jensen-shannon', beta: 0.1 },
    top: { k: 8, of: 'teacher' },
  });
  expect(updates[0]!.parts[0]).not.toHaveProperty('teacher.policy');
});

test('without a teacher, and with a setting that is none, there is no recipe; another setting is another recipe', () => {
  expect(() => distil.make(dataOf({}))).toThrow(/has no teacher\. Expected --set teacher\.policy=NAME/);
  expect(() => distil.make(dataOf({ teacher, divergence: { kind: 'jensen-shannon', beta: 1 } }))).toThrow();
  const names = [
    { teacher },
    { teacher: { policy: 'large' } },
    { teacher, divergence: { kind: 'forward-kl' } },
  ];
  expect(new Set(names.map((settings) => distil.make(dataOf(settings)).name)).size).toBe(3);
});

test('a teacher with other tokens is refused before anything is sampled', async () => {
  const recipe = distil.make(dataOf({ teacher: { policy: 'words' } }));
  const order = { recipe: recipe.name, seed: 0, rounds: 1, freeze: [], policy: 'p', tasks: 2, groupSize: 2 };
  const store = new MemoryRunStore();
  await store.commitVersion({ name: 'p', version: 0 }, await readPolicyFolder('models/arithmetic-base'));
  await store.commitVersion({ name: 'words', version: 0 }, await readPolicyFolder('models/words'));
  const never = () => expect.unreachable('the run has begun');
  const listener = { started: never, evaluatedStart: never, round: never, finished: never };
  const how = { device: 'cpu', threads: 1, revectorize: false, evalEvery: 1 } as const;
  await expect(playInProcess(runOf(registry([recipe]), order), how, store, listener)).rejects.toThrow(
    /tokenizer of words@0 is not that of the policy that is trained/,
  );
});

describe('rounds', () => {
  const trainer = new RoundTrainer();
  beforeAll(async () => {
    await openDevice({ device: 'cpu', threads: 1 });
  });
  afterAll(() => trainer.dispose());

  test('a policy comes to answer as a teacher six times its size does, who stays at its version', async () => {
    const recipe = distil.make(
      dataOf({
        teacher: { policy: 'larger' },
        maxNew: 26,
        optimizer: { learningRate: 5e-4, warmup: 1, minibatches: 4 },
      }),
    );
    const order = {
      recipe: recipe.name,
      seed: 0,
      rounds: 5,
      freeze: [],
      policy: 'p',
      tasks: 24,
      groupSize: 4,
    };
    const { settings, rounds } = runOf(registry([recipe]), order);
    const store = new MemoryRunStore();
    const start = await readPolicyFolder('models/arithmetic-base');
    await store.commitVersion({ name: 'p', version: 0 }, start);
    const larger = await readPolicyFolder('models/arithmetic-reading');
    await store.commitVersion({ name: 'larger', version: 0 }, larger);
    const widthOf = (files: typeof start) =>
      parseConfig(JSON.parse(new TextDecoder().decode(files['config.json']))).hiddenSize;
    expect([widthOf(start), widthOf(larger)]).toEqual([64, 160]);
    const policies = new OpenPolicies(nodeEngines, (ref) => store.loadVersion(ref));
    const losses: number[] = [];
    const warnings: string[] = [];
    const { heldout } = await runInProcess({
      recipe,
      settings,
      rounds,
      evaluateEvery: rounds,
      store,
      trainer,
      ...textOf(start, 'p'),
      use: policies.use,
      roles: bindingsOf(recipe, settings),
      onRound: ({ report }) => {
        losses.push(report.figures!['main/solver/distillation/loss']!);
        warnings.push(...report.warnings!);
      },
    });
    await policies.dispose();
    expect([await store.currentVersion('p'), await store.currentVersion('larger')]).toEqual([5, 0]);
    expect(losses).toHaveLength(5);
    expect(warnings.filter((words) => words.includes('nothing to learn'))).toEqual([]);
    expect(losses.at(-1)!).toBeLessThan(losses[0]! / 2);
    // The teacher answers all of the 20 questions, its student at first every other one.
    expect(heldout.at(-1)!.accuracy).toBeGreaterThan(heldout[0]!.accuracy + 0.2);
  });
});
