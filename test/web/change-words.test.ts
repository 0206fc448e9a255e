/** What the page says of a change: only what the exact paired test finds is "rose" or "fell", and has a colour. */
import { expect, test } from 'vitest';
import { changeOf, tallyOf } from '../../core/statistics/change.ts';
import { changeWords, toneOf } from '../../web/dashboard/overview.js';

/** `n` questions, of which the first so many are right. */
const right = (count: number, n: number) => tallyOf(Array.from({ length: n }, (_, i) => i < count));
const said = (before: number, after: number, n: number) => {
  const change = changeOf(right(before, n), right(after, n));
  return [changeWords(change, n), toneOf(change.verdict)];
};

test('of many questions', () => {
  // 30 changes of one direction: 2 · 2^-30.
  expect(said(100, 130, 500)).toEqual([
    'Rose beyond chance (500 questions: exact paired test, p < 0.001)',
    'good',
  ]);
  expect(said(130, 100, 500)).toEqual([
    'Fell beyond chance (500 questions: exact paired test, p < 0.001)',
    'warn',
  ]);
  // 3 changes of one direction: 2 · 2^-3 = 0.25.
  expect(said(100, 103, 500)).toEqual([
    'Within chance (500 questions: exact paired test, p = 0.250)',
    'faint',
  ]);
});

test('of few questions, even where all of them changed', () => {
  for (const [before, after] of [
    [0, 29],
    [29, 0],
  ] as const)
    expect(said(before, after, 29)).toEqual([
      'Too few questions to tell from chance (29 questions: exact paired test, p < 0.001)',
      'faint',
    ]);
  // The same change of one question more.
  expect(said(0, 30, 30)[0]).toContain('Rose beyond chance');
});
