/**
 * Updates of a few layers that a recipe tries, against AdamW by its formula in float64 on gradients that training leaves in the optimiser's file, whose first running mean is (1 − β₁)·g; and
 * against the same updates in a plan.
 */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { LearnTools, SetSettings, SftPart, TrialUpdate } from '../../core/plan/training-plan.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import * as tf from '../../learner/tfjs.ts';
import { readOptimizer } from '../../learner/train/optimizer-file.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { readAdapter, writeAdapter } from '../../model/adapter.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import {
  scoresOf,
  sequences,
  sum,
  type Teaching,
  teach,
  tensorsOf,
  trained,
  version,
} from './plan-fixture.ts';

const [B1, B2, EPS] = [0.9, 0.95, 1e-8];
const RATE = 3e-3;
const CLIP = 0.5;
const start = version('trial', { num_hidden_layers: 4 });
const given = sequences(4, 7, 3, 6);
// The set's own rate and warm-up are of another size, so that it shows where they are used.
const main: SetSettings = {
  optimizer: { ...trained.optimizer!, learningRate: 0.1, warmup: 5, betas: [B1, B2], clipNorm: CLIP },
};
const sets = { main };

beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
});

const sft = (chosen: readonly number[]): SftPart => ({
  kind: 'sft',
  role: 'solver',
  weight: 1,
  items: chosen.map((i) => given[i]!),
});
const of = (
  layers: readonly number[],
  chosen: readonly number[],
  more: Partial<TrialUpdate> = {},
): TrialUpdate => ({ parts: [sft(chosen)], only: { layers, learningRate: RATE }, ...more });

/** What `learn` is told, and the version that a plan without updates makes. */
async function told<T>(ask: (tools: LearnTools) => Promise<T>, teaching: Partial<Teaching> = {}) {
  let answer: T;
  const { files } = await teach(
    async (_, tools) => {
      answer = await ask(tools);
      return { updates: [] };
    },
    { sets, versions: [start], ...teaching },
  );
  return { answer: answer!, files };
}
const tried = async (updates: readonly TrialUpdate[], teaching?: Partial<Teaching>) =>
  (await told((tools) => tools.trial('main', updates, given), teaching)).answer.map((row) => [...row]);
const near = (wanted: readonly (readonly number[])[]) =>
  wanted.map((row) => row.map((value) => expect.closeTo(value, 4)));

/** The whole gradient of a part at a version without an optimiser. */
async function gradientOf(part: SftPart, files: VersionFiles): Promise<Map<string, Float64Array>> {
  const loose = { main: { optimizer: { ...main.optimizer!, clipNorm: 1e9 } } };
  const after = await teach(
    { updates: [{ set: 'main', parts: [part] }] },
    { sets: loose, versions: [start, files] },
  );
  return new Map(
    [...readOptimizer(after.files['optimizer.safetensors']!).tensors].flatMap(([name, { data }]) =>
      name.startsWith('mean.')
        ? [[name.slice(5), Float64Array.from(data, (x) => x / (1 - B1))] as const]
        : [],
    ),
  );
}

/** AdamW on these layers alone, in float64: steps that each begin with the weights of the one before. */
async function byFormula(files: VersionFiles, layers: readonly number[], steps: readonly SftPart[]) {
  const moments = new Map<string, { m: Float64Array; v: Float64Array }>();
  const mine = (name: string) => layers.some((layer) => name.includes(`.layers.${layer}.`));
  let now = files;
  for (const [s, part] of steps.entries()) {
    const gradient = new Map([...(await gradientOf(part, now))].filter(([name]) => mine(name)));
    const norm = Math.sqrt(sum([...gradient.values()].map((g) => g.reduce((total, x) => total + x * x, 0))));
    const scale = Math.min(1, CLIP / (norm + 1e-6));
    expect(scale).toBeLessThan(1);
    const tensors = new Map(
      [...tensorsOf(now)].map(([name, { shape, data }]) => {
        const g = gradient.get(name);
        if (!g) return [name, { shape, data }];
        const { m, v } = moments.get(name) ?? {
          m: new Float64Array(g.length),
          v: new Float64Array(g.length),
        };
        moments.set(name, { m, v });
        const moved = data.map((x, i) => {
          const clipped = scale * g[i]!;
          m[i] = B1 * m[i]! + (1 - B1) * clipped;
          v[i] = B2 * v[i]! + (1 - B2) * clipped ** 2;
          const [mean, square] = [m[i]! / (1 - B1 ** (s + 1)), v[i]! / (1 - B2 ** (s + 1))];
          return x - (RATE * mean) / (Math.sqrt(square) + EPS);
        });
        return [name, { shape, data: moved }];
      }),
    );
    now = { ...start, 'model.safetensors': writeSafetensors(tensors) };
  }
  return now;
}

test('sequences are measured after AdamW’s steps on the chosen layers alone', async () => {
  const before = scoresOf(start, given).logprobs;
  for (const layers of [[1], [0, 3]]) {
    const wanted = scoresOf(await byFormula(start, layers, [sft([0, 2]), sft([0, 2])]), given).logprobs;
    expect(await tried([of(layers, [0, 2], { epochs: 2 })])).toEqual(near(wanted));
    // The difference that the steps make is far above the tolerance.
    expect(Math.abs(sum(wanted[0]!) - sum(before[0]!))).toBeGreaterThan(0.05);
  }
});

test('updates are taken one after the other, each by an optimiser that begins at zero', async () => {
  const first = await byFormula(start, [1, 2], [sft([0])]);
  const wanted = scoresOf(await byFormula(first, [2], [sft([1])]), given).logprobs;
  expect(await tried([of([1, 2], [0]), of([2], [1])])).toEqual(near(wanted));
});

test('without updates it is what the version says', async () => {
  expect(await tried([])).toEqual(near(scoresOf(start, given).logprobs));
});

test('the same updates in a plan make a version that says the same, and leave all other layers and the optimiser’s moments alone', async () => {
  const updates = [of([0], [0, 1, 3], { epochs: 2, minibatches: 2 }), of([0, 2], [2])];
  const [whole, split] = [await tried(updates), await tried(updates, { tokenBudget: 10 })];
  const { files } = await teach(
    { updates: updates.map((update) => ({ ...update, set: 'main' })) },
    { sets, versions: [start] },
  );
  expect(whole).toEqual(near(scoresOf(files, given).logprobs));
  expect(split).toEqual(near(whole));
  const before = tensorsOf(start);
  const changed = [...tensorsOf(files)].flatMap(([name, { data }]) =>
    data.some((x, i) => x !== before.get(name)!.data[i]) ? [name] : [],
  );
  expect(new Set(changed.map((name) => /layers\.(\d)/.exec(name)?.[1]))).toEqual(new Set(['0', '2']));
  const { step, tensors } = readOptimizer(files['optimizer.safetensors']!);
  expect(step).toBe(0);
  expect([...tensors.values()].every(({ data }) => data.every((x) => x === 0))).toBe(true);
});

test('an adapter’s layers are tried where an adapter is trained', async () => {
  const adapted = { main: { ...main, adapter: { rank: 2, alpha: 4 } } };
  // A fresh B is zero: after a round both factors move.
  const { files } = await teach(
    { updates: [{ set: 'main', parts: [sft([1])] }] },
    { sets: adapted, versions: [start] },
  );
  const teaching = { sets: adapted, versions: [start, files] };
  const update = of([2], [0], { epochs: 2 });
  const after = await teach({ updates: [{ ...update, set: 'main' }] }, teaching);
  const { answer } = await told((tools) => tools.score('main', given), {
    ...teaching,
    versions: [start, files, after.files],
  });
  const answers = await tried([update], teaching);
  expect(answers).toEqual(near(answer.map((row) => [...row])));
  expect(answers).not.toEqual(near(await tried([], teaching)));
});

test('a layer that the adapter leaves as it is is named', async () => {
  const adapted = { main: { ...main, adapter: { rank: 2, alpha: 4 } } };
  const { files } = await teach(
    { updates: [{ set: 'main', parts: [sft([1])] }] },
    { sets: adapted, versions: [start] },
  );
  const { alpha, tensors } = readAdapter(files['main.adapter.safetensors']!);
  const some = new Map([...tensors].filter(([name]) => !name.includes('.layers.2.')));
  const { 'optimizer.safetensors': _, ...rest } = files;
  const versions = [start, { ...rest, 'main.adapter.safetensors': writeAdapter({ alpha, tensors: some }) }];
  await expect(tried([of([1, 2], [0])], { sets: adapted, versions })).rejects.toThrow(
    /the layer 2, and the adapter leaves that as it is/,
  );
});

test('asked again it comes to the same bits, of a version that was just trained or of one that was loaded, and changes nothing', async () => {
  const plan = { updates: [{ set: 'main', parts: [sft([1, 3])] }] };
  const trainer = new RoundTrainer();
  const first = await teach(plan, { sets, versions: [start], trainer });
  const versions = [start, first.files];
  const ask = async (tools: LearnTools) => {
    const before = await tools.score('main', given);
    const answers = [];
    for (const layers of [[1], [3, 0], [1]])
      answers.push(await tools.trial('main', [of(layers, [0, 2], { epochs: 2 })], given));
    expect(await tools.score('main', given)).toEqual(before);
    return answers;
  };
  const held = await told(ask, { versions, trainer });
  const loaded = await told(ask, { versions });
  expect(held.answer).toEqual(loaded.answer);
  expect(held.answer[2]).toEqual(held.answer[0]);
  expect(held.answer[1]).not.toEqual(held.answer[0]);
  const plain = await teach(plan, { sets, versions });
  const after = await teach(async (_, tools) => (await ask(tools)) && plan, { sets, versions });
  for (const file of ['model.safetensors', 'optimizer.safetensors'] as const) {
    expect(loaded.files[file]).toBe(first.files[file]);
    expect(Buffer.from(after.files[file]!).equals(Buffer.from(plain.files[file]!)), file).toBe(true);
  }
});

test('copies of the chosen layers are held, however many trials there are, and nothing is left behind', async () => {
  const { answer } = await told(async (tools) => {
    const ask = (layers: number[]) => tools.trial('main', [of(layers, [2], { epochs: 2 })], [given[2]!]);
    // The set and its optimiser are placed at the first request.
    await ask([0]);
    const most = async (...trials: number[][]) => {
      const before = tf.memory();
      let peak = 0;
      const engine = tf.engine();
      const kernels = vi.spyOn(engine, 'runKernel');
      const run = Object.getPrototypeOf(engine).runKernel;
      kernels.mockImplementation((...call) => {
        peak = Math.max(peak, tf.memory().numBytes - before.numBytes);
        return run.apply(engine, call);
      });
      for (const layers of trials) await ask(layers);
      kernels.mockRestore();
      expect(tf.memory().numTensors).toBe(before.numTensors);
      return peak;
    };
    return [await most([1]), await most([0], [1], [2], [3]), await most([0, 1, 2, 3])];
  });
  const [one, four, all] = answer as [number, number, number];
  const layer = sum(
    [...tensorsOf(start)].flatMap(([name, { data }]) =>
      name.includes('.layers.1.') ? [4 * data.length] : [],
    ),
  );
  expect(one).toBeGreaterThan(3 * layer);
  expect(four - one).toBeLessThan(layer);
  expect(all - one).toBeGreaterThan(6 * layer);
});

describe('what cannot be tried is named, and nothing is left behind', () => {
  test.each([
    ['a layer that is not there', 'main', [of([4], [0])], /trains the layers \[4\] alone.*one of 0 to 3/s],
    ['no layer', 'main', [of([], [0])], /trains the layers \[\] alone/],
    ['a layer twice', 'main', [of([1, 1], [0])], /trains the layers \[1, 1\] alone/],
    ['a part of a layer', 'main', [of([0.5], [0])], /trains the layers \[0.5\] alone/],
    [
      'a rate that is none',
      'main',
      [of([0], [0], { only: { layers: [0], learningRate: Number.NaN } })],
      /learning rate of NaN/,
    ],
    ['all layers', 'main', [{ parts: [sft([0])] } as unknown as TrialUpdate], /tried names no layers/],
    ['nothing to train on', 'main', [of([0], [])], /nothing to train on/],
    ['an unknown set', 'others', [of([0], [0])], /no parameter set others/],
    ['a set that is not trained', 'fixed', [of([0], [0])], /fixed has no optimiser/],
  ])('%s', async (_, set, updates, message) => {
    await told(
      async (tools) => {
        await tools.score('main', given);
        const before = tf.memory().numTensors;
        // The set's optimiser is placed where it has one.
        const placed = set === 'main' ? 2 : 0;
        const error = await tools.trial(set, updates, given).catch((caught) => caught);
        expect(`${error.message} ${JSON.stringify(error)}`).toMatch(message);
        expect(tf.memory().numTensors - before).toBe(placed);
      },
      { sets: { ...sets, fixed: { optimizer: null } } },
    );
  });
});
