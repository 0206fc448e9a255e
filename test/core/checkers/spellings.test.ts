/** Spellings of answers that people and models use, with guards beside each: what a looser rule must not pay. The right values were worked out by hand. */
import { describe, expect, test } from 'vitest';
import { findChecker } from '../../../core/checkers/registry.ts';

type Row = readonly [reference: string, answer: string, right: boolean];

const MATH: Readonly<Record<string, readonly Row[]>> = {
  'points between thousands': [
    ['1234567', '1.234.567', true],
    ['1234567.89', '1.234.567,89', true],
    ['1000000', '1.000.001', false],
    ['1234', '1.234', false],
    ['3,5', '5 and 3', true],
    ['3.5', '3,5', false],
  ],
  'infix fractions of TeX': [
    [String.raw`\frac{x+1}{2}`, String.raw`{x+1 \over 2}`, true],
    [String.raw`\frac{1}{2}`, String.raw`1 \over 2`, true],
    [String.raw`\frac{\frac12}{3}`, String.raw`{{1 \over 2} \over 3}`, true],
    [String.raw`3+\frac12`, String.raw`3 + {1\over 2}`, true],
    [String.raw`\frac{a}{b}`, String.raw`{b\over a}`, false],
    ['10', String.raw`{5 \choose 2}`, true],
  ],
  'digits that go on': [
    [String.raw`\frac13`, '0.333...', true],
    [String.raw`\frac16`, String.raw`0.1666\dots`, true],
    [String.raw`\frac{5}{11}`, '0.4545…', true],
    [String.raw`\frac17`, '0.142857142857...', true],
    ['3.333', '3.333...', false],
    [String.raw`\pi`, '3.14159...', false],
  ],
  // 24.5/sin 26 is 32.128684672749996906…, by 40 digits of Decimal.
  'digits of an irrational value': [
    [String.raw`\frac{24.5}{\sin 26}`, '32.12868467275', true],
    [String.raw`\frac{24.5}{\sin 26}`, '32.12868467276', false],
    [String.raw`\frac{24.5}{\sin 26}`, '32.12868467278', false],
    [String.raw`\frac{24.5}{\sin 26}`, '32.128684', false],
    [String.raw`\pi`, '3.141592653589793', true],
    [String.raw`\pi`, '3.141592653589', true],
    [String.raw`\pi`, '3.141592653689', false],
    [String.raw`10^{12}+\sqrt2`, '1000000000001.4142135624', true],
    [String.raw`10^{12}+\sqrt3`, '1000000000001.4142135624', false],
    [String.raw`\frac13`, '0.333333333333', false],
  ],
  'chains from either end': [
    ['a<b<c', 'c>b>a', true],
    [String.raw`a\le b<c`, String.raw`c>b\ge a`, true],
    [String.raw`a\le b<c`, 'c>b>a', false],
  ],
  'sets of one, and none': [
    [String.raw`\{0\}`, '0', true],
    [String.raw`\{(1,2)\}`, '(1,2)', true],
    [String.raw`\{5\}`, '5, 6', false],
    [String.raw`\text{No solutions}`, String.raw`\emptyset`, true],
    [String.raw`\emptyset`, 'There is no solution', true],
    ['no real solutions', String.raw`\text{no real solution}`, true],
    ['DNE', 'does not exist', true],
    ['no solution', String.raw`\{0\}`, false],
    ['no solution', 'infinitely many solutions', false],
  ],
  lists: [
    ['1,2', String.raw`\text{either } 1 \text{ or } 2`, true],
    ['1,2,3', '[3, 2, 1]', true],
    ['1,2', '[1,2]', false],
    ['1,2,3', '[1,2]', false],
    ['(1,2)', '1,2', false],
  ],
  'ratios, percent, layout': [
    ['3:4', '3 to 4', true],
    ['3:4', '4 to 3', false],
    ['5', 'from 2 to 5', false],
    ['40%', '40 per cent', true],
    ['40%', '4 per cent', false],
    ['5', '5\\ ', true],
    ['42', '_42_', true],
  ],
};

const NUMBER: readonly Row[] = [
  ['3.14', '3,14', true],
  ['1234.5', '1.234,5', true],
  ['1234567.89', '1.234.567,89', true],
  ['-0.5', '-0,5', true],
  ['12.5%', '12,5 %', true],
  ['2.5', '€2,50', true],
  ['1234', '12,34', false],
  ['1.234', '1,234', false],
  ['1234', '1.234', false],
];

const CHOICE: readonly Row[] = [
  ['B', 'B - because A is wrong', true],
  ['B', 'B\n\nExplanation: A is too small.', true],
  ['B', 'I would choose B.', true],
  ['B', '<b>B</b>', true],
  ['B', '### B', true],
  ['B', 'B、', true],
];

const verdictOf = (checker: string, [answer, given]: Row, metadata: Record<string, unknown> = {}) => {
  const verdict = findChecker(checker).prepare({ answer, metadata })(given);
  return verdict.ok && verdict.value;
};

describe.each(Object.entries(MATH))('math: %s', (_, rows) => {
  test.each(rows)('%s and %s: %s', (...row) => {
    expect(verdictOf('math', row)).toBe(row[2]);
  });
});

test.each(NUMBER)('number: %s and %s: %s', (...row) => {
  expect(verdictOf('number', row)).toBe(row[2]);
});

test.each(CHOICE)('choice: %s and %j: %s', (...row) => {
  expect(verdictOf('choice', row)).toBe(row[2]);
});

test.each([
  ['B. Rome\n\nRome is in Italy.', true],
  ['B – Rome', true],
  ['B) Paris', false],
  ['A. Paris\nB. Rome', false],
  ['B\nC', false],
])('choice among texts: %j: %s', (given, right) => {
  const metadata = { choices: ['Paris', 'Rome', 'Oslo'] };
  expect(verdictOf('choice', ['B', given, right], metadata)).toBe(right);
});

test('JSON in a fence of tildes is read', () => {
  const metadata = { schema: { type: 'object', required: ['n'] } };
  expect(verdictOf('json-schema', ['{}', '~~~json\n{"n": 1}\n~~~', true], metadata)).toBe(true);
});
