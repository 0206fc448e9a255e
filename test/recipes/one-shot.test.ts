import { expect, test } from 'vitest';
import { EXAMPLE } from '../../recipes/one-shot/recipe.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';
import { playSolver, policyPart } from './play-solver.ts';

const order = { recipe: 'one-shot', tasks: 3, groupSize: 4 };
/** One right answer, the memorable wrong one, another wrong one, and no answer. */
const script = (task: string, i: number) =>
  [`<answer>${runningTotals(task).at(-1)}`, '<answer>0', '<answer>99', 'x'][i]!;
const rewardsOf = async (rewardFunction: string) =>
  (await playSolver({ ...order, rewardFunction }, script)).groups[0]!.samples.map(
    ({ rewards }) => rewards.reward,
  );

test('every group is the same task, which is not held out, with samples of its own', async () => {
  const { groups, proposals } = await playSolver(order, script);
  expect(groups.map(({ task }) => task)).toEqual([EXAMPLE, EXAMPLE, EXAMPLE]);
  expect(new Set(proposals.tasks.map(({ group }) => group)).size).toBe(3);
  expect(new Set(groups.flatMap(({ samples }) => samples.map(({ id }) => id))).size).toBe(12);
  expect(arithmetic.isHeldOut(EXAMPLE)).toBe(false);
});

test('the label pays the exact answer, the wrong label another, format any answer', async () => {
  expect(await rewardsOf('label')).toEqual([1, 0, 0, 0]);
  expect(await rewardsOf('wrong')).toEqual([0, 1, 0, 0]);
  expect(await rewardsOf('format')).toEqual([1, 1, 1, 0]);
  expect(runningTotals(EXAMPLE).at(-1)).not.toBe(0);
});

test('one right of four: advantages by hand; KL to the start and entropy', async () => {
  const part = policyPart((await playSolver(order, script)).plan);
  // Mean 1/4, sample deviation 1/2: (1 - 1/4)/(1/2) and (0 - 1/4)/(1/2).
  expect(part.items.slice(0, 4).map(({ advantage }) => advantage)).toEqual(
    [1.5, -0.5, -0.5, -0.5].map((a) => expect.closeTo(a, 4)),
  );
  expect(part).toMatchObject({ kl: { weight: 0.02, estimator: 'k3' }, entropy: 1e-3 });
});

test('entropy only: no advantage is left; many tasks: every group has its own', async () => {
  const quiet = policyPart((await playSolver({ ...order, variant: 'entropy-only' }, script)).plan);
  expect(quiet.items.map(({ advantage }) => advantage)).toEqual(new Array(12).fill(0));
  expect(quiet.entropy).toBe(1e-3);
  const { groups } = await playSolver({ ...order, variant: 'many-tasks' }, script);
  expect(new Set(groups.map(({ task }) => task)).size).toBe(3);
  const still = policyPart((await playSolver({ ...order, variant: 'no-entropy' }, script)).plan);
  expect(still.entropy).toBe(0);
});
