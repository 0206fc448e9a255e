import { expect, test } from 'vitest';
import { firstCorrected, linesOfTokens } from '../../recipes/trace/lines.ts';

const attempt = '2 + 2 = 4\n\n4 + 3 = 8\nSo it is 8.';

test('the first line that a critique corrects, whatever blank lines and spaces there are', () => {
  expect(firstCorrected(attempt, '2 + 2 = 4 \n4 + 3 = 7')).toBe(1);
  expect(firstCorrected(attempt, '\n2 + 2 = 5')).toBe(0);
  expect(firstCorrected(attempt, `${attempt}\n`)).toBeNull();
  // A critique that ends before anything is wrong corrects nothing.
  expect(firstCorrected(attempt, '2 + 2 = 4')).toBeNull();
});

test('tokens belong to the line in which they begin, counted from what was said', () => {
  const texts = ['ab', 'c\n\n', 'd', '\n', ' \n', 'ef', '<end>'];
  const decode = (ids: readonly number[]) => ids.map((id) => texts[id]!).join('');
  const ids = texts.map((_, i) => i);
  expect(linesOfTokens(ids, 'abc\n\nd\n \nef', decode)).toEqual([0, 0, 1, 1, 2, 2, 2]);
  // What comes before what was said, such as a line of thoughts, is no part of it.
  expect(linesOfTokens(ids, 'd\n \nef', decode)).toEqual([-1, -1, 0, 0, 1, 1, 1]);
  expect(linesOfTokens(ids, 'xyz', decode)).toBeNull();
});
