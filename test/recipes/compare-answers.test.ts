/** Scores by comparison, worked by hand. */
import { expect, test } from 'vitest';
import type { Sample } from '../../core/schema/sample.ts';
import { answersOf, contestOf, isExact, sharesWon } from '../../recipes/self-rewarding/compare-answers.ts';
import { textTokenizer } from '../protocols/scripted-policy.ts';

const match = (first: number, second: number, choice: 'A' | 'B' | null) => ({
  first,
  second,
  comparison: choice === null ? null : { totals: [], choice },
});

test('an answer scores the share of its readable comparisons that it wins, whichever place it is shown in', () => {
  // 0 beats 1 in both orders; 2 against 0 is split by its place; of 1 and 2 one order says 2, the other cannot be read.
  const matches = [
    match(0, 1, 'A'),
    match(1, 0, 'B'),
    match(0, 2, 'A'),
    match(2, 0, 'A'),
    match(1, 2, 'B'),
    match(2, 1, null),
  ];
  expect(sharesWon(3, matches)).toEqual([3 / 4, 0, 2 / 3]);
});

test('one answer alone scores a half; an answer whose comparisons cannot be read has no score', () => {
  expect(sharesWon(1, [])).toEqual([0.5]);
  expect(sharesWon(2, [match(0, 1, null), match(1, 0, null)])).toEqual([null, null]);
  expect(sharesWon(0, [])).toEqual([]);
});

test('of equal answers the first stands for all, and what is no answer takes no part', () => {
  const tokenizer = textTokenizer();
  const sample = (id: string, text: string, outcome = 'ok') =>
    ({ id, ids: tokenizer.encode(text), outcome }) as Pick<Sample, 'id' | 'ids' | 'outcome'> as Sample;
  const samples = [
    sample('a', '<answer>-2<eos>'),
    sample('b', '<step>7<step>-2<answer>-2<eos>'),
    sample('c', 'nonsense', 'off-grammar'),
    sample('d', '<answer>16<eos>'),
    sample('e', '<answer>16<eos>', 'cut-off'),
  ];
  const given = answersOf({ tokenizer }, { task: '3+4-9', samples });
  expect(given.map(({ answer }) => answer)).toEqual(['-2', '-2', null, '16', null]);
  expect(contestOf('3+4-9', given)).toEqual({
    task: '3+4-9',
    answers: [
      { answer: '-2', id: 'a' },
      { answer: '16', id: 'd' },
    ],
  });
  expect([isExact('3+4-9', '-2'), isExact('3+4-9', '16')]).toEqual([true, false]);
});
