import { expect, test } from 'vitest';
import {
  evaluateExpression,
  extractAnswer,
  isRight,
  meetsTarget,
  sameAnswer,
} from '../../core/text/answers.ts';

test('an answer stands between the last answer tag and the end', () => {
  expect(extractAnswer('<step>3<answer>-7<eos>')).toEqual({ before: '<step>3', answer: '-7' });
  expect(extractAnswer('<answer>1<answer> 2 <eos>')).toMatchObject({ answer: '2' });
  expect(extractAnswer('<answer>7')).toBeNull();
  expect(extractAnswer('7<eos>')).toBeNull();
  expect(extractAnswer('<answer><step><wrong><eos>')).toBeNull();
  expect(extractAnswer('<answer><eos>')).toBeNull();
});

test('answers are equal as texts or as decimal numbers, never by coercion', () => {
  expect(sameAnswer('7', '7.0')).toBe(true);
  expect(sameAnswer('-0', '0')).toBe(true);
  expect(sameAnswer('', '0')).toBe(false);
  expect(sameAnswer('1e1', '10')).toBe(false);
  expect(sameAnswer('0x7', '7')).toBe(false);
});

test.each([
  ['3*(8 - 3)', 15],
  ['-2 - -3 * 4', 10],
  ['8/2/2', 2],
  ['2-3-4', -5],
])('%s = %d', (text, value) => expect(evaluateExpression(text)?.value).toBe(value));

test.each(['', '3*(8-3', '3 8', '2**3', 'process.exit()', '1/0', '(', '3)', '--'])(
  'no expression: %s',
  (text) => expect(evaluateExpression(text)).toBeNull(),
);

test('a countdown answer uses each given number at most once', () => {
  expect(meetsTarget('3*(8 - 3)', [8, 3, 3], 15)).toBe(true);
  expect(meetsTarget('3*(8 - 3)', [8, 3, 5], 15)).toBe(false);
  expect(meetsTarget('15', [8, 3, 3], 15)).toBe(false);
  expect(
    isRight({ question: '', answer: '3*(8 - 3)', metadata: { numbers: [8, 3, 3], target: 15 } }, '(8-3)*3'),
  ).toBe(true);
});
