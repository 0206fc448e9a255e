import { expect, test } from 'vitest';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { ImplicitPrmPart, LearnTools, PolicyPart } from '../../core/plan/training-plan.ts';
import { areaUnderRoc } from '../../core/rl/measures/area-under-roc.ts';
import { answersWithAdvantages, prime } from '../../recipes/prime/recipe.ts';
import { expectRows, recordsOf, solved, tokenizer } from './records.ts';

test('AUC counts the pairs in order, ties as half', () => {
  // (3,1) (3,2) (2,1) in order, (2,2) tied: 3.5 of 4
  expect(areaUnderRoc([3, 1, 2, 2], [true, false, true, false])).toBeCloseTo(0.875);
  expect(areaUnderRoc([1, 2], [true, true])).toBe(0.5);
});

const right = { ...solved('', 1), ids: [1, 2] };
const wrong = { ...solved('', 0), ids: [3, 4] };

test('outcome and process credit, mixed and whitened over the tokens', () => {
  // q [1 0], [0 0]: the largest return is 1. Means .5 and 0, centre .25, twice what is left: [1.5 -.5], [-.5 -.5], to go [1 -.5],
  // [-1 -.5]. Outcomes ±1, and twice that. Sums [3 0], [-3 -2]: mean -.5, squares about it 12.25 .25 6.25 2.25, variance 7.
  const { groups } = recordsOf('prime', [{ samples: [right, wrong] }]);
  const flat = (q: readonly number[][]) =>
    answersWithAdvantages(groups, q).flatMap(({ advantage }) => advantage as number[]);
  const dense = flat([
    [1, 0],
    [0, 0],
  ]);
  expectRows([dense], [[1.322876, 0.188982, -0.944911, -0.566947]]);
  // Outcomes alone: 1 1 -1 -1, deviation 1.154701
  const alone = flat([
    [0, 0],
    [0, 0],
  ]);
  expectRows([alone], [[0.866025, 0.866025, -0.866025, -0.866025]]);
});

test('what process credit weighs is given', () => {
  // Five times what is left: sums [6 -1.5], [-6 -3.5], mean -1.25, squares about it 52.5625 .0625 22.5625 5.0625, variance 26.75.
  const { groups } = recordsOf('prime', [{ samples: [right, wrong] }]);
  const q = [
    [1, 0],
    [0, 0],
  ];
  const five = answersWithAdvantages(groups, q, { process: 5 }).flatMap(
    ({ advantage }) => advantage as number[],
  );
  expectRows([five], [[1.401768, -0.048337, -0.9184, -0.435031]]);
});

/** Chains of four operators whose last total is right or is not. */
const answer = (last: number) =>
  solved(`<step>3<step>4<step>3<step>${last}<answer>${last}<eos>`, Number(last === 2));
const answers = [answer(2), answer(5), answer(2), answer(2)];
const groups = [
  {
    group: 'a',
    task: '2+1+1-1-1',
    samples: answers.slice(0, 2),
    answersExact: [true, false],
    solutionsExact: [true, false],
  },
  {
    group: 'b',
    task: '2+1+1-1-1',
    samples: answers.slice(2),
    answersExact: [true, true],
    solutionsExact: [true, true],
  },
];
/** ψ finds every token a nat likelier than the start does where it is a 2, and as likely elsewhere. */
const two = tokenizer.encode('2')[0]!;
const tools = {
  encode: tokenizer.encode,
  decode: tokenizer.decode,
  score: (_set: string, sequences: readonly { ids: readonly number[] }[], version?: number) =>
    Promise.resolve(
      sequences.map(({ ids }) => Float32Array.from(ids, (id) => (version === 0 || id !== two ? -2 : -1))),
    ),
} as unknown as LearnTools;
const plan = (index: number, settings: { variant?: string } = {}) =>
  planTraining(prime, recordsOf('prime', groups, { index, ...settings }), tools);

test('the reward model learns from all answers, both kinds weighing the same, the policy from the band', async () => {
  const { updates, figures } = await plan(9);
  expect(updates.map(({ set }) => set)).toEqual(['prm', 'main']);
  const [outcome, policy] = updates.map(({ parts }) => parts[0]) as [ImplicitPrmPart, PolicyPart];
  expect(outcome.items.map((item) => item.outcome)).toEqual([1, 0, 1, 1]);
  // Four answers, two kinds: the three right ones weigh 4/(2·3) each, the wrong one 4/(2·1)
  expectRows([outcome.items.map((item) => item.weight!)], [[2 / 3, 2, 2 / 3, 2 / 3]]);
  expect(outcome.reference).toEqual({ set: 'prm', version: 0 });
  expect(policy.items.map(({ sample }) => sample.id)).toEqual(answers.slice(0, 2).map(({ id }) => id));
  // Σ q is 2 for each right answer and 0 for the wrong one. Right steps have 0 0 0 1, those of the wrong one 0 0 0 and 0, which is wrong:
  // of its 15 pairs with right steps 3 are in order and 12 tied.
  expect(figures).toMatchObject({ kept: 1, solved: 0.75, auc: 1, groupAuc: 1, stepAuc: 0.6 });
});

test('the policy’s batch is eight tasks of the band, the round’s first, and the reward model’s all answers', async () => {
  const task = (i: number) => ({
    group: `g${i}`,
    task: '2+1+1-1-1',
    // The third is always solved: no part of the band.
    samples: [answer(2), answer(i === 2 ? 2 : 5)].map((sample, k) => ({ ...sample, id: `g${i}-${k}` })),
    answersExact: [true, i === 2],
    solutionsExact: [true, i === 2],
  });
  const records = recordsOf(
    'prime',
    Array.from({ length: 11 }, (_, i) => task(i)),
    { index: 9 },
  );
  const { updates, figures } = await planTraining(prime, records, tools);
  const [outcome, policy] = updates.map(({ parts }) => parts[0]) as [ImplicitPrmPart, PolicyPart];
  expect(outcome.items).toHaveLength(22);
  expect(figures).toMatchObject({ kept: 10 });
  const groups = policy.items.map(({ sample }) => sample.id.split('-')[0]);
  expect([...new Set(groups)]).toEqual(['g0', 'g1', 'g3', 'g4', 'g5', 'g6', 'g7', 'g8']);
  expect(groups).toHaveLength(16);
});

test('nothing to tell apart: the reward model rests', async () => {
  const { updates } = await planTraining(prime, recordsOf('prime', groups.slice(1), { index: 1 }), tools);
  expect(updates).toEqual([]);
});

test('the reward model learns alone first; frozen only then, and never where outcomes alone pay', async () => {
  const sets = async (index: number, variant?: string) =>
    (await plan(index, variant === undefined ? {} : { variant })).updates.map(({ set }) => set);
  expect(await sets(8)).toEqual(['prm']);
  expect(await sets(9)).toEqual(['prm', 'main']);
  expect(await sets(8, 'frozen')).toEqual(['prm']);
  expect(await sets(9, 'frozen')).toEqual(['main']);
  expect(await sets(8, 'outcome')).toEqual([]);
  expect(await sets(9, 'outcome')).toEqual(['main']);
});
