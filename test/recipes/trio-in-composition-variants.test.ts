/** The variants of trio in composition: who writes the tasks, how deep they may be, and what the solver learns from. */
import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/play-written.ts';
import { shipped } from '../../recipes/index.ts';
import { climbed } from '../../recipes/trio-in-composition/ladder.ts';
import { depthOf, exactSolution } from '../../worlds/composition/family.ts';
import { NESTED } from '../../worlds/composition/functions.ts';
import { writeSolution } from '../../worlds/composition/text.ts';

const trioInComposition = shipped.find('trio-in-composition');

/** The tests' tokenizer has a token for each character, so that texts are longer here. */
const recipe = {
  ...trioInComposition,
  roles: Object.fromEntries(
    Object.entries(trioInComposition.roles).map(([name, role]) => [
      name,
      { ...role, sampling: { ...role.sampling, maxNew: 500 } },
    ]),
  ),
};

const TWO = 'f07 of f12 of bdca';
const FIVE = 'f07 of f12 of f01 of f09 of f04 of bdca';
const taskOf = (prompt: string) => /^<start>(?:What is|Check) (.*?)\? /.exec(prompt)![1]!;

interface Written {
  readonly able?: number;
  readonly always?: number;
  readonly passing?: number;
  readonly proposed?: string[];
  readonly recipeState?: unknown;
  readonly rewardFunction?: string;
}

/** A round of a variant in which tasks of up to `able` calls are solved by the first `passing` of four answers, those of up to `always` by all, and others by none. */
const play = (
  variant: string,
  { able = 4, always = 0, passing = 3, proposed = [FIVE, TWO], ...more }: Written = {},
) => {
  return playWritten(
    recipe,
    (prompt, i) => {
      if (prompt.includes('Write a task')) return `${proposed.shift() ?? 'f07 of'}<eos>`;
      if (prompt.includes('Check')) return '<right><eos>';
      const task = taskOf(prompt);
      return depthOf(task) <= always || (depthOf(task) <= able && i < passing)
        ? `${writeSolution(exactSolution(task))}<eos>`
        : 'Answer: hhhh<eos>';
    },
    { tasks: 8, groupSize: 4, index: 1, variant, ...more },
  );
};

const depths = ({ groups }: { groups: readonly { task: string }[] }) =>
  groups.map(({ task }) => depthOf(task));

test('a proposal of more than four calls is used by no variant, and earns what is no task: nothing', async () => {
  const { round, proposals, groups } = await play('to-four');
  expect(groups.map(({ task }) => task)).toEqual([TWO]);
  expect(proposals.samples.slice(0, 2).map(({ outcome }) => outcome)).toEqual(['too-long', 'ok']);
  const paid = recipe.payProposals!({ round, proposals, groups } as never, {} as never)!;
  // Solved three times in four: 4 · 3/4 · 1/4.
  expect([...paid.values()].slice(0, 2)).toEqual([0, 0.75]);
});

test('frontier pays 1 - p, a quarter for what is never solved, nothing for what always is or is no task', async () => {
  const { round, proposals, groups } = await play('frontier', {
    able: 2,
    always: 1,
    passing: 1,
    proposed: [FIVE, TWO, 'f04 of abce', 'f01 of f09 of f04 of bdca'],
  });
  const paid = recipe.payProposals!({ round, proposals, groups } as never, {} as never)!;
  const outcomes = proposals.samples.slice(0, 4).map(({ id, outcome }) => [outcome, paid.get(id)]);
  expect(outcomes).toEqual([
    ['too-long', 0],
    // One rollout of four solves two calls, all one call, none three.
    ['ok', 0.75],
    ['ok', 0],
    ['ok', 0.25],
  ]);
});

test('a mixture has every depth in equal parts, one call has one, and nobody proposes', async () => {
  const mixture = await play('mixture');
  expect(depths(mixture)).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
  expect(mixture.proposals.samples).toEqual([]);
  expect(mixture.plan.updates[0]!.parts.map(({ role }) => role)).toEqual(['solver']);
  for (const { task } of mixture.groups)
    for (const name of task.match(/f\d\d/g)!) expect(NESTED).toContain(name);
  expect(depths(await play('one-call'))).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
});

test('the rule goes one call deeper where 70 % of the answers to its deepest tasks are right, and no deeper than four', async () => {
  const first = await play('rule');
  expect(depths(first)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  expect(first.plan.recipeState).toEqual({ deepest: 2 });
  // Half of three calls, a quarter of two, and the rest of one and two in turn; none of three is solved.
  const third = await play('rule', { able: 2, recipeState: { deepest: 3 } });
  expect(depths(third)).toEqual([3, 3, 3, 3, 2, 2, 1, 2]);
  expect(third.plan.recipeState).toEqual({ deepest: 3 });
  expect((await play('rule', { recipeState: { deepest: 4 } })).plan.recipeState).toEqual({ deepest: 4 });
});

test('an answer of which nobody said whether it passed does not keep the rule down', () => {
  const rule = { settings: { variant: 'rule' } } as Parameters<typeof climbed>[0];
  const after = (passed: readonly (number | null)[]) => {
    const samples = passed.map((one) => ({ rewards: { passed: one } }));
    return climbed(rule, undefined, [{ task: 'f07 of bdca', samples }] as never);
  };
  expect(after([1, 1, null, null])).toEqual({ deepest: 2 });
  expect(after([1, 1, 0, 0])).toEqual({ deepest: 1 });
  expect(after([null, null])).toEqual({ deepest: 1 });
});

test('fine-tuning learns from right answers alone, on the questions of the mixture', async () => {
  const [tuned, mixture] = [await play('fine-tuning'), await play('mixture')];
  expect(tuned.groups.map(({ task }) => task)).toEqual(mixture.groups.map(({ task }) => task));
  const [part] = tuned.plan.updates[0]!.parts as PolicyPart[];
  expect(part!.objective.kind).toBe('reinforce');
  expect(part!.items.map(({ advantage }) => advantage)).toEqual(Array(24).fill(1));
  expect(part!.items.every(({ sample }) => sample.rewards.reward === 1)).toBe(true);
});

test('the judge is asked where a reward reads its verdicts, and otherwise in no variant', async () => {
  const judgments = async (rewardFunction: string) =>
    (await play('mixture', { rewardFunction })).groups.flatMap((group) => group.judgments).length;
  expect(await judgments('gold')).toBe(0);
  expect(await judgments('random')).toBe(0);
  // Four votes on each of four answers to each of eight tasks.
  expect(await judgments('judge')).toBe(128);
});
