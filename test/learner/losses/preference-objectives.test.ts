/** Preference and implicit-reward objectives against their formulas in float64, and the laws they share. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Random } from '../../../core/random.ts';
import { dpo } from '../../../learner/losses/dpo.ts';
import { implicitReward } from '../../../learner/losses/implicit-reward.ts';
import { ipo } from '../../../learner/losses/ipo.ts';
import { kto } from '../../../learner/losses/kto.ts';
import { logRatioRegression } from '../../../learner/losses/log-ratio.ts';
import { orpo } from '../../../learner/losses/orpo.ts';
import { simpo } from '../../../learner/losses/simpo.ts';
import { spin } from '../../../learner/losses/spin.ts';
import { sppo } from '../../../learner/losses/sppo.ts';
import { tReg } from '../../../learner/losses/t-reg.ts';
import { turnBradleyTerry } from '../../../learner/losses/turn-bradley-terry.ts';
import * as tf from '../../../learner/tfjs.ts';
import { type Batch, randomBatch, spoil } from './batch.ts';
import { backprop, expectClose, ofVector } from './finite-difference.ts';

await tf.setBackend('cpu');

/** Six responses; the pairs re-use one of them. `old` of the batch is the reference. */
const PAIRS = [
  { chosen: 0, rejected: 1, weight: 0.5, winRates: [0.9, 0.3] },
  { chosen: 2, rejected: 1, weight: 0.3, winRates: [0.6, 0.2] },
  { chosen: 4, rejected: 5, weight: 0.2, winRates: [0.7, 0.5] },
] as const;
/** Responses as turns of three trajectories, for the turn-level loss. */
const TRAJECTORY = [0, 0, 1, 1, 1, 2];
const TRAJECTORY_PAIRS = [
  { chosen: 0, rejected: 1, weight: 0.6 },
  { chosen: 2, rejected: 1, weight: 0.4 },
] as const;
const OFFSETS = [0.5, -0.2, 0];
const OUTCOMES = [1, 0, 1, 1, 0, 0.5];
const OUTCOME_WEIGHTS = [0.2, 0.2, 0.1, 0.1, 0.2, 0.2];

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const logRatios = (x: readonly number[], { old, mask, sequence, sequences }: Batch, level: 'sum' | 'mean') =>
  Array.from({ length: sequences }, (_, s) => {
    const mine = x.flatMap((value, t) => (sequence[t] === s && mask[t] !== 0 ? [value - old[t]!] : []));
    const sum = mine.reduce((a, b) => a + b, 0);
    return level === 'sum' || mine.length === 0 ? sum : sum / mine.length;
  });
/** Mean log-probability of each response; a response without tokens gets −1e-6, whose odds are finite. */
const meanLogProbs = (x: readonly number[], batch: Batch) =>
  logRatios(x, { ...batch, old: batch.old.map(() => 0) }, 'mean');
const overPairs = (f: (pair: (typeof PAIRS)[number]) => number): number =>
  PAIRS.reduce((sum, pair) => sum + pair.weight * f(pair), 0);

type Formula = (x: readonly number[], batch: Batch) => number;
const formulas: Record<string, Formula> = {
  DPO: (x, batch) => {
    const log = logRatios(x, batch, 'sum');
    return overPairs((p) => -Math.log(sigmoid(0.4 * (log[p.chosen]! - log[p.rejected]!))));
  },
  'DPO of means': (x, batch) => {
    const log = logRatios(x, batch, 'mean');
    return overPairs((p) => -Math.log(sigmoid(2 * (log[p.chosen]! - log[p.rejected]!))));
  },
  'DPO with offsets': (x, batch) => {
    const log = logRatios(x, batch, 'sum');
    return PAIRS.reduce(
      (sum, p, i) =>
        sum - p.weight * Math.log(sigmoid(0.4 * (log[p.chosen]! - log[p.rejected]!) - OFFSETS[i]!)),
      0,
    );
  },
  // No gradient flows through the weight of a pair: it is taken where the batch stands.
  'T-REG': (x, batch) => {
    const log = logRatios(x, batch, 'sum');
    const fixed = logRatios(batch.logprobs, batch, 'sum');
    const rewarded = (s: number) =>
      x.reduce(
        (sum, value, t) =>
          batch.sequence[t] === s && batch.mask[t] !== 0 ? sum + value * batch.advantages[t]! : sum,
        0,
      );
    return overPairs(
      (p) =>
        -Math.log(sigmoid(0.4 * (log[p.chosen]! - log[p.rejected]!))) -
        0.25 *
          sigmoid(0.4 * (fixed[p.rejected]! - fixed[p.chosen]!)) *
          0.4 *
          (rewarded(p.chosen) + rewarded(p.rejected)),
    );
  },
  SPIN: (x, batch) => {
    const log = logRatios(x, batch, 'sum');
    return overPairs((p) => -Math.log(sigmoid(0.1 * (log[p.chosen]! - log[p.rejected]!))));
  },
  IPO: (x, batch) => {
    const log = logRatios(x, batch, 'mean');
    return overPairs((p) => (log[p.chosen]! - log[p.rejected]! - 1 / (2 * 0.7)) ** 2);
  },
  SPPO: (x, batch) => {
    const log = logRatios(x, batch, 'sum');
    return overPairs(
      (p) =>
        0.5 *
        ((log[p.chosen]! - 10 * (p.winRates[0] - 0.5)) ** 2 +
          (log[p.rejected]! - 10 * (p.winRates[1] - 0.5)) ** 2),
    );
  },
  SimPO: (x, batch) => {
    const log = meanLogProbs(x, batch);
    return overPairs((p) => -Math.log(sigmoid(2 * (log[p.chosen]! - log[p.rejected]!) - 0.5)));
  },
  ORPO: (x, batch) => {
    const odds = meanLogProbs(x, batch).map((log) => {
      const p = Math.exp(Math.min(log, -1e-6));
      return Math.log(p / (1 - p));
    });
    return overPairs((p) => -0.3 * Math.log(sigmoid(odds[p.chosen]! - odds[p.rejected]!)));
  },
  KTO: (x, batch) => {
    const log = logRatios(x, batch, 'sum');
    return overPairs(
      (p) =>
        0.5 *
        (1.2 * (1 - sigmoid(0.4 * (log[p.chosen]! - 0.25))) +
          0.8 * (1 - sigmoid(0.4 * (0.25 - log[p.rejected]!)))),
    );
  },
  'turn-level Bradley–Terry': (x, batch) => {
    const turns = logRatios(x, batch, 'mean');
    const score = (trajectory: number): number =>
      turns.reduce((sum, a, turn) => sum + (TRAJECTORY[turn] === trajectory ? a : 0), 0);
    return TRAJECTORY_PAIRS.reduce(
      (sum, p) => sum - p.weight * Math.log(sigmoid(0.5 * (score(p.chosen) - score(p.rejected)))),
      0,
    );
  },
  'implicit reward': (x, batch) =>
    logRatios(x, batch, 'sum').reduce((sum, log, s) => {
      const p = sigmoid(0.3 * log);
      const y = OUTCOMES[s]!;
      return sum - OUTCOME_WEIGHTS[s]! * (y * Math.log(p) + (1 - y) * Math.log(1 - p));
    }, 0),
  'log-ratio regression': (x, batch) =>
    logRatios(x, { ...batch, old: batch.old.map(() => 0) }, 'sum').reduce(
      (sum, log, s) => sum + OUTCOME_WEIGHTS[s]! * (0.3 * (log + 4) - OUTCOMES[s]!) ** 2,
      0,
    ),
};

const indices = (values: readonly number[]): tf.Tensor1D => tf.tensor1d([...values], 'int32');
const pairsOf = (pairs: readonly { chosen: number; rejected: number; weight: number }[]) => ({
  chosen: indices(pairs.map((p) => p.chosen)),
  rejected: indices(pairs.map((p) => p.rejected)),
  pairWeights: tf.tensor1d(pairs.map((p) => p.weight)),
});

function lossOf(name: string, batch: Batch, logprobs: tf.Tensor1D): tf.Scalar {
  const responses = {
    logprobs,
    reference: tf.tensor1d([...batch.old]),
    mask: tf.tensor1d([...batch.mask]),
    sequences: { index: indices(batch.sequence), count: batch.sequences },
  };
  const pairs = pairsOf(PAIRS);
  switch (name) {
    case 'DPO':
      return dpo(responses, pairs, { beta: 0.4 }).loss;
    case 'DPO with offsets':
      return dpo(responses, { ...pairs, offsets: tf.tensor1d(OFFSETS) }, { beta: 0.4 }).loss;
    case 'T-REG': {
      const tokenRewards = tf.tensor1d([...batch.advantages]);
      return tReg({ ...responses, tokenRewards }, pairs, { beta: 0.4, alpha: 0.25 }).loss;
    }
    case 'DPO of means':
      return dpo(responses, pairs, { beta: 2, level: 'mean' }).loss;
    case 'SPIN':
      return spin(responses, pairs, { lambda: 0.1 }).loss;
    case 'IPO':
      return ipo(responses, pairs, { beta: 0.7 }).loss;
    case 'SPPO': {
      const winRates = {
        chosenWinRate: tf.tensor1d(PAIRS.map((p) => p.winRates[0])),
        rejectedWinRate: tf.tensor1d(PAIRS.map((p) => p.winRates[1])),
      };
      return sppo(responses, { ...pairs, ...winRates }, { beta: 0.1 }).loss;
    }
    case 'SimPO':
      return simpo(responses, pairs, { beta: 2, gamma: 0.5 }).loss;
    case 'ORPO':
      return orpo(responses, pairs, { lambda: 0.3 }).loss;
    case 'KTO':
      return kto(responses, pairs, { beta: 0.4, baseline: 0.25, desirable: 1.2, undesirable: 0.8 }).loss;
    case 'turn-level Bradley–Terry': {
      const trajectories = { index: indices(TRAJECTORY), count: 3 };
      return turnBradleyTerry(responses, trajectories, pairsOf(TRAJECTORY_PAIRS), { beta: 0.5 }).loss;
    }
    case 'log-ratio regression': {
      const targets = { targets: tf.tensor1d(OUTCOMES), sequenceWeights: tf.tensor1d(OUTCOME_WEIGHTS) };
      return logRatioRegression(responses, targets, { beta: 0.3, reference: -4 }).loss;
    }
    default: {
      const targets = {
        outcomes: tf.tensor1d(OUTCOMES),
        sequenceWeights: tf.tensor1d(OUTCOME_WEIGHTS),
      };
      return implicitReward(responses, targets, { beta: 0.3 }).loss;
    }
  }
}

const valueFor = (name: string, batch: Batch): number =>
  tf.tidy(() => lossOf(name, batch, tf.tensor1d([...batch.logprobs])).dataSync()[0]!);
const gradientOf = (name: string, batch: Batch): number[] =>
  backprop(
    ofVector((logprobs) => lossOf(name, batch, logprobs)),
    batch.logprobs,
  );
const seeds = fc.string({ minLength: 1, maxLength: 8 });
const check = (law: (seed: string) => void): void =>
  fc.assert(fc.property(seeds, law), { numRuns: 15, seed: 3 });

describe.for(Object.keys(formulas))('%s', (name) => {
  test('value and gradient are those of the formula', () => {
    check((seed) => {
      const batch = randomBatch(seed, 6);
      const formula = formulas[name]!;
      const step = 1e-5;
      const gradient = batch.logprobs.map((_, t) => {
        const at = (delta: number): number =>
          formula(
            batch.logprobs.map((x, i) => (i === t ? x + delta : x)),
            batch,
          );
        return (at(step) - at(-step)) / (2 * step);
      });
      expectClose([valueFor(name, batch)], [formula(batch.logprobs, batch)], 3e-6);
      expectClose(gradientOf(name, batch), gradient, 3e-5);
    });
  });

  test('tokens outside the response do not matter, not even a NaN', () => {
    check((seed) => {
      const batch = randomBatch(seed, 6);
      expect(valueFor(name, spoil(batch))).toBe(valueFor(name, batch));
      expect(gradientOf(name, spoil(batch))).toEqual(gradientOf(name, batch));
    });
  });

  test('the order of tokens does not matter', () => {
    const batch = randomBatch('order', 6);
    const order = new Random('order').shuffle(batch.sequence.map((_, t) => t));
    const take = (values: readonly number[]): number[] => order.map((t) => values[t]!);
    const { logprobs, old, advantages, mask, sequence } = batch;
    const shuffled = {
      ...batch,
      logprobs: take(logprobs),
      old: take(old),
      advantages: take(advantages),
      mask: take(mask),
      sequence: take(sequence),
    };
    expectClose([valueFor(name, shuffled)], [valueFor(name, batch)], 2e-6);
    expectClose(gradientOf(name, shuffled), take(gradientOf(name, batch)), 2e-6);
  });
});

test('the logistic losses stay finite at extreme margins', () => {
  const batch = {
    ...randomBatch('extreme', 6),
    old: randomBatch('extreme', 6).logprobs.map((_, t) => 400 * (-1) ** t),
  };
  for (const name of ['DPO', 'SPIN', 'implicit reward']) {
    expect(Number.isFinite(valueFor(name, batch))).toBe(true);
    expect(gradientOf(name, batch).every(Number.isFinite)).toBe(true);
  }
});

test('IPO of means does not depend on length, and DPO starts at ln 2', () => {
  const twoResponses = (length: number): Batch => {
    const sequence = [...new Array<number>(length).fill(0), ...new Array<number>(length).fill(1), 2, 3, 4, 5];
    const logprobs = sequence.map((s) => (s === 0 ? -0.5 : -1));
    const old = sequence.map(() => -1);
    const mask = sequence.map(() => 1);
    return { logprobs, old, mask, sequence, sequences: 6, advantages: mask, weights: mask };
  };
  expectClose([valueFor('IPO', twoResponses(2))], [valueFor('IPO', twoResponses(7))], 1e-6);
  const batch = twoResponses(3);
  expectClose([valueFor('DPO', { ...batch, old: batch.logprobs })], [Math.LN2], 1e-6);
});
