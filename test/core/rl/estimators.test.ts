/** Estimators on hand-worked numbers: each framework's column, missing rewards, groups of one, and what may not matter. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Random } from '../../../core/random.ts';
import { CONVENTIONS, type ConventionName } from '../../../core/rl/conventions.ts';
import {
  batchBaseline,
  classBalanced,
  decayedCounts,
  equalClassWeights,
  groupCentredBatchScaled,
  grpo,
  hierarchicalGrpo,
  inverseRootWeights,
  leaveOneOut,
  maxRl,
  meanCentred,
  raw,
  rloo,
  roleAdvantages,
  taskRelative,
  whitenBatch,
} from '../../../core/rl/estimators/index.ts';
import { balancedPick } from '../../../core/rl/selection/index.ts';
import type { Key, Maybe } from '../../../core/rl/types.ts';
import { expectClose } from '../../learner/losses/finite-difference.ts';

/** Compares lists in which null must stand exactly where it is expected. */
function expectMaybe(actual: readonly Maybe[], expected: readonly Maybe[], tolerance = 1e-6): void {
  expect(actual.map((value) => value === null)).toEqual(expected.map((value) => value === null));
  expectClose(
    actual.map((value) => value ?? 0),
    expected.map((value) => value ?? 0),
    tolerance,
  );
}

const columns: Record<ConventionName, { oneOfFour: number[]; alone: number; gae: 'through' | 'skip' }> = {
  verl: { oneOfFour: [1.499997, -0.499999, -0.499999, -0.499999], alone: 3, gae: 'skip' },
  trl: { oneOfFour: [1.49970006, -0.49990002, -0.49990002, -0.49990002], alone: 0, gae: 'through' },
  openrlhf: { oneOfFour: [1.499999997, -0.499999999, -0.499999999, -0.499999999], alone: 0, gae: 'through' },
  marti: { oneOfFour: [1.499999997, -0.499999999, -0.499999999, -0.499999999], alone: 0, gae: 'through' },
  art: { oneOfFour: [1.732046808, -0.577348936, -0.577348936, -0.577348936], alone: 0, gae: 'through' },
  atropos: {
    oneOfFour: [Math.sqrt(3), -1 / Math.sqrt(3), -1 / Math.sqrt(3), -1 / Math.sqrt(3)],
    alone: 0,
    gae: 'through',
  },
  drgrpo: { oneOfFour: [0.75, -0.25, -0.25, -0.25], alone: 0, gae: 'through' },
};

describe.for(Object.keys(columns) as ConventionName[])('the column of %s', (name) => {
  const { oneOfFour, alone, gae } = columns[name];
  const convention = CONVENTIONS[name];
  test('one success in four, a unanimous group, a group of one', () => {
    const groups = ['a', 'a', 'a', 'a', 'b', 'b', 'c'];
    const out = grpo([1, 0, 0, 0, 0.1, 0.1, 3], groups, convention);
    expectMaybe(out, [...oneOfFour, 0, 0, alone], name === 'verl' ? 2e-6 : 1e-8);
  });
  test('masked tokens in GAE', () => expect(convention.maskedGae).toBe(gae));
});

test('unanimous rewards that are no binary fractions give exact zeros, even without an epsilon', () => {
  const rewards = [0.1, 0.1, 0.1];
  for (const convention of Object.values(CONVENTIONS))
    for (const advantage of grpo(rewards, ['g', 'g', 'g'], convention))
      expect(Math.abs(advantage!)).toBeLessThan(1e-9);
});

test('clamps of KL are those of the framework', () => {
  expect(CONVENTIONS.verl.klClamp).toEqual({ input: 20, output: 10 });
  expect(CONVENTIONS.openrlhf.klClamp).toEqual({ input: null, output: 10 });
  expect(CONVENTIONS.trl.klClamp).toEqual({ input: null, output: null });
});

type Estimator = (rewards: Maybe[], groups: Key[]) => Maybe[];
const estimators: Record<string, Estimator> = {
  grpo: (r, g) => grpo(r, g),
  'mean-centred': meanCentred,
  rloo,
  'leave one out': (r, g) => leaveOneOut(r, g),
  'leave one out, scaled by group': (r, g) => leaveOneOut(r, g, { scale: 'group' }),
  'leave one out, scaled by batch': (r, g) => leaveOneOut(r, g, { scale: 'batch', leaveOneOut: false }),
  maxrl: (r, g) => maxRl(r, g),
  'group-centred': (r, g) => groupCentredBatchScaled(r, g),
  'task-relative': (r, g) => taskRelative(r, g),
  whitened: (r) => whitenBatch(r),
  'class-balanced': (r, g) => classBalanced(r, g),
  raw: (r) => raw(r),
};

describe.for(Object.keys(estimators))('%s', (name) => {
  const estimate = estimators[name]!;
  const items = fc.array(
    fc.record({
      reward: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 4 }),
      group: fc.constantFrom('a', 'b', 'c'),
    }),
    { maxLength: 12 },
  );
  const run = (list: readonly { reward: Maybe; group: string }[]): Maybe[] =>
    estimate(
      list.map(({ reward }) => reward),
      list.map(({ group }) => group),
    );

  test('a missing reward gets no advantage and changes nobody else’s', () => {
    fc.assert(
      fc.property(items, (list) => {
        const all = run(list);
        const without = run(list.filter(({ reward }) => reward !== null));
        expect(all.map((a) => a === null)).toEqual(list.map(({ reward }) => reward === null));
        expectMaybe(
          all.filter((a) => a !== null),
          without,
          1e-9,
        );
      }),
      { numRuns: 40, seed: 1 },
    );
  });

  test('the order of samples does not matter', () => {
    fc.assert(
      fc.property(items, (list) => expectMaybe(run([...list].reverse()).reverse(), run(list), 1e-7)),
      { numRuns: 40, seed: 2 },
    );
  });
});

test('a missing reward is not a zero: [1, null, 0] centres as [1, 0]', () => {
  expectMaybe(meanCentred([1, null, 0], [0, 0, 0]), [0.5, null, -0.5]);
  expectMaybe(rloo([1, null, 0], [0, 0, 0]), [1, null, -1]);
  expectMaybe(rloo([7, null], [0, 0]), [0, null]);
  expectMaybe(grpo([null, null], [0, 0]), [null, null]);
});

test('AReaL: leave-one-out means, biased against unbiased deviation', () => {
  expectMaybe(leaveOneOut([10, 20, 30], [0, 0, 0]), [-15, 0, 15]);
  const scaled = (ddof: 0 | 1) => leaveOneOut([10, 20, 30], [0, 0, 0], { scale: 'group', ddof, epsilon: 0 });
  expectMaybe(scaled(1), [-1.5, 0, 1.5]);
  expectMaybe([scaled(0)[2]! / scaled(1)[2]!], [Math.sqrt(1.5)]);
  // over the batch: mean of the own group, deviation of [0, 2, 4, 6], √(20/3)
  expectMaybe(
    leaveOneOut([0, 2, 4, 6], ['a', 'a', 'b', 'b'], { scale: 'batch', leaveOneOut: false, epsilon: 0 }),
    [-0.38729833, 0.38729833, -0.38729833, 0.38729833],
  );
});

test('centred by group and divided by the batch’s deviation, groups keep their relative size', () => {
  // centred: .5, -.5, 2, -2; their population deviation √2.125
  expectMaybe(groupCentredBatchScaled([1, 0, null, 4, 0], ['a', 'a', 'a', 'b', 'b'], 0), [
    0.34299717,
    -0.34299717,
    null,
    1.37198868,
    -1.37198868,
  ]);
  expectMaybe(groupCentredBatchScaled([1, 1], ['a', 'a']), [0, 0]);
});

test('task-relative statistics are kept apart by key', () => {
  expectMaybe(taskRelative([1, 3, 10, 30], ['x', 'x', 'y', 'y'], { epsilon: 0 }), [-1, 1, -1, 1]);
  expectMaybe(taskRelative([1, 3], ['x', 'x'], { ddof: 1, epsilon: 0 }), [-Math.SQRT1_2, Math.SQRT1_2]);
  expectMaybe(whitenBatch([1, 3, null], 0), [-1, 1, null]);
});

test('class balance: the rare class weighs as much as the frequent one', () => {
  // right: mean ½, weight 6/(2·2); wrong: mean ¼, weight 6/(2·4); deviation √(1.546875/6)
  const rewards = [1, 0, 1, 0, 0, 0, null];
  const classes = [true, true, false, false, false, false, true];
  const deviation = Math.sqrt(1.546875 / 6);
  expectMaybe(
    classBalanced(rewards, classes, 0),
    [0.75, -0.75, 0.5625, -0.1875, -0.1875, -0.1875, null].map((a) => (a === null ? null : a / deviation)),
  );
  // always saying "right" earns nothing
  expectMaybe(classBalanced([1, 1, 1, 0, 0], [true, true, true, false, false]), [0, 0, 0, 0, 0]);
});

test('class weights by inverse root of running counts have mean 1', () => {
  const counts = new Map<Key, number>([
    [true, 4],
    [false, 1],
  ]);
  expectClose(inverseRootWeights([true, true, false], counts), [0.75, 0.75, 1.5]);
  const first = decayedCounts(new Map(), [true, true, true, false]);
  expect([...first]).toEqual([
    [true, 3],
    [false, 1],
  ]);
  const second = decayedCounts(first, [true, true, true, true]);
  expectClose([second.get(true)!, second.get(false)!], [3.2, 0.8]);
});

test('classes that weigh the same in sum: n/(K·n_class)', () => {
  expectClose(equalClassWeights([1, 0, 0, 0]), [2, 2 / 3, 2 / 3, 2 / 3]);
  expectClose(equalClassWeights([0, 0]), [1, 1]);
});

describe('a balanced pick', () => {
  const truths = (right: number, wrong: number): boolean[] =>
    Array.from({ length: right + wrong }, (_, i) => i % 2 === 0).map((_, i) => i < right);
  const counted = (right: number, wrong: number, count: number): [number, number] => {
    const labels = truths(right, wrong);
    const picked = balancedPick(labels, count, new Random('pick'));
    return [picked.filter((i) => labels[i]).length, picked.filter((i) => !labels[i]).length];
  };
  test('takes half of each class while there are enough, then fills up', () => {
    expect(counted(10, 10, 8)).toEqual([4, 4]);
    expect(counted(10, 3, 8)).toEqual([5, 3]);
    expect(counted(2, 10, 8)).toEqual([2, 6]);
    expect(counted(2, 3, 8)).toEqual([2, 3]);
    expect(counted(4, 0, 3)).toEqual([3, 0]);
  });
  test('is drawn by its seed, ascending and without repeats', () => {
    const labels = truths(20, 20);
    const pick = (seed: string): number[] => balancedPick(labels, 10, new Random(seed));
    expect(pick('a')).toEqual(pick('a'));
    expect(pick('a')).not.toEqual(pick('b'));
    expect(pick('a')).toEqual([...new Set(pick('a'))].sort((x, y) => x - y));
  });
});

test('hierarchical GRPO compares solvers inside a proposal and proposers inside a seed', () => {
  const { proposer, solver } = hierarchicalGrpo([
    { seed: 's', reward: 1, solvers: [1, 1, 0] },
    { seed: 's', reward: 0, solvers: [5] },
    { seed: 't', reward: 9, solvers: [null, 2, 4] },
  ]);
  expectMaybe(proposer, [0.5, -0.5, 0]);
  expectMaybe(solver[0]!, [1 / 3, 1 / 3, -2 / 3]);
  expectMaybe(solver[1]!, [0]);
  expectMaybe(solver[2]!, [null, -1, 1]);
});

test('running baselines: one a key, missing rewards leave them alone', () => {
  const { advantages, baselines } = roleAdvantages([1, 2, null, 1], ['a', 'b', 'a', 'a'], { decay: 0.5 });
  expectMaybe(advantages, [1, 2, null, 0.5]);
  expectClose([baselines.get('a')!, baselines.get('b')!], [0.75, 1]);
  const batch = batchBaseline([1, null, 3], 1);
  expectMaybe(batch.advantages, [0, null, 2]);
  expectClose([batch.baseline], [1.1]);
  expect(batchBaseline([null], 1).baseline).toBe(1);
});

test('lists of different length are refused with both numbers', () => {
  expect(() => grpo([1, 2], ['a'])).toThrow(/2 values came with 1 group keys/);
});
