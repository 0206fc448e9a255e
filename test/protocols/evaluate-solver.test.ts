/** The evaluation of a solver over tasks of its own choice: counted and checked as those tasks, not as the family's first ones. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openEvaluationContext } from '../../core/recipe/round-context.ts';
import { roundOf } from '../../core/schema/round.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { scriptedPolicy, textTokenizer } from './scripted-policy.ts';

const settings = {
  recipe: 'x',
  seed: 0,
  policy: 'p',
  rewardFunction: 'gold',
  freeze: [],
  tasks: 1,
  groupSize: 2,
};
const recipe = {
  name: 'x',
  stop: '<eos>',
  roles: { solver: { sampling: { maxNew: 40, temperature: 1 } } },
} as unknown as Recipe;

/** Left to right, as chains are read. */
const chainTotal = (task: string) =>
  [...task.matchAll(/([+-]?)(\d)/g)].reduce((sum, [, sign, digit]) => sum + Number(`${sign}${digit}`), 0);

/** An evaluation whose solver answers as `answer` says, in the order in which it is asked. */
function examOf(answer: (task: string) => number) {
  const tokenizer = textTokenizer();
  const policy = scriptedPolicy(
    tokenizer,
    (prompt) => `<answer>${answer(arithmetic.heldOut().find((task) => prompt.includes(`>${task}<`))!)}<eos>`,
  );
  const round = roundOf(settings, { solver: {} }, 1, 0);
  const parts = { recipe, round, tokenizer, recipeState: () => Promise.resolve(undefined) };
  return openEvaluationContext({ ...parts, use: (_ref, work) => work(policy) }, 0, new Map());
}

test('three tasks from the end of the held-out set: two answered right, one wrong', async () => {
  const tasks = arithmetic.heldOut().slice(-3);
  const wrong = tasks[2]!;
  const context = examOf((task) => chainTotal(task) + Number(task === wrong));
  const solver = { family: arithmetic, role: 'solver', temperature: 1, force: false, tasks };
  expect(await evaluateSolver(context, solver)).toEqual({
    n: 3,
    questions: createHash('sha256').update(JSON.stringify(tasks)).digest('hex'),
    accuracy: 2 / 3,
    sampled: 2 / 3,
    forcedWorked: null,
    worked: 0,
    formatRate: 1,
    tallies: {
      accuracy: { of: 1, points: '110' },
      sampled: { of: 1, points: '110' },
      worked: { of: 1, points: '000' },
    },
  });
});

test('sampled accuracy is the mean of all draws: of three answers to each of two tasks one is wrong', async () => {
  const tasks = arithmetic.heldOut().slice(-2);
  // The samples are drawn before anything else is asked; the fifth is the third answer to the first task.
  let asked = 0;
  const context = examOf((task) => chainTotal(task) + Number(++asked === 5));
  const solver = { family: arithmetic, role: 'solver', temperature: 1, draws: 3, force: false, tasks };
  expect(await evaluateSolver(context, solver)).toMatchObject({
    n: 2,
    accuracy: 1,
    sampled: 5 / 6,
    tallies: { sampled: { of: 3, points: '23' } },
  });
});
