import { expect, test } from 'vitest';
import type { Choice } from '../../core/game/verbs.ts';
import { deriveId } from '../../core/random.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { consistency, pairTally, positionBias } from '../../recipes/self-taught-evaluators/evaluate.ts';
import { agreement, keep } from '../../recipes/self-taught-evaluators/recipe.ts';
import { parseComparison } from '../../worlds/arithmetic/pairwise.ts';

const tokenizer = openTokenizer(characterTokenizer().json);
const said = (choice: Choice) => ok(choice);
const forbidden = () => {
  throw new Error('read the oracle');
};

test('a judgment agrees with the construction, the oracle, a coin, or is readable', () => {
  const evidence = { label: 'A' as Choice, betterAnswer: forbidden, coin: false };
  expect(agreement('construction', said('A'), evidence)).toBe(1);
  expect(agreement('construction', said('B'), evidence)).toBe(0);
  expect(agreement('construction', invalid('off-grammar'), evidence)).toBe(0);
  expect(agreement('random', said('B'), evidence)).toBe(1);
  expect(agreement('random', said('B'), { ...evidence, coin: true })).toBe(0);
  expect(agreement('format', said('B'), evidence)).toBe(1);
  expect(agreement('format', invalid('off-grammar'), evidence)).toBe(0);
  expect(agreement('gold', said('B'), { ...evidence, betterAnswer: () => 'B' })).toBe(1);
  expect(agreement('gold', said('A'), { ...evidence, betterAnswer: () => null })).toBeNull();
});

let made = 0;
/** A judgment of order `order` of a pair. */
const judgment = (pair: number, order: number, choice: Choice, agrees: number): Sample => ({
  id: deriveId('judgment', pair, order, choice, agrees, ++made),
  role: 'judge',
  policy: { name: 'p', version: 0 },
  prompt: [pair, order],
  ids: tokenizer.encode(`<answer>${choice}<eos>`),
  logprobs: [],
  stopped: true,
  outcome: 'ok',
  rewards: { agreement: agrees },
  about: `${order}`,
});
const read = ({ ids }: Sample, task: string) => {
  const parsed = parseComparison(task, tokenizer.decode(ids));
  return parsed.ok ? ok(parsed.value.choice) : parsed;
};
const groupOf = (judgments: Sample[], index: number): ScoredGroup => ({
  round: deriveId('r'),
  group: deriveId('g', index),
  index,
  task: '1+2',
  proposal: null,
  samples: [],
  judgments,
  answersExact: [],
  solutionsExact: [],
});

test('one agreeing judgment an order is kept, and as many A as B', () => {
  const always = (pair: number) =>
    [0, 1].flatMap((order) => [
      judgment(pair, order, 'A', Number(order === 0)),
      judgment(pair, order, 'A', Number(order === 0)),
    ]);
  const able = (pair: number) => [
    judgment(pair, 0, 'A', 1),
    judgment(pair, 1, 'B', 1),
    judgment(pair, 1, 'A', 0),
  ];
  // Five pairs give an A each; only two of them a B.
  const groups = [always(0), always(1), always(2), able(3), able(4)].map(groupOf);
  const kept = keep(groups, read, 'seed');
  const texts = kept.map(({ ids }) => tokenizer.decode(ids)).sort();
  expect(texts).toEqual(['<answer>A<eos>', '<answer>A<eos>', '<answer>B<eos>', '<answer>B<eos>']);
  expect(new Set(kept.map(({ prompt }) => prompt.join())).size).toBe(4);
  expect(kept.every(({ rewards }) => rewards.agreement === 1)).toBe(true);
  expect(keep([groupOf(always(0), 0)], read, 'seed')).toEqual([]);
});

test('accuracy, bias and consistency by hand', () => {
  const [a, b] = ['A', 'B'] as const;
  // Right in both orders; always A; unreadable, then always A.
  const verdicts = [
    [a, b],
    [a, a],
    [null, a],
  ] as const;
  expect(pairTally(verdicts)).toEqual({ of: 2, points: '210' });
  expect(positionBias(verdicts)).toBeCloseTo(3 / 5);
  expect(consistency(verdicts)).toBeCloseTo(1 / 3);
  expect(positionBias([[b, b]])).toBe(1);
});
