/** What a solver that plays alone is paid: each reward by hand, and gold that only a declared reward may read. */
import { expect, test } from 'vitest';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { RolloutGroup } from '../../core/schema/sample.ts';
import {
  type AnswerReward,
  exactReward,
  formatReward,
  majorityReward,
  payAnswers,
  randomReward,
} from '../../protocols/answer-rewards.ts';
import { groupItems } from '../../protocols/solver.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { textTokenizer } from './scripted-policy.ts';

const tokenizer = textTokenizer();
/** Answers to 3+4-9, which is -2: worked and exact, terse and exact, by a wrong step, wrong, unreadable, cut off. */
const TEXTS = [
  '<step>7<step>-2<answer>-2<eos>',
  '<answer>-2<eos>',
  '<step>6<step>-3<answer>-2<eos>',
  '<answer>5<eos>',
  '5<eos>',
  '<answer>5',
];
const OUTCOMES = ['ok', 'ok', 'ok', 'ok', 'off-grammar', 'cut-off'];
const group = {
  group: 'g',
  index: 0,
  task: '3+4-9',
  samples: TEXTS.map((text, i) => ({ id: `s${i}`, ids: tokenizer.encode(text), outcome: OUTCOMES[i]! })),
} as unknown as RolloutGroup;
const paid = (reward: AnswerReward) => {
  const recipe = { name: 'r', rewards: { reward } } as unknown as Recipe;
  const round = { settings: { rewardFunction: 'reward' } } as never;
  const renderer = () => {
    throw new Error('the family writes tags');
  };
  return payAnswers(arithmetic, reward, { recipe, round, tokenizer, renderer }, group);
};
const rewardsOf = (reward: AnswerReward) => paid(reward).samples.map(({ rewards }) => rewards.reward);

test('each reward by hand', () => {
  expect(rewardsOf(exactReward)).toEqual([1, 1, 1, 0, 0, 0]);
  expect(rewardsOf(majorityReward)).toEqual([1, 1, 1, 0, 0, 0]);
  expect(rewardsOf(formatReward)).toEqual([1, 1, 1, 1, 0, 0]);
});

test('the coin is fair and the same for the same sample', () => {
  const many = { ...group, samples: Array.from({ length: 400 }, (_, i) => ({ id: `x${i}` })) } as never;
  const pay = () => randomReward.pay({ group: many } as never);
  const heads = pay().reduce<number>((sum, r) => sum + r!, 0);
  expect(pay()).toEqual(pay());
  // Three standard deviations of 400 fair throws are 30.
  expect(Math.abs(heads - 200)).toBeLessThan(30);
});

test('gold and truth stand beside the rewards: an answer may be exact over a wrong step', () => {
  expect(paid(formatReward).answersExact).toEqual([true, true, true, false, null, null]);
  expect(paid(formatReward).solutionsExact).toEqual([true, true, false, false, null, null]);
});

test('a reward that is declared gold-free and reads gold is an error', () => {
  expect(() => rewardsOf({ ...exactReward, usesGold: false })).toThrow('read the oracle');
});

test('a sample without a reward is not trained on, and enters no mean', () => {
  const samples = [1, 0, null].map((reward, i) => ({ id: `s${i}`, ids: [i], rewards: { reward } }));
  const items = groupItems([{ group: 'g', samples } as never], (rewards, groups) => {
    expect(groups).toEqual(['g', 'g', 'g']);
    return rewards.map((r) => (r === null ? null : r - 0.5));
  });
  expect(items.map(({ sample, advantage }) => [sample.id, advantage])).toEqual([
    ['s0', 0.5],
    ['s1', -0.5],
  ]);
});
