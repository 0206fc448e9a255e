import { expect, test } from 'vitest';
import { labelFigures, testTasks } from '../../protocols/test-time.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';
import { nextTasks } from '../../worlds/drawn-tasks.ts';
import { playSolver, policyPart } from './play-solver.ts';

const order = { recipe: 'ttrl', tasks: 2, groupSize: 8 };
const total = (task: string) => runningTotals(task).at(-1)!;
/** Votes: three say one thing, two the truth, one something else, two nothing that can be read. */
const script = (task: string, i: number) =>
  [
    '<answer>77',
    `<answer>${total(task)}`,
    '<answer>55',
    'x',
    '<answer>77',
    'x',
    '<answer>77',
    `<answer>${total(task)}`,
  ][i]!;

test('the majority is paid, right or wrong, by all votes; the first half is trained on', async () => {
  const { groups, plan } = await playSolver(order, script);
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0, 0, 0, 1, 0, 1, 0]);
  const { items } = policyPart(plan);
  expect(items.map(({ sample }) => sample.id)).toEqual(
    groups.flatMap(({ samples }) => samples.slice(0, 4).map(({ id }) => id)),
  );
  expect(plan.updates[0]!.epochs).toBe(4);
  // Among the first four one is paid: mean 1/4, sample deviation 1/2.
  expect(items.slice(0, 4).map(({ advantage }) => advantage)).toEqual(
    [1.5, -0.5, -0.5, -0.5].map((a) => expect.closeTo(a, 4)),
  );
});

test('a wrong label still gives most votes the reward that gold would', async () => {
  const { plan } = await playSolver(order, script);
  // Paid and wrong: votes 0, 4, 6; right and unpaid: 1 and 7; the other three are rightly unpaid.
  expect(plan.figures).toEqual({ labelAccuracy: 0, rewardAccuracy: 3 / 8, majorityShare: 3 / 8 });
  const vote = (reward: number) => ({ rewards: { reward } });
  const groups = [
    { samples: [vote(1), vote(1), vote(0)], answersExact: [true, true, false] },
    { samples: [vote(1), vote(1), vote(0)], answersExact: [false, false, null] },
  ];
  expect(labelFigures(groups as unknown as Parameters<typeof labelFigures>[0])).toEqual({
    labelAccuracy: 1 / 2,
    rewardAccuracy: 4 / 6,
    majorityShare: 2 / 3,
  });
});

test('gold pays the truth', async () => {
  const { groups, plan } = await playSolver({ ...order, rewardFunction: 'gold' }, script);
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([0, 1, 0, 0, 0, 0, 0, 1]);
  expect(plan.figures).toMatchObject({ labelAccuracy: 1, rewardAccuracy: 1 });
});

test('a walk through the test set meets each task once before any comes again', async () => {
  const { round } = await playSolver({ ...order, tasks: 75 }, script);
  const rounds = Array.from({ length: 10 }, (_, i) => nextTasks({ ...round, index: i + 1 }, testTasks()));
  const [first, second] = [rounds.slice(0, 5).flat(), rounds.slice(5).flat()];
  // Of 500 held-out chains of 2, 3, 4 and 5 operators three quarters have two to four.
  expect(new Set(first).size).toBe(375);
  expect(new Set(second)).toEqual(new Set(first));
  expect(second).not.toEqual(first);
  for (const task of first) {
    expect(arithmetic.isHeldOut(task)).toBe(true);
    expect(task).toMatch(/^\d([+-]\d){2,4}$/);
  }
});
