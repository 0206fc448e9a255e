/** How texts are cut for readers: by tags, by the recipes' own marks, and boards as grids. Expected parts are written by hand. */
import { expect, test } from 'vitest';
import { readTags } from '../../core/recipe/reading.ts';
import { comparisonParts } from '../../worlds/arithmetic/pairwise.ts';
import { ratingParts } from '../../worlds/arithmetic/ratings.ts';
import { chainMarks } from '../../worlds/chains/family.ts';
import { gridParts } from '../../worlds/grids/reading.ts';

test('steps, answers, marks and verdicts; what separates and ends is left out', () => {
  expect(readTags('<step>7<step>-2<answer>-2<eos>')).toEqual([
    { kind: 'step', text: '7' },
    { kind: 'step', text: '-2' },
    { kind: 'answer', text: '-2' },
  ]);
  expect(readTags('<ok><bad><wrong><eos>')).toEqual([
    { kind: 'mark', text: 'ok', good: true },
    { kind: 'mark', text: 'bad', good: false },
    { kind: 'verdict', text: 'wrong', good: false },
  ]);
  expect(readTags('<solve>3+4<sep>')).toEqual([{ kind: 'text', text: '3+4' }]);
});

test('any other text stays as it was written, whatever it looks like', () => {
  const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>';
  expect(readTags(hostile)).toEqual([{ kind: 'text', text: hostile }]);
  expect(readTags('The answer is 4.<|im_end|>')).toEqual([{ kind: 'text', text: 'The answer is 4.' }]);
  expect(readTags('')).toEqual([]);
  expect(readTags('<answer>')).toEqual([{ kind: 'answer', text: '' }]);
});

test('a verifier of chains approves a sum, or names the one it found', () => {
  expect(chainMarks('<step>7=<step>-2!-3<wrong><eos>')).toEqual([
    { kind: 'mark', text: '7', good: true },
    { kind: 'mark', text: '-2, not -3', good: false },
    { kind: 'verdict', text: 'wrong', good: false },
  ]);
});

test('comparisons and scores are verdicts', () => {
  expect(comparisonParts('<step>7<answer>7B<eos>').at(-1)).toEqual({ kind: 'verdict', text: 'prefers B' });
  expect(ratingParts('<answer>-2=8<eos>')).toEqual([{ kind: 'verdict', text: '9 of 10' }]);
  expect(ratingParts('<answer>x<eos>')).toEqual([{ kind: 'answer', text: 'x' }]);
});

test('boards are grids only where every row is as long, and moves are arrows', () => {
  expect(gridParts('<solve>g.\np.<sep>')).toEqual([{ kind: 'grid', text: 'g.\np.' }]);
  expect(gridParts('g.\np')).toEqual([{ kind: 'text', text: 'g.\np' }]);
  expect(gridParts('<answer>u r x<eos>')).toEqual([{ kind: 'answer', text: '↑ → x' }]);
});
