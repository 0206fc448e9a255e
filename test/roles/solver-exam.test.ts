/** The exam of a solver over tasks of its own choice: counted and checked as those tasks, not as the family's first ones. */
import { expect, test } from 'vitest';
import type { Recipe } from '../../core/recipe.ts';
import { examineSolver } from '../../core/roles/solver-exam.ts';
import { openExam } from '../../core/roles/stage.ts';
import { roundOf } from '../../core/schema/round.ts';
import { arithmetic } from '../../core/tasks/arithmetic.ts';
import { scriptedPolicy, textTokenizer } from './scripted-policy.ts';

const settings = { recipe: 'x', seed: 0, policy: 'p', reward: 'gold', freeze: [], tasks: 1, group: 2 };
const recipe = {
  name: 'x',
  stop: '<eos>',
  roles: { solver: { sampling: { maxNew: 40, temperature: 1 } } },
} as unknown as Recipe;

/** Left to right, as chains are read. */
const chainTotal = (task: string) =>
  [...task.matchAll(/([+-]?)(\d)/g)].reduce((sum, [, sign, digit]) => sum + Number(`${sign}${digit}`), 0);

test('three tasks from the end of the held-out set: two answered right, one wrong', async () => {
  const tasks = arithmetic.heldOut().slice(-3);
  const wrong = tasks[2]!;
  const tokenizer = textTokenizer();
  const policy = scriptedPolicy(tokenizer, (prompt) => {
    const task = tasks.find((one) => prompt.includes(one))!;
    return `<answer>${chainTotal(task) + Number(task === wrong)}<eos>`;
  });
  const round = roundOf(settings, { solver: {} }, 1, 0);
  const parts = { recipe, round, tokenizer, memory: () => Promise.resolve(undefined) };
  const exam = openExam({ ...parts, use: (_ref, work) => work(policy) }, 0, new Map());
  const solver = { family: arithmetic, role: 'solver', temperature: 1, force: false, tasks };
  expect(await examineSolver(exam, solver)).toEqual({
    n: 3,
    accuracy: 2 / 3,
    sampled: 2 / 3,
    forcedWorked: null,
    worked: 0,
    formatRate: 1,
  });
});
