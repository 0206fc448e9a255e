/**
 * Products of gradients that a recipe asks for before it plans, against gradients that training leaves in the optimiser's file: AdamW's first running mean is (1 − β₁)·g. Products of those are
 * taken here, in float64, and once by moving the weights along a gradient.
 */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type {
  AlignmentHow,
  LearnTools,
  PolicyPart,
  SetSettings,
  SftPart,
  UpdatePart,
} from '../../core/plan/training-plan.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import * as tf from '../../learner/tfjs.ts';
import { readOptimizer } from '../../learner/train/optimizer-file.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import {
  sampleOf,
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
const start = version('alignment');
const given = sequences(4, 7, 3, 6);
const loose: SetSettings = { optimizer: { ...trained.optimizer!, betas: [B1, B2], clipNorm: 1e9 } };
const sets = { main: loose };

beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
});

const sft = (chosen: readonly number[], weight = 1): SftPart => ({
  kind: 'sft',
  role: 'solver',
  weight,
  items: chosen.map((i) => given[i]!),
});
const policy = (advantages: readonly number[]): PolicyPart => ({
  kind: 'policy',
  role: 'solver',
  weight: 1,
  items: given.map((sequence, i) => ({
    sample: sampleOf(
      sequence,
      sequence.ids.map(() => -2),
    ),
    advantage: advantages[i]!,
  })),
  objective: { kind: 'reinforce' },
  aggregation: { mode: 'token-mean' },
});

/** What `learn` is told. */
async function told<T>(
  ask: (tools: LearnTools) => Promise<T>,
  teaching: Partial<Teaching> = {},
): Promise<{ answer: T; files: VersionFiles }> {
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
const aligned = async (
  parts: readonly UpdatePart[],
  against: UpdatePart,
  how?: AlignmentHow,
  teaching?: Partial<Teaching>,
) => (await told((tools) => tools.alignment('main', parts, against, how), teaching)).answer;

/** Values by the name of their tensor, end to end. */
type Vector = ReadonlyMap<string, Float64Array>;
async function gradientOf(part: UpdatePart, teaching: Partial<Teaching> = {}): Promise<Vector> {
  const { files } = await teach(
    { updates: [{ set: 'main', parts: [part] }] },
    { sets, versions: [start], ...teaching },
  );
  return momentsOf(files, 'mean', 1 - B1);
}
const momentsOf = (files: VersionFiles, kind: 'mean' | 'square', divisor = 1): Vector =>
  new Map(
    [...readOptimizer(files['optimizer.safetensors']!).tensors].flatMap(([name, { data }]) =>
      name.startsWith(`${kind}.`)
        ? [[name.slice(kind.length + 1), Float64Array.from(data, (x) => x / divisor)] as const]
        : [],
    ),
  );
const dot = (a: Vector, b: Vector): number =>
  sum([...a].flatMap(([name, values]) => Array.from(values, (x, i) => x * (b.get(name)?.[i] ?? 0))));
const cosine = (a: Vector, b: Vector) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
const near = (wanted: readonly number[], digits = 4) =>
  wanted.map((value) =>
    expect.closeTo(value, digits - Math.round(Math.log10(Math.max(1e-3, Math.abs(value))))),
  );

const parts = [sft([0]), sft([1, 2]), policy([1, -0.5, 0.25, -1]), sft([3], 0.5)];
const against = sft([0, 3]);

test('dot products and cosines are those of the gradients that training takes', async () => {
  const [theirs, ...mine] = await Promise.all([against, ...parts].map((part) => gradientOf(part)));
  expect(await aligned(parts, against)).toEqual(near(mine.map((own) => dot(own, theirs!))));
  const cosines = await aligned(parts, against, { measure: 'cosine' });
  expect(cosines).toEqual(near(mine.map((own) => cosine(own, theirs!))));
  // They tell the parts apart: what is compared with is half of it, in one case.
  expect(cosines[0]).toBeGreaterThan(0.3);
  expect(Math.abs(cosines[1]!)).toBeLessThan(cosines[0]!);
});

test('a dot product is the slope of the part’s loss along the other gradient', async () => {
  const direction = await gradientOf(against);
  const step = 0.02 / Math.sqrt(dot(direction, direction));
  const moved = (by: number): VersionFiles => ({
    ...start,
    'model.safetensors': writeSafetensors(
      new Map(
        [...tensorsOf(start)].map(([name, { shape, data }]) => [
          name,
          { shape, data: data.map((x, i) => x + by * (direction.get(name)?.[i] ?? 0)) },
        ]),
      ),
    ),
  });
  /** The mean negative log-likelihood of the second and the third sequence. */
  const lossAt = (files: VersionFiles) => {
    const tokens = scoresOf(files, [given[1]!, given[2]!]).logprobs.flat();
    return -sum(tokens) / tokens.length;
  };
  const slope = (lossAt(moved(step)) - lossAt(moved(-step))) / (2 * step);
  const [product] = await aligned([sft([1, 2])], against);
  expect(product! / slope).toBeCloseTo(1, 2);
});

test('the same part points the same way, its negative the other way, and one without items or without a gradient nowhere', async () => {
  const nothing = [sft([]), policy([0, 0, 0, 0])];
  const cosines = await aligned([against, sft([0, 3], -2), ...nothing], against, { measure: 'cosine' });
  expect(cosines).toEqual([expect.closeTo(1, 6), expect.closeTo(-1, 6), 0, 0]);
  expect(await aligned(nothing, against)).toEqual([0, 0]);
});

describe('scaled as the next step of AdamW would scale it', () => {
  /** γ = g/(√((β₂ v + (1 − β₂) g²)/(1 − β₂^t)) + ε), at step t. */
  const scaledBy = (square: Vector | null, t: number, gradient: Vector): Vector =>
    new Map(
      [...gradient].map(([name, g]) => [
        name,
        g.map((x, i) => {
          const v = B2 * (square?.get(name)?.[i] ?? 0) + (1 - B2) * x * x;
          return x / (Math.sqrt(v / (1 - B2 ** t)) + EPS);
        }),
      ]),
    );

  test('before the first step, where it is hardly more than the sign', async () => {
    const [theirs, ...mine] = await Promise.all([against, ...parts].map((part) => gradientOf(part)));
    expect(await aligned(parts, against, { scaled: 'adam', measure: 'cosine' })).toEqual(
      near(mine.map((own) => cosine(scaledBy(null, 1, own), theirs!))),
    );
  });

  test('with the mean squares that the version has', async () => {
    const { files } = await teach(
      { updates: [{ set: 'main', parts: [sft([2, 3])] }] },
      { sets, versions: [start] },
    );
    const { 'optimizer.safetensors': _, ...fresh } = files;
    const [theirs, ...mine] = await Promise.all(
      [against, ...parts].map((part) => gradientOf(part, { versions: [start, fresh] })),
    );
    const square = momentsOf(files, 'square');
    const versions = [start, files];
    const wanted = mine.map((own) => scaledBy(square, 2, own));
    expect(await aligned(parts, against, { scaled: 'adam' }, { versions })).toEqual(
      near(wanted.map((own) => dot(own, theirs!))),
    );
    expect(await aligned(parts, against, { scaled: 'adam', measure: 'cosine' }, { versions })).toEqual(
      near(wanted.map((own) => cosine(own, theirs!))),
    );
  });
});

test('an adapter is all that is compared where an adapter is trained', async () => {
  const adapted = { main: { ...loose, adapter: { rank: 2, alpha: 4 } } };
  const { files } = await teach(
    { updates: [{ set: 'main', parts: [sft([1])] }] },
    { sets: adapted, versions: [start] },
  );
  const { 'optimizer.safetensors': _, ...fresh } = files;
  const teaching = { sets: adapted, versions: [start, fresh] };
  const [theirs, own] = await Promise.all([against, sft([1, 2])].map((part) => gradientOf(part, teaching)));
  expect([...own!.keys()].some((name) => name.includes('lora') || name.includes('q_proj'))).toBe(true);
  expect(await aligned([sft([1, 2])], against, {}, teaching)).toEqual(near([dot(own!, theirs!)]));
});

test('micro-batches do not change it beyond rounding', async () => {
  const whole = await aligned(parts, against, { measure: 'cosine' });
  const split = await aligned(parts, against, { measure: 'cosine' }, { tokenBudget: 10 });
  expect(split).toEqual(whole.map((value) => expect.closeTo(value, 5)));
});

test('asked again it comes to the same bits, of a version that was just trained or of one that was loaded, and changes nothing', async () => {
  const plan = { updates: [{ set: 'main', parts: [policy([1, -1, 0.5, 2])] }] };
  const trainer = new RoundTrainer();
  const first = await teach(plan, { sets, versions: [start], trainer });
  const versions = [start, first.files];
  const ask = (tools: LearnTools) =>
    tools.alignment('main', parts, against, { scaled: 'adam', measure: 'cosine' });
  const held = await told(ask, { versions, trainer });
  const loaded = await told(ask, { versions });
  expect(held.answer).toEqual(loaded.answer);
  expect(held.answer.every((value) => value !== 0)).toBe(true);
  for (const file of ['model.safetensors', 'optimizer.safetensors'] as const)
    expect(loaded.files[file]).toBe(first.files[file]);
  const plain = await teach(plan, { sets, versions });
  const after = await teach(async (_, tools) => (await ask(tools)) && plan, { sets, versions });
  for (const file of ['model.safetensors', 'optimizer.safetensors'] as const)
    expect(Buffer.from(after.files[file]!).equals(Buffer.from(plain.files[file]!)), file).toBe(true);
});

test('one gradient is kept, however many parts there are, and nothing is left behind', async () => {
  // Weights beside which activations are small.
  const wide = version('wide', { hidden_size: 96, intermediate_size: 256, num_hidden_layers: 3 });
  const peaks = await told(
    async (tools) => {
      const ask = (count: number) =>
        tools.alignment('main', Array<SftPart>(count).fill(sft([1])), against, { scaled: 'adam' });
      // The set and its optimiser are placed at the first request.
      await ask(1);
      const peak = async (count: number) => {
        const before = tf.memory();
        let most = 0;
        const engine = tf.engine();
        const kernels = vi.spyOn(engine, 'runKernel');
        const run = kernels.getMockImplementation() ?? Object.getPrototypeOf(engine).runKernel;
        kernels.mockImplementation((...call) => {
          most = Math.max(most, tf.memory().numBytes - before.numBytes);
          return run.apply(engine, call);
        });
        await ask(count);
        kernels.mockRestore();
        expect(tf.memory().numTensors).toBe(before.numTensors);
        return most;
      };
      return [await peak(2), await peak(12)];
    },
    { versions: [wide] },
  );
  const weights = sum([...tensorsOf(wide).values()].map(({ data }) => 4 * data.length));
  const [few, many] = peaks.answer as [number, number];
  expect(few).toBeGreaterThan(weights);
  // The gradient that is compared with, a part's, and that one scaled.
  expect(few).toBeLessThan(4 * weights);
  // Ten parts more keep two numbers each.
  expect(many - few).toBeLessThan(weights / 10);
});

test('hidden states are those that the tokens are predicted from', async () => {
  const { answer } = await told((tools) => tools.states('main', given));
  const wanted = scoresOf(start, given).states;
  for (const [s, own] of answer.entries())
    expect([...own]).toEqual(wanted[s]!.flat().map((x) => expect.closeTo(x, 5)));
});

describe('what cannot be compared is named', () => {
  test.each([
    ['an unknown set', 'others', against, /no parameter set others/],
    [
      'a set that is not trained',
      'fixed',
      against,
      /fixed has no optimiser, and its gradients are asked for/,
    ],
    ['nothing to compare with', 'main', sft([]), /part for solver has no items to compare with/],
    [
      'a gradient that is not finite',
      'main',
      policy([Number.NaN, 1, 1, 1]),
      /product of two gradients is NaN/,
    ],
  ])('%s', async (_, set, other, message) => {
    const asked = told((tools) => tools.alignment(set, parts, other), {
      sets: { ...sets, fixed: { optimizer: null } },
    });
    await expect(asked).rejects.toThrow(message);
  });

  test('an objective that cannot be loaded', async () => {
    const own: PolicyPart = { ...policy([1, 1, 1, 1]), objective: { kind: 'module', module: './loss.ts' } };
    await expect(aligned([own], against)).rejects.toThrow(/module of recipe r lies is not known/);
  });
});
