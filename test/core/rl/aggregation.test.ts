/** Aggregation weights against a direct reading of each mode on nested lists. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Aggregation,
  aggregationWeights,
  sequenceIndex,
  weightedSum,
} from '../../../core/rl/aggregation.ts';
import { expectClose } from '../../learner/losses/finite-difference.ts';

interface Token {
  readonly loss: number;
  readonly mask: number;
}
type Step = readonly (readonly Token[])[];

const total = (tokens: readonly Token[]): number =>
  tokens.reduce((sum, { loss, mask }) => sum + mask * loss, 0);
const count = (tokens: readonly Token[]): number => tokens.reduce((sum, { mask }) => sum + mask, 0);
const average = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;
const counted = (step: Step): Step => step.filter((tokens) => count(tokens) > 0);

const GROUPS = [0, 1, 0, 1, 2];
const modes: Record<string, { aggregation: Aggregation; direct: (step: Step) => number }> = {
  'token-sum': { aggregation: { mode: 'token-sum' }, direct: (step) => total(step.flat()) },
  'token-mean': {
    aggregation: { mode: 'token-mean' },
    direct: (step) => (count(step.flat()) === 0 ? 0 : total(step.flat()) / count(step.flat())),
  },
  'seq-mean-token-mean': {
    aggregation: { mode: 'seq-mean-token-mean' },
    direct: (step) => average(counted(step).map((tokens) => total(tokens) / count(tokens))),
  },
  'seq-mean-token-sum': {
    aggregation: { mode: 'seq-mean-token-sum' },
    direct: (step) => average(counted(step).map(total)),
  },
  'seq-sum-constant': {
    aggregation: { mode: 'seq-sum-constant', length: 8, sequences: 5 },
    direct: (step) => total(step.flat()) / (5 * 8),
  },
  'prompt-mean': {
    aggregation: { mode: 'prompt-mean', groups: GROUPS },
    direct: (step) => {
      const prompts = [0, 1, 2].map((group) => step.filter((_, s) => GROUPS[s] === group).flat());
      return average(counted(prompts).map((tokens) => total(tokens) / count(tokens)));
    },
  },
};

const steps = fc.array(
  fc.array(
    fc.record({ loss: fc.double({ min: -3, max: 3, noNaN: true }), mask: fc.constantFrom(0, 1, 1, 0.5) }),
    {
      minLength: 1,
      maxLength: 5,
    },
  ),
  { minLength: 5, maxLength: 5 },
);
const pack = (step: Step) => ({
  losses: step.flat().map(({ loss }) => loss),
  mask: step.flat().map(({ mask }) => mask),
  sequence: step.flatMap((tokens, s) => tokens.map(() => s)),
});

describe.for(Object.keys(modes))('%s', (name) => {
  const { aggregation, direct } = modes[name]!;

  test('is the direct reading of its definition', () => {
    fc.assert(
      fc.property(steps, (step) => {
        const { losses, ...layout } = pack(step);
        expectClose([weightedSum(losses, aggregationWeights(aggregation, layout))], [direct(step)], 1e-12);
      }),
      { numRuns: 60, seed: 11 },
    );
  });

  test('what stands at a masked place does not matter', () => {
    fc.assert(
      fc.property(steps, (step) => {
        const { losses, ...layout } = pack(step);
        const weights = aggregationWeights(aggregation, layout);
        const spoilt = losses.map((loss, t) => (layout.mask[t] === 0 ? Number.NaN : loss));
        expect(weightedSum(spoilt, weights)).toBe(weightedSum(losses, weights));
      }),
      { numRuns: 20, seed: 12 },
    );
  });

  test('everything masked gives zero', () => {
    const weights = aggregationWeights(aggregation, { mask: [0, 0], sequence: [0, 1] });
    expect(weightedSum([1, 2], weights)).toBe(0);
  });
});

test('without a given count, seq-sum-constant divides by the sequences that are there, fully masked ones too', () => {
  const weights = aggregationWeights(
    { mode: 'seq-sum-constant', length: 4 },
    { mask: [1, 1, 0], sequence: [0, 0, 1] },
  );
  expect(weights).toEqual([1 / 8, 1 / 8, 0]);
});

test('a sequence without a group is refused', () => {
  expect(() =>
    aggregationWeights({ mode: 'prompt-mean', groups: [0] }, { mask: [1, 1], sequence: [0, 1] }),
  ).toThrow(/sequence 1 has no group/);
});

test('offsets become sequence indices', () => {
  expect(sequenceIndex([0, 2, 2, 5])).toEqual([0, 0, 2, 2, 2]);
});
