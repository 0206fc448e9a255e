/** The evaluation of debates: how those answer who speak first and last, and beside them a vote of the first agent with itself. */
import { expect, test } from 'vitest';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openEvaluationContext } from '../../core/recipe/round-context.ts';
import { roundOf } from '../../core/schema/round.ts';
import { evaluateDebates } from '../../protocols/debate.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';
import { scriptedPolicy, textTokenizer } from './scripted-policy.ts';

const settings = {
  recipe: 'x',
  seed: 0,
  policy: 'p',
  rewardFunction: 'exact',
  freeze: [],
  tasks: 1,
  groupSize: 2,
};
const agent = { sampling: { maxNew: 40, temperature: 1 } };
const recipe = {
  name: 'x',
  stop: '<eos>',
  roles: { debater: agent, partner: agent },
} as unknown as Recipe;

/** Left to right, as chains are read. */
const chainTotal = (task: string) =>
  [...task.matchAll(/([+-]?)(\d)/g)].reduce((sum, [, sign, digit]) => sum + Number(`${sign}${digit}`), 0);

test('two tasks: all are right first, half of them last, and one of two votes of four', async () => {
  const [kept, lost] = arithmetic.heldOut().slice(-2) as [string, string];
  const tokenizer = textTokenizer();
  // What is added to the total: in the first answer, or the i-th of four; three of four are wrong about the second task, two of them alike.
  const errors = { [kept]: [0, 1, 0, 2], [lost]: [0, 1, 1, 2] };
  const policy = scriptedPolicy(tokenizer, (prompt, _, i) => {
    const task = [kept, lost].find((one) => prompt.includes(`>${one}<`))!;
    const isSecond = prompt.includes('<answer>');
    const error = isSecond ? Number(task === lost) : errors[task]![i]!;
    return `<answer>${chainTotal(task) + error}<eos>`;
  });
  const round = roundOf(settings, { debater: {}, partner: {} }, 1, 0);
  const parts = { recipe, round, tokenizer, recipeState: () => Promise.resolve(undefined) };
  const context = openEvaluationContext({ ...parts, use: (_ref, work) => work(policy) }, 0, new Map());
  const seats = [{ role: 'debater' }, { role: 'partner' }];
  const game = { ...aidedSums, tests: () => [kept, lost] };
  const { figures } = await evaluateDebates(game, context, 'debater', [seats, seats]);
  expect(figures).toEqual({ firstTurn: 1, lastTurn: 0.5, alone: 0.5 });
});
