/** KL, entropy, likelihood, value, class-head and distillation losses against their formulas in float64. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Random } from '../../../core/random.ts';
import { CONVENTIONS } from '../../../core/rl/conventions.ts';
import { klTokens } from '../../../core/rl/corrections/index.ts';
import { classHead } from '../../../learner/losses/class-head.ts';
import { decoupledPpo } from '../../../learner/losses/decoupled-ppo.ts';
import { distillation } from '../../../learner/losses/distillation.ts';
import { entropyBand, entropyBonus } from '../../../learner/losses/entropy.ts';
import { klToReference } from '../../../learner/losses/kl.ts';
import { nll } from '../../../learner/losses/nll.ts';
import { policyObjective } from '../../../learner/losses/policy-objective.ts';
import { ppoClip } from '../../../learner/losses/ppo-clip.ts';
import { valueLoss } from '../../../learner/losses/value.ts';
import * as tf from '../../../learner/tfjs.ts';
import { randomBatch, spoil, tensorsOf } from './batch.ts';
import { backprop, differences, expectClose, ofVector, type ScalarFunction } from './finite-difference.ts';

await tf.setBackend('cpu');

const VOCABULARY = 4;
const seeds = fc.string({ minLength: 1, maxLength: 8 });
const check = (law: (seed: string) => void): void =>
  fc.assert(fc.property(seeds, law), { numRuns: 12, seed: 5 });
const normals = (seed: string, count: number): number[] => {
  const random = new Random(`normals ${seed}`);
  return Array.from({ length: count }, () => random.normal());
};
const logSoftmax = (row: readonly number[]): number[] => {
  const most = Math.max(...row);
  const total = Math.log(row.reduce((sum, x) => sum + Math.exp(x - most), 0)) + most;
  return row.map((x) => x - total);
};
const rowsOf = (flat: readonly number[]): number[][] =>
  Array.from({ length: flat.length / VOCABULARY }, (_, t) =>
    flat.slice(t * VOCABULARY, (t + 1) * VOCABULARY),
  );

interface Head {
  /** Loss of x [n · width] with the weights, as tensors. */
  readonly loss: (x: tf.Tensor1D, weights: tf.Tensor1D, seed: string) => tf.Scalar;
  /** Loss at each place. */
  readonly formula: (x: readonly number[], seed: string, mask: readonly number[]) => number[];
  readonly width: number;
}

const N = 7;
const others = (seed: string): number[] => normals(`other ${seed}`, N);
const labels = (seed: string): number[] =>
  normals(seed, N).map((x) => (x > 0.5 ? 3 : x > 0 ? 2 : x > -0.5 ? 1 : 0));
const teacherOf = (seed: string): number[][] =>
  rowsOf(normals(`teacher ${seed}`, N * VOCABULARY)).map(logSoftmax);
const kl = (from: readonly number[], to: readonly number[]): number =>
  from.reduce((sum, log, i) => sum + Math.exp(log) * (log - to[i]!), 0);
const jensenShannon = (teacher: readonly number[], student: readonly number[], beta: number): number => {
  const mixture = teacher.map((log, i) =>
    Math.log(beta * Math.exp(log) + (1 - beta) * Math.exp(student[i]!)),
  );
  return beta * kl(teacher, mixture) + (1 - beta) * kl(student, mixture);
};
/** Makes one outcome of all tokens but the k likeliest ones by `row`. */
const coarseBy =
  (row: readonly number[], k: number) =>
  (logprobs: readonly number[]): number[] => {
    const kept = row.map((_, i) => row.filter((other) => other > row[i]!).length < k);
    const rest = logprobs.reduce((total, log, i) => (kept[i] ? total : total + Math.exp(log)), 0);
    return [...logprobs.filter((_, i) => kept[i]), Math.log(rest)];
  };
const clampTo = (x: number, c: number): number => Math.max(-c, Math.min(c, x));
const matrix = (x: tf.Tensor1D): tf.Tensor2D => tf.reshape(x, [N, VOCABULARY]);

const heads: Record<string, Head> = {
  'negative log-likelihood': {
    width: 1,
    loss: (logprobs, weights) => nll({ logprobs, weights }).loss,
    formula: (x) => x.map((value) => -value),
  },
  'entropy bonus': {
    width: 1,
    loss: (entropy, weights) => entropyBonus({ entropy, weights }).loss,
    formula: (x) => x.map((value) => -value),
  },
  'entropy band': {
    width: 1,
    loss: (entropy, weights) =>
      entropyBand({ entropy, weights, low: tf.fill([N], -0.3), high: tf.fill([N], 0.4) }).loss,
    formula: (x) => x.map((value) => value - clampTo(value - 0.05, 0.35) - 0.05).map(Math.abs),
  },
  'value loss': {
    width: 1,
    loss: (values, weights, seed) => valueLoss({ values, weights, targets: tf.tensor1d(others(seed)) }).loss,
    formula: (x, seed) => x.map((value, t) => 0.5 * (value - others(seed)[t]!) ** 2),
  },
  'expectile value loss': {
    width: 1,
    loss: (values, weights, seed) =>
      valueLoss({ values, weights, targets: tf.tensor1d(others(seed)) }, { expectile: 0.8 }).loss,
    formula: (x, seed) =>
      x.map((value, t) => {
        const error = others(seed)[t]! - value;
        return (error < 0 ? 0.2 : 0.8) * error ** 2;
      }),
  },
  'clipped value loss': {
    width: 1,
    loss: (values, weights, seed) => {
      const oldValues = tf.tensor1d(normals(`old ${seed}`, N));
      return valueLoss({ values, weights, oldValues, targets: tf.tensor1d(others(seed)) }, { clip: 0.4 })
        .loss;
    },
    formula: (x, seed) =>
      x.map((value, t) => {
        const old = normals(`old ${seed}`, N)[t]!;
        const target = others(seed)[t]!;
        const near = old + clampTo(value - old, 0.4);
        return 0.5 * Math.max((value - target) ** 2, (near - target) ** 2);
      }),
  },
  'class head': {
    width: VOCABULARY,
    loss: (x, weights, seed) =>
      classHead({ logits: matrix(x), weights, labels: tf.tensor1d(labels(seed), 'int32') }).loss,
    formula: (x, seed) => rowsOf(x).map((row, t) => -logSoftmax(row)[labels(seed)[t]!]!),
  },
  'forward distillation': {
    width: VOCABULARY,
    loss: (x, weights, seed) =>
      distillation(
        { logits: matrix(x), teacher: tf.tensor2d(teacherOf(seed)), weights },
        { divergence: { kind: 'forward-kl' } },
      ).loss,
    formula: (x, seed) => rowsOf(x).map((row, t) => kl(teacherOf(seed)[t]!, logSoftmax(row))),
  },
  'reverse distillation': {
    width: VOCABULARY,
    loss: (x, weights, seed) =>
      distillation(
        { logits: matrix(x), teacher: tf.tensor2d(teacherOf(seed)), weights },
        { divergence: { kind: 'reverse-kl' } },
      ).loss,
    formula: (x, seed) => rowsOf(x).map((row, t) => kl(logSoftmax(row), teacherOf(seed)[t]!)),
  },
  ...Object.fromEntries(
    ([0.1, 0.5] as const).map((beta): [string, Head] => [
      `Jensen-Shannon distillation, beta ${beta}`,
      {
        width: VOCABULARY,
        loss: (x, weights, seed) =>
          distillation(
            { logits: matrix(x), teacher: tf.tensor2d(teacherOf(seed)), weights },
            { divergence: { kind: 'jensen-shannon', beta } },
          ).loss,
        formula: (x, seed) =>
          rowsOf(x).map((row, t) => jensenShannon(teacherOf(seed)[t]!, logSoftmax(row), beta)),
      },
    ]),
  ),
  'reverse distillation by the certainty of the teacher': {
    width: VOCABULARY,
    loss: (x, weights, seed) =>
      distillation(
        { logits: matrix(x), teacher: tf.tensor2d(teacherOf(seed)), weights },
        { divergence: { kind: 'reverse-kl' }, entropyBeta: 1.5 },
      ).loss,
    formula: (x, seed) =>
      rowsOf(x).map((row, t) => {
        const teacher = teacherOf(seed)[t]!;
        const entropy = teacher.reduce((sum, log) => sum - Math.exp(log) * log, 0);
        return Math.exp(-1.5 * entropy) * kl(logSoftmax(row), teacher);
      }),
  },
  ...Object.fromEntries(
    (['teacher', 'student'] as const).map((of): [string, Head] => [
      `reverse distillation over the two likeliest tokens of the ${of}`,
      {
        width: VOCABULARY,
        loss: (x, weights, seed) =>
          distillation(
            { logits: matrix(x), teacher: tf.tensor2d(teacherOf(seed)), weights },
            { divergence: { kind: 'reverse-kl' }, top: { k: 2, of } },
          ).loss,
        formula: (x, seed) =>
          rowsOf(x).map((row, t) => {
            const [teacher, student] = [teacherOf(seed)[t]!, logSoftmax(row)];
            const coarse = coarseBy(of === 'teacher' ? teacher : student, 2);
            return kl(coarse(student), coarse(teacher));
          }),
      },
    ]),
  ),
  ...Object.fromEntries(
    (['k1', 'k2', 'k3', 'abs'] as const).map((estimator): [string, Head] => [
      `KL ${estimator}`,
      {
        width: 1,
        loss: (logprobs, weights, seed) =>
          klToReference({ logprobs, weights, reference: tf.tensor1d(others(seed)) }, { estimator }).loss,
        formula: (x, seed, mask) => klTokens(estimator, x, others(seed), mask),
      },
    ]),
  ),
};

const WEIGHTS = [0.3, 0, 0.1, 0.25, 0, 0.15, 0.2];
const MASK = WEIGHTS.map((w) => Number(w !== 0));

describe.for(Object.keys(heads))('%s', (name) => {
  const { loss, formula, width } = heads[name]!;
  const asScalar = (seed: string): ScalarFunction => ofVector((x) => loss(x, tf.tensor1d(WEIGHTS), seed));
  const spoilt = (x: readonly number[]): number[] =>
    x.map((value, i) =>
      WEIGHTS[Math.floor(i / width)] === 0 ? [Number.NaN, 1e4, Number.NEGATIVE_INFINITY][i % 3]! : value,
    );

  test('value and gradient are those of the formula', () => {
    check((seed) => {
      const x = normals(seed, N * width);
      const total = (at: readonly number[]): number =>
        formula(at, seed, MASK).reduce((sum, value, t) => sum + value * WEIGHTS[t]!, 0);
      const gradient = x.map((_, i) => {
        const moved = (delta: number): number =>
          total(x.map((value, j) => (i === j ? value + delta : value)));
        return (moved(1e-5) - moved(-1e-5)) / 2e-5;
      });
      expectClose(
        tf.tidy(() => asScalar(seed)(tf.tensor1d(x)).dataSync()),
        [total(x)],
        3e-6,
      );
      expectClose(backprop(asScalar(seed), x), gradient, 3e-5);
    });
  });

  test('what stands at a masked place does not matter, not even a NaN', () => {
    check((seed) => {
      const x = normals(seed, N * width);
      const value = (at: number[]) => tf.tidy(() => asScalar(seed)(tf.tensor1d(at)).dataSync()[0]);
      expect(value(spoilt(x))).toBe(value(x));
      expect(backprop(asScalar(seed), spoilt(x))).toEqual(backprop(asScalar(seed), x));
    });
  });
});

test('clamped KL on tensors is the clamped KL on plain arrays, for every preset', () => {
  const x = [-0.1, -30, -2, -1e-3, -25];
  const reference = [-0.2, -1, -14, -1e-3, -60];
  const mask = [1, 1, 1, 0.5, 1];
  for (const { klClamp } of Object.values(CONVENTIONS))
    for (const estimator of ['k1', 'k2', 'k3', 'abs'] as const) {
      const tensors = {
        logprobs: tf.tensor1d(x),
        reference: tf.tensor1d(reference),
        weights: tf.tensor1d(mask),
      };
      // the tensors' k3 is always bounded by 20 nats; say so to the plain version too
      const bounds = { input: klClamp.input ?? 20, output: klClamp.output };
      const { perToken } = klToReference(tensors, { estimator, clamp: bounds });
      const weighted = Array.from(perToken.dataSync(), (value, t) => value * mask[t]!);
      expectClose(weighted, klTokens(estimator, x, reference, mask, bounds), 1e-5);
    }
});

test('with k2’s gradient an estimator keeps its value and pushes by Δ', () => {
  const reference = () => tf.tensor1d([-1, -1]);
  const f = (k2Gradient: boolean) =>
    ofVector(
      (logprobs) =>
        klToReference(
          { logprobs, reference: reference(), weights: tf.tensor1d([1, 1]) },
          { estimator: 'k3', k2Gradient },
        ).loss,
    );
  const x = [-0.5, -1.4];
  expectClose(f(true)(tf.tensor1d(x)).dataSync(), f(false)(tf.tensor1d(x)).dataSync(), 1e-6);
  expectClose(backprop(f(true), x), [0.5, -0.4], 1e-6);
  expectClose(backprop(f(false), x), [1 - Math.exp(-0.5), 1 - Math.exp(0.4)], 1e-6);
});

test('decoupled PPO is PPO against the proximal policy, times the capped proximal/behaviour ratio', () => {
  const batch = randomBatch('decoupled');
  const behaviour = batch.old.map((logprob, t) => logprob - 0.4 + 0.2 * (t % 4));
  const clip = { clipLow: 0.2, clipHigh: 0.28 };
  const capped = batch.old.map((logprob, t) => Math.min(1.2, Math.exp(logprob - behaviour[t]!)));
  const decoupled = ofVector(
    (x) =>
      decoupledPpo({ ...tensorsOf(batch, x), behaviour: tf.tensor1d(behaviour) }, { ...clip, cap: 1.2 }).loss,
  );
  const plain = ofVector((x) => {
    const tensors = tensorsOf(batch, x);
    return ppoClip({ ...tensors, weights: tf.mul(tensors.weights, tf.tensor1d(capped)) }, clip).loss;
  });
  expectClose(backprop(decoupled, batch.logprobs), backprop(plain, batch.logprobs), 1e-6);
  const junk = {
    ...tensorsOf(spoil(batch)),
    behaviour: tf.tensor1d(spoil({ ...batch, old: behaviour }).old as number[]),
  };
  expectClose(
    decoupledPpo(junk, { ...clip, cap: 1.2 }).loss.dataSync(),
    decoupled(tf.tensor1d([...batch.logprobs])).dataSync(),
    1e-7,
  );
  const spec = { kind: 'decoupled-ppo', ...clip, cap: 1.2 } as const;
  expect(() => policyObjective(tensorsOf(batch), spec)).toThrow(/without the sampler’s log-probabilities/);
  expectClose(policyObjective(junk, spec).loss.dataSync(), decoupledPpo(junk, spec).loss.dataSync(), 0);
});

test('a teacher that excludes tokens gives finite distillation losses', () => {
  const teacher = [[0, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]];
  for (const kind of ['forward-kl', 'reverse-kl'] as const) {
    const f = ofVector(
      (x) =>
        distillation(
          { logits: tf.reshape(x, [1, 4]), teacher: tf.tensor2d(teacher), weights: tf.tensor1d([1]) },
          { divergence: { kind } },
        ).loss,
    );
    expectClose(backprop(f, [0.1, 0.2, 0.3, 0.4]), differences(f, [0.1, 0.2, 0.3, 0.4]), 2e-2);
  }
});
