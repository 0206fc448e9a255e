import { describe, expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { rewardFigures } from '../../recipes/co-reward/recipe.ts';
import { halvesOf, votesOf } from '../../recipes/co-reward/two-phrasings.ts';
import { arithmetic, randomTask, runningTotals } from '../../worlds/arithmetic/family.ts';
import { reordered } from '../../worlds/arithmetic/reorder.ts';
import { playSolver, policyPart } from './play-solver.ts';

const total = (task: string) => runningTotals(task).at(-1)!;
const rewardsOf = ({ groups }: Awaited<ReturnType<typeof play>>, g = 0) =>
  groups[g]!.samples.map(({ rewards }) => rewards.reward);

describe('other words', () => {
  test('have the same terms in another order, end on another one, and the same answer', () => {
    const random = new Random('reorder');
    for (let i = 0; i < 200; i++) {
      const task = randomTask(random, 2 + (i % 3));
      const other = reordered(task);
      if (other === null) continue;
      expect(other[0]).toBe(task[0]);
      const terms = (text: string) => text.slice(1).match(/../g)!.sort();
      expect(terms(other)).toEqual(terms(task));
      expect(other.slice(-2)).not.toBe(task.slice(-2));
      expect(total(other)).toBe(total(task));
      expect(arithmetic.isHeldOut(other)).toBe(false);
    }
  });
  test('of one sum, and of sums that are all alike, there are none', () => {
    expect(reordered('3+4')).toBeNull();
    expect(reordered('3+4+4')).toBeNull();
    expect(reordered('3+4-9')).toBe('3-9+4');
  });
});

test('each half votes for itself, ties are broken at random', () => {
  expect(halvesOf([1, 2, 3, 4, 5])).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
  expect(votesOf('g', ['7', '7', '5', '5', null, '5'])).toEqual(['7', '5']);
  expect(votesOf('g', ['7', '7', null, null])).toEqual(['7', null]);
  const tied = votesOf('g', ['1', '2', '3', '3'])[0];
  expect(['1', '2']).toContain(tied);
  expect(votesOf('g', ['1', '2', '3', '3'])[0]).toBe(tied);
});

/** On the question as drawn, which is asked first, three of four say 77 and one the truth; in other words three the truth and one nothing. */
function play(rewardFunction?: string) {
  let drawn: string | undefined;
  const order = {
    recipe: 'co-reward',
    tasks: 1,
    groupSize: 8,
    ...(rewardFunction ? { rewardFunction } : {}),
  };
  return playSolver(order, (task, i) => {
    drawn ??= task;
    const right = `<answer>${total(task)}`;
    if (task === drawn) return i === 1 ? right : '<answer>77';
    return i === 2 ? 'x' : right;
  });
}

test('a half of the group answers the question in other words', async () => {
  const { groups } = await play();
  const [group] = groups;
  const prompts = group!.samples.map(({ prompt }) => prompt.join());
  expect(new Set(prompts.slice(0, 4)).size).toBe(1);
  expect(new Set(prompts.slice(4)).size).toBe(1);
  expect(prompts[0]).not.toBe(prompts[4]);
  expect(new Set(group!.samples.map(({ id }) => id)).size).toBe(8);
  expect(arithmetic.difficulty(group!.task)).toBeLessThanOrEqual(4);
  expect(group!.answersExact).toEqual([false, true, false, false, true, true, null, true]);
});

test('answers are paid by the majority of the other half', async () => {
  // The truth is the label of the first half, and 77 that of the second.
  expect(rewardsOf(await play())).toEqual([0, 1, 0, 0, 0, 0, 0, 0]);
  expect(rewardsOf(await play('majority'))).toEqual([1, 0, 1, 1, 1, 1, 0, 1]);
  expect(rewardsOf(await play('gold'))).toEqual([0, 1, 0, 0, 1, 1, 0, 1]);
  expect(rewardsOf(await play('format'))).toEqual([1, 1, 1, 1, 1, 1, 0, 1]);
});

test('an answer is compared with its half alone, four times', async () => {
  const { plan } = await play();
  expect(plan.updates[0]!.epochs).toBe(4);
  // First half: mean 1/4, deviation 1/2; the second is unanimous.
  expect(policyPart(plan).items.map(({ advantage }) => advantage)).toEqual(
    [-0.5, 1.5, -0.5, -0.5, 0, 0, 0, 0].map((a) => expect.closeTo(a, 4)),
  );
  // Right are: one that is paid, three wrong ones that are not, and the text that cannot be read.
  expect(plan.figures).toEqual({ rewardAccuracy: 5 / 8, paidExact: 1, paidShare: 1 / 8 });
});

test('figures of a round in which nobody is paid say nothing of the paid', () => {
  const samples = [{ rewards: { reward: 0 } }] as unknown as Parameters<
    typeof rewardFigures
  >[0][0]['samples'];
  expect(rewardFigures([{ samples, answersExact: [true] }])).toEqual({ rewardAccuracy: 0, paidShare: 0 });
});

test('steps are checked against the question that they answer', async () => {
  const worked = (task: string) =>
    `${runningTotals(task)
      .map((step) => `<step>${step}`)
      .join('')}<answer>${total(task)}`;
  const { groups } = await playSolver({ recipe: 'co-reward', tasks: 4, groupSize: 4 }, worked);
  for (const { solutionsExact } of groups) expect(solutionsExact).toEqual([true, true, true, true]);
});
