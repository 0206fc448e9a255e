/** The rules of a training plan: sets apart, followers, what is kept and resumed, what is left out, what is refused. */
import * as v from 'valibot';
import { beforeAll, expect, test } from 'vitest';
import type {
  PreferencePart,
  SetSettings,
  SftPart,
  TrainingPlan,
  Update,
} from '../../core/plan/training-plan.ts';
import type { VersionFile, VersionFiles } from '../../core/schema/policy.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import * as tf from '../../learner/tfjs.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { scoresOf, sequences, sum, teach, tensorsOf, text, trained, version } from './plan-fixture.ts';

const start = version('start');
const given = sequences(3, 5, 4, 6, 2, 7);
const sft = (items = given, role = 'solver'): SftPart => ({
  kind: 'sft',
  role,
  weight: 1,
  items,
});
const update = (change: Partial<Update> = {}): Update => ({ set: 'main', parts: [sft()], ...change });
const twoSets = { main: trained, critic: trained } as const;
const same = (a: VersionFiles, b: VersionFiles, file: VersionFile) =>
  Buffer.from(a[file]!).equals(Buffer.from(b[file]!));

beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
});

test('pairs stay together: micro-batches of one pair train as the whole batch does', async () => {
  const pairs = [0, 2, 4].map((i) => ({ chosen: given[i]!, rejected: given[i + 1]! }));
  const part: PreferencePart = {
    kind: 'preference',
    role: 'solver',
    weight: 1,
    pairs,
    objective: { kind: 'dpo', beta: 0.5 },
    reference: { set: 'main', version: 0 },
    sft: 0.1,
  };
  const versions = [start, version('now')];
  const plan: TrainingPlan = { updates: [update({ parts: [part, sft()] })] };
  const whole = await teach(plan, { versions });
  const split = await teach(plan, { versions, tokenBudget: 1 });
  expect(split.report.loss).toBeCloseTo(whole.report.loss, 5);
  expect(split.report.gradientNorm).toBeCloseTo(whole.report.gradientNorm!, 4);
  const [a, b] = [tensorsOf(whole.files), tensorsOf(split.files)];
  // an AdamW step has the size of the learning rate; only where a gradient is next to nothing may its sign be rounding
  const far = [...a].flatMap(([name, { data }]) =>
    [...data].filter((x, i) => Math.abs(x - b.get(name)!.data[i]!) > 1e-5),
  );
  expect(far.length).toBeLessThan(5);
});

test('two sets train each as if alone, from the same start; one that is not trained keeps its bytes', async () => {
  const critic = update({ set: 'critic', parts: [sft(given.slice(0, 2))] });
  const alone = await teach({ updates: [update()] }, { versions: [start], sets: twoSets });
  const both = await teach({ updates: [update(), critic] }, { versions: [start], sets: twoSets });
  const other = await teach({ updates: [critic] }, { versions: [start], sets: twoSets });
  expect(same(both.files, alone.files, 'model.safetensors')).toBe(true);
  expect(same(both.files, other.files, 'critic.safetensors')).toBe(true);
  expect(alone.files['critic.safetensors']).toBeUndefined();
  expect(same(other.files, start, 'model.safetensors')).toBe(true);
  expect(same(other.files, both.files, 'model.safetensors')).toBe(false);
  const next = await teach({ updates: [update()] }, { versions: [start, both.files], sets: twoSets });
  for (const file of ['critic.safetensors', 'critic.optimizer.safetensors'] as const)
    expect(same(next.files, both.files, file), file).toBe(true);
  expect(same(next.files, both.files, 'model.safetensors')).toBe(false);
});

test('a follower moves by its decay after all updates, in a round that teaches nothing too', async () => {
  const sets: Record<string, SetSettings> = {
    main: trained,
    teacher: { optimizer: null, average: { of: 'main', decay: 0.9 } },
  };
  const first = await teach({ updates: [update()] }, { versions: [start], sets });
  const second = await teach({ updates: [] }, { versions: [start, first.files], sets });
  expect(same(second.files, first.files, 'model.safetensors')).toBe(true);
  const old = tensorsOf(start);
  const main = tensorsOf(first.files);
  const once = tensorsOf(first.files, 'teacher.safetensors');
  const twice = tensorsOf(second.files, 'teacher.safetensors');
  for (const [name, { data }] of old)
    for (const [i, was] of data.entries()) {
      const now = main.get(name)!.data[i]!;
      const expected = 0.9 * was + 0.1 * now;
      expect(Math.abs(once.get(name)!.data[i]! - expected)).toBeLessThan(1e-6);
      expect(Math.abs(twice.get(name)!.data[i]! - (0.9 * expected + 0.1 * now))).toBeLessThan(1e-6);
    }
});

test('a round trained from the files alone is the round of the trainer that made them, bit for bit', async () => {
  const sets: Record<string, SetSettings> = {
    main: { ...trained, head: { kind: 'value' } },
    critic: { ...trained, head: { kind: 'classes', count: 2 } },
    teacher: { optimizer: null, average: { of: 'main', decay: 0.5 } },
  };
  const values = given.map((item) => ({ ...item, targets: item.ids.map((_, t) => t) }));
  const about = { role: 'solver', weight: 1 } as const;
  const plan: TrainingPlan = {
    updates: [
      update({ parts: [sft(), { ...about, kind: 'value', items: values }], minibatches: 2, epochs: 2 }),
      update({
        set: 'critic',
        parts: [
          { ...about, kind: 'classification', items: given.map((item, i) => ({ ...item, label: i % 2 })) },
        ],
      }),
    ],
    recipeState: { round: 1 },
  };
  const trainer = new RoundTrainer();
  const state = v.object({ round: v.number() });
  const first = await teach(plan, { versions: [start], sets, trainer, state });
  const versions = [start, first.files];
  const held = await teach(plan, { versions, sets, trainer, state });
  const loaded = await teach(plan, { versions, sets, state });
  expect(Object.keys(held.files).sort()).toEqual([
    'config.json',
    'critic.head.safetensors',
    'critic.optimizer.safetensors',
    'critic.safetensors',
    'main.head.safetensors',
    'memory.json',
    'model.safetensors',
    'optimizer.safetensors',
    'teacher.safetensors',
  ]);
  for (const file of Object.keys(held.files) as VersionFile[])
    expect(same(held.files, loaded.files, file), file).toBe(true);
  expect(loaded.report).toEqual(held.report);
  expect(same(held.files, first.files, 'critic.optimizer.safetensors')).toBe(false);
});

test('memory is handed to the recipe and on to the next version', async () => {
  const seen: unknown[] = [];
  const learn = (recipeState?: unknown) => (records: { recipeState: unknown; version: number }) => {
    seen.push([records.recipeState, records.version]);
    return { updates: [], ...(recipeState === undefined ? {} : { recipeState }) };
  };
  const state = v.object({ best: v.array(v.number()) });
  const first = await teach(learn({ best: [1, 2] }), { versions: [start], state });
  const second = await teach(learn(), { versions: [start, first.files], state });
  await teach(learn(), { versions: [start, first.files, second.files], state });
  expect(seen).toEqual([
    [undefined, 0],
    [{ best: [1, 2] }, 1],
    [{ best: [1, 2] }, 2],
  ]);
  expect(second.files['memory.json']).toEqual(text({ best: [1, 2] }));
  expect(second.report.updates).toBe(0);
});

test('the tools score any set at any version, whatever is asked at once', async () => {
  const critic = await teach({ updates: [update({ set: 'critic' })] }, { versions: [start], sets: twoSets });
  const versions = [
    start,
    critic.files,
    { ...version('b'), 'critic.safetensors': version('c')['model.safetensors']! },
  ];
  const last = [...versions, version('d')];
  let told: Float32Array[][] = [];
  await teach(
    async (_, tools) => {
      told = await Promise.all([
        tools.score('main', given),
        ...[0, 1, 2].flatMap((v) => [tools.score('main', given, v), tools.score('critic', given, v)]),
        tools.score('critic', []),
      ]);
      return { updates: [] };
    },
    { versions: last, sets: twoSets, tokenBudget: 12 },
  );
  const expected = [
    scoresOf(last[3]!, given),
    scoresOf(start, given),
    scoresOf(start, given),
    scoresOf(start, given), // version 1 trained the critic alone
    scoresOf(critic.files, given, 'critic.safetensors'),
    scoresOf(versions[2]!, given),
    scoresOf(versions[2]!, given, 'critic.safetensors'),
  ];
  expect(told).toHaveLength(8);
  expect(told[7]).toEqual([]);
  for (const [i, { logprobs }] of expected.entries())
    for (const [s, row] of logprobs.entries())
      for (const [t, value] of row.entries()) expect(told[i]![s]![t], `${i}`).toBeCloseTo(value, 4);
});

test('references are scored before the first update: a second update still sees the parent', async () => {
  const pair = { chosen: given[0]!, rejected: given[1]! };
  const about = { kind: 'preference', role: 'solver', weight: 1, pairs: [pair] } as const;
  const part: PreferencePart = {
    ...about,
    objective: { kind: 'dpo', beta: 1 },
    reference: { set: 'main', version: 1 },
  };
  const versions = [start, version('now')];
  const { report, files } = await teach({ updates: [update({ parts: [part], epochs: 2 })] }, { versions });
  const after = await teach({ updates: [update({ parts: [part] })] }, { versions });
  // ln 2 while the policy is its own reference, less in the second epoch
  const margin = (f: VersionFiles) => {
    const [a, b] = scoresOf(f, [pair.chosen, pair.rejected]).logprobs.map(sum) as [number, number];
    return a - b;
  };
  const learned = margin(after.files) - margin(versions[1]!);
  expect(after.report.loss).toBeCloseTo(Math.log(2), 5);
  expect(report.loss).toBeCloseTo((Math.log(2) + Math.log1p(Math.exp(-learned))) / 2, 4);
  expect(margin(files)).toBeGreaterThan(margin(after.files));
});

test('epochs and steps: every item once an epoch, and each epoch in another order', async () => {
  const { report } = await teach({ updates: [update({ epochs: 3, minibatches: 2 })] }, { versions: [start] });
  expect(report.updates).toBe(6);
  expect(report.tokens).toBe(3 * sum(given.map(({ prompt, ids }) => prompt.length + ids.length)));
});

test('a gradient that explodes is left out and counted; a round of nothing else fails', async () => {
  const bound = { main: { optimizer: { ...trained.optimizer!, skipNorm: 1000 } } };
  const huge = update({ parts: [{ ...sft(), weight: 1e6 }] });
  const calm = await teach({ updates: [update()] }, { versions: [start], sets: bound });
  const mixed = await teach({ updates: [update(), huge] }, { versions: [start], sets: bound });
  expect(calm.report.skipped).toBeUndefined();
  expect(mixed.report.skipped).toBe(1);
  expect(same(mixed.files, calm.files, 'model.safetensors')).toBe(true);
  await expect(teach({ updates: [huge] }, { versions: [start], sets: bound })).rejects.toMatchObject({
    kind: 'give-up',
    code: 'learner.exploded',
  });
});

test('an update without items is passed over, a training plan without any is refused by name', async () => {
  const empty = update({ set: 'critic', parts: [sft([])] });
  const one = await teach({ updates: [empty, update()] }, { versions: [start], sets: twoSets });
  expect(one.report.updates).toBe(1);
  const nothing = { kind: 'give-up', code: 'learner.empty-round' };
  await expect(teach({ updates: [empty] }, { versions: [start], sets: twoSets })).rejects.toMatchObject(
    nothing,
  );
});

test('a training plan for frozen roles alone publishes the weights as they are', async () => {
  const taught = await teach({ updates: [update()] }, { versions: [start], freeze: ['solver'] });
  expect(taught.report.updates).toBe(0);
  expect(taught.files['model.safetensors']).toEqual(start['model.safetensors']);
});

test('a round leaves nothing on the device but the sets that are held, a failed one nothing at all', async () => {
  const sets: Record<string, SetSettings> = {
    main: { ...trained, head: { kind: 'value' } },
    teacher: { optimizer: null, average: { of: 'main', decay: 0.5 } },
  };
  const plan: TrainingPlan = { updates: [update({ minibatches: 2, epochs: 2 })] };
  const before = tf.memory().numTensors;
  const trainer = new RoundTrainer({ tokenBudget: 12 });
  const versions = [start];
  const held: number[] = [];
  for (let round = 1; round <= 4; round++) {
    versions.push((await teach(plan, { versions, sets, trainer })).files);
    held.push(tf.memory().numTensors);
  }
  expect(held[0]).toBeGreaterThan(before);
  // From the second round on the start is held too, to measure the distance from it: once, its weights and its rotary table.
  expect(held[1]! - held[0]!).toBe(tensorsOf(start).size + 1);
  expect(held.slice(2)).toEqual([held[1], held[1]]);
  const nan = { ...sft(), weight: Number.NaN };
  await expect(
    teach({ updates: [update({ parts: [sft(), nan] })] }, { versions, sets, trainer }),
  ).rejects.toMatchObject({ code: 'learner.non-finite' });
  const value = {
    kind: 'classification',
    role: 'solver',
    weight: 1,
    items: [{ ...given[0]!, label: 0 }],
  } as const;
  await expect(
    teach({ updates: [update({ parts: [sft(), value] })] }, { versions, sets, trainer }),
  ).rejects.toMatchObject({ code: 'training-plan.head' });
  trainer.dispose();
  expect(tf.memory().numTensors).toBe(before);
});
