/** trio where tasks have depths: what is paid and trained, and the ladder, worked out by hand. */
import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/play-written.ts';
import { shipped } from '../../recipes/index.ts';
import { depthOf, exactSolution } from '../../worlds/composition/family.ts';
import { writeSolution } from '../../worlds/composition/text.ts';
import { evaluateWritten } from './evaluate-written.ts';

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

const right = (task: string) => `${writeSolution(exactSolution(task))}<eos>`;
const WRONG = 'Answer: hhhh<eos>';
const taskOf = (prompt: string) => /^<start>(?:What is|Check) (.*?)\? /.exec(prompt)![1]!;

/** What the proposer writes in turn: a task of one call, one of two, one that gives its answer away, and what is no task. */
const PROPOSED = ['f04 of abce', 'f07 of f12 of bdca', 'f11 of f11 of bdca', 'f07 of'];

const play = async (rewardFunction?: string, proposed = PROPOSED) => {
  const left = [...proposed];
  return playWritten(
    recipe,
    (prompt, i) => {
      if (prompt.includes('Write a task')) return `${left.shift() ?? 'f07 of'}<eos>`;
      if (prompt.includes('Check')) return '<right><eos>';
      // The task of one call is always solved, the other one once in four times.
      return depthOf(taskOf(prompt)) === 1 || i === 0 ? right(taskOf(prompt)) : WRONG;
    },
    { tasks: 2, groupSize: 4, index: 1, ...(rewardFunction ? { rewardFunction } : {}) },
  );
};

const partsOf = (parts: readonly unknown[]) =>
  Object.fromEntries((parts as PolicyPart[]).map((part) => [part.role, part]));

test('a proposal earns 4p(1 - p), and one that is unusable nothing; there is no penalty anywhere', async () => {
  const { round, proposals, groups, plan } = await play();
  expect(groups.map(({ task }) => task)).toEqual(PROPOSED.slice(0, 2));
  const paid = recipe.payProposals!({ round, proposals, groups } as never, {} as never)!;
  // Solved always: 0. Solved once in four: 4 · 1/4 · 3/4.
  expect([...paid.values()].slice(0, 2)).toEqual([0, 0.75]);
  expect(proposals.samples.map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
  expect(plan.figures).toEqual({
    'written.1': 0.5,
    'written.2': 0.5,
    'written.3': 0,
    'written.4': 0,
    'written.5': 0,
  });
});

test('what is no task earns nothing', async () => {
  const { round, proposals, groups } = await play(undefined, ['f07 of f12 of bdca', 'f07 of']);
  const paid = recipe.payProposals!({ round, proposals, groups } as never, {} as never)!;
  const [task, ...others] = proposals.samples.map(({ id, outcome }) => [outcome, paid.get(id)]);
  expect(task).toEqual(['ok', 0.75]);
  expect(others.length).toBeGreaterThan(0);
  for (const other of others) expect(other).toEqual(['off-grammar', 0]);
});

test('a proposal earns less by the share of the others that nest the same functions, whatever their strings', async () => {
  const { round, proposals, groups } = await play(undefined, ['f07 of f12 of bdca', 'f07 of f12 of abce']);
  const paid = recipe.payProposals!({ round, proposals, groups } as never, {} as never)!;
  // Each is solved once in four, and all of the others, which is one, are like it.
  expect([...paid.values()].slice(0, 2)).toEqual([0.75 - 1, 0.75 - 1]);
});

test('the solver is paid by the checker and compared with its group; the proposer counts half and the judge is left as it is; nothing holds the policy back', async () => {
  const { groups, plan } = await play();
  expect(groups.map(({ samples }) => samples.map(({ rewards }) => rewards.reward))).toEqual([
    [1, 1, 1, 1],
    [1, 0, 0, 0],
  ]);
  const { proposer, solver, judge } = partsOf(plan.updates[0]!.parts);
  expect([proposer!.weight, solver!.weight, judge]).toEqual([0.5, 1, undefined]);
  for (const part of [proposer!, solver!]) expect(part.kl).toBeUndefined();
  const advantages = solver!.items.map(({ advantage }) => advantage as number);
  // A group without a difference teaches nothing. Of 1 0 0 0 the mean is 1/4 and the deviation 1/2 (of three degrees of freedom).
  expect(advantages.slice(0, 4)).toEqual([0, 0, 0, 0]);
  expect(advantages[4]).toBeCloseTo(1.5, 4);
  expect(advantages[5]).toBeCloseTo(-0.5, 4);
});

test('the checker’s word is the default, and a coin pays without a penalty, too', async () => {
  expect(Object.keys(recipe.rewards)[0]).toBe('gold');
  const { plan } = await play('random');
  expect(partsOf(plan.updates[0]!.parts).solver!.kl).toBeUndefined();
});

test('votes pay the solver and nobody sees gold; a judge whose verdict pays is trained on the majority', async () => {
  // Of one call all answers are right; of two one is, and three agree on a wrong one.
  const { groups, plan } = await play('majority');
  expect(groups.map(({ samples }) => samples.map(({ rewards }) => rewards.reward))).toEqual([
    [1, 1, 1, 1],
    [0, 1, 1, 1],
  ]);
  expect(partsOf(plan.updates[0]!.parts).judge).toBeUndefined();
  const judged = await play('self-consistency');
  const { judge } = partsOf(judged.plan.updates[0]!.parts);
  expect(judge!.weight).toBe(1);
  // It always says "right": paid where the answer is the majority's.
  const { judgments } = judged.groups[1]!;
  expect(judgments.map(({ rewards }) => rewards.agreement)).toEqual([
    ...Array(4).fill(0),
    ...Array(12).fill(1),
  ]);
});

test('a rung is what greedy answers solve with every step right, of each depth', async () => {
  const evaluated = await evaluateWritten(recipe, 12, (prompt) => {
    if (prompt.includes('Check')) return '<right><eos>';
    const task = taskOf(prompt);
    if (depthOf(task) <= 2) return right(task);
    // The right answer without its steps is right, and solves no rung.
    return depthOf(task) === 3 ? `Answer: ${exactSolution(task).answer}<eos>` : WRONG;
  });
  expect(evaluated.heldOut).toMatchObject({ n: 12, accuracy: 0.5, formatRate: 1, forcedWorked: null });
  expect(evaluated.figures).toEqual({
    'solved.1': 1,
    'solved.2': 1,
    'solved.3': 0,
    'solved.4': 0,
    'solved.5': 0,
    'solved.6': 0,
  });
});
