import fc from 'fast-check';
import Fraction from 'fraction.js';
import { expect, test } from 'vitest';
import { type Checker, LONGEST_ANSWER } from '../../../core/checkers/checker.ts';
import { choice } from '../../../core/checkers/choice.ts';
import { exact } from '../../../core/checkers/exact.ts';
import { evaluateExpression, expression } from '../../../core/checkers/expression.ts';
import { jsonSchema } from '../../../core/checkers/json-schema.ts';
import { math } from '../../../core/checkers/math/checker.ts';
import { Evaluation, isExact } from '../../../core/checkers/math/value.ts';
import { numberChecker } from '../../../core/checkers/number.ts';
import { regex } from '../../../core/checkers/regex.ts';
import { set } from '../../../core/checkers/set.ts';
import { parseNumber } from '../../../core/checkers/written-number.ts';
import { processorTime } from '../../processor-time.ts';
import vectors from './equality-vectors.json';

const number = numberChecker();

/** true, false, or the reason why the answer could not be read. */
function verdict(checker: Checker, answer: string, given: string, metadata: Record<string, unknown> = {}) {
  const parsed = checker.prepare({ answer, metadata })(given);
  return parsed.ok ? parsed.value : parsed.reason;
}
const refused = (checker: Checker, answer: string, metadata: Record<string, unknown> = {}) =>
  expect(() => checker.prepare({ answer, metadata }));

test('exact compares texts; white space and Unicode composition do not count', () => {
  expect(verdict(exact, 'New  York', ' New York\n')).toBe(true);
  expect(verdict(exact, 'caf\u00e9', 'cafe\u0301')).toBe(true);
  expect(verdict(exact, 'New York', 'new york')).toBe(false);
  expect(verdict(exact, 'a', 'a'.repeat(LONGEST_ANSWER + 1))).toBe('too-long');
  refused(exact, ' ').toThrow(/cannot use this answer: it is empty/);
});

test.each([
  ['72', '72.0', true],
  ['1234567.8', '1,234,567.80', true],
  ['1234567', '1 234 567', true],
  ['1000', '1_000', true],
  ['1234', '12,34', false],
  ['0.75', '3/4', true],
  ['-1.5', '-1 1/2', true],
  ['1/3', '0.333', false],
  ['1/3', '2/6', true],
  ['0.125', '12.5%', true],
  ['12.5%', '0.125', true],
  ['12.5%', '12.5', true],
  ['0.5', '0.5%', false],
  ['3000', '3k', true],
  ['2500000', '2.5 million', true],
  ['1e9', '1bn', true],
  ['5', '5m', 'no-number'],
  ['-5', '$-5', true],
  ['-5', '-$5', true],
  ['7', '\u22127', false],
  ['7', '7.', true],
  ['0', '-0', true],
  // 2^53 + 1 has no double of its own.
  ['9007199254740993', '9007199254740992', false],
  ['0.1', '0.1000000000000000055', false],
  ['1e-3', '.001', true],
  ['10', '0x0a', 'no-number'],
  ['10', '1e1', true],
  ['10', '1/0', 'division-by-zero'],
  ['10', '1e999999999', 'too-large'],
  ['10', '9'.repeat(61), 'too-long'],
  ['10', '', 'no-number'],
  ['10', 'ten', true],
])('the number %s and the answer %s: %s', (answer, given, expected) => {
  expect(verdict(number, answer, given)).toBe(expected);
});

test('a tolerance is a share of the reference, and the difference itself for 0', () => {
  const close = numberChecker({ tolerance: 0.01 });
  expect(verdict(close, '200', '202')).toBe(true);
  expect(verdict(close, '200', '202.1')).toBe(false);
  expect(verdict(close, '0', '0.01')).toBe(true);
  expect(verdict(close, '0', '0.011')).toBe(false);
  refused(number, 'a few').toThrow(
    /not read as a number \(no-number\)\. Expected a number\. Correct the line/,
  );
});

test('a number is equal to itself however it is written', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
      fc.integer({ min: 0, max: 6 }),
      (digits, decimals) => {
        const scale = 10n ** BigInt(decimals);
        const sign = digits < 0n ? '-' : '';
        const size = digits < 0n ? -digits : digits;
        const fraction = decimals ? `.${String(size % scale).padStart(decimals, '0')}` : '';
        const written = `${sign}${size / scale}${fraction}`;
        const separated = `${sign}${String(size / scale).replace(/\B(?=(\d{3})+$)/g, ',')}${fraction}`;
        expect(verdict(number, `${digits}/${scale}`, written)).toBe(true);
        expect(verdict(number, written, separated)).toBe(true);
        expect(verdict(number, written, `${digits + 1n}/${scale}`)).toBe(false);
      },
    ),
  );
});

test('no text makes the readers throw or take long', () => {
  const hostile = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.string({ unit: fc.constantFrom(...'0123456789+-*/^(){}[]|\\,.!% fracqtxyesinbo_='), maxLength: 600 }),
    fc.string({
      unit: fc.constantFrom('\\frac', '{', '}', '(', ')', '^', '9', '|', '!', '\\sqrt', 'x', '-', '\\left'),
      maxLength: 200,
    }),
  );
  const checks = [
    number.prepare({ answer: '7', metadata: {} }),
    math.prepare({ answer: 'x^2+1', metadata: {} }),
    set.prepare({ answer: '1, 2', metadata: {} }),
    choice.prepare({ answer: 'B', metadata: { choices: ['x', 'y'] } }),
    expression.prepare({ answer: '', metadata: { numbers: [1, 2], target: 3 } }),
    jsonSchema.prepare({ answer: '{"type":"array"}', metadata: {} }),
    regex.prepare({ answer: '(x+x+)+y', metadata: {} }),
  ];
  fc.assert(
    fc.property(hostile, (text) => {
      const taken = processorTime();
      for (const check of checks) check(text);
      expect(taken()).toBeLessThan(5000);
    }),
    { numRuns: 1500 },
  );
});

test.each([
  ['math, 501 characters', math, 'x', `x${'+1'.repeat(250)}`, {}],
  ['expression, 201 characters', expression, '', `${'1+'.repeat(100)}1`, { numbers: [1], target: 3 }],
  ['set, 1001 elements', set, '1', `${'1,'.repeat(1000)}1`, {}],
])('an answer beyond the bound of its checker is not read: %s', (_, checker, answer, given, metadata) => {
  expect(verdict(checker, answer, given, metadata)).toBe('too-long');
  // A tenth of it is read.
  const short = given.slice(0, 2 * Math.floor(given.length / 20) + 1);
  expect(verdict(checker, answer, short, metadata)).toBeTypeOf('boolean');
});

test('a power is exact up to 20,000 bits, and has 40 digits beyond', () => {
  const number = (value: number) => ({ op: 'number', value: new Fraction(value) }) as const;
  const evaluation = new Evaluation(new Map(), { digits: 40, realRoots: false });
  const power = (base: number, exponent: number) =>
    evaluation.valueOf({ op: 'power', left: number(base), right: number(exponent) });
  const exact = power(2, 5000);
  expect(isExact(exact) && exact.n).toBe(2n ** 5000n);
  const digits = power(2, 30_000);
  // log10(2^30000) = 9030.899869…
  expect(digits && !isExact(digits) && digits.re.e).toBe(9030);
});

test('the costliest expressions are given up, not computed', () => {
  const taken = processorTime();
  for (const bomb of [
    '9^9^9^9^9',
    '((9^999)^999)^999',
    '170!!!',
    `${'9!'.repeat(100)}`,
    `x${'^99'.repeat(100)}`,
    '2^(2^(2^(2^(2^9))))',
    '\\binom{2000}{1000}'.repeat(20),
    '2000!+'.repeat(80).slice(0, -1),
    '3^{6000}/7^{5000}+'.repeat(25).slice(0, -1),
    'e^{e^{e^{e^{e^{9}}}}}',
    `sin(${'sin('.repeat(60)}x${')'.repeat(61)}`,
    '\\sqrt[7]{x}^{1/3}'.repeat(20),
  ])
    math.prepare({ answer: 'x', metadata: {} })(bomb);
  math.prepare({ answer: 'x', metadata: {} })(`${'('.repeat(240)}x${')'.repeat(240)}`);
  math.prepare({ answer: 'x', metadata: {} })('('.repeat(490));
  expect(taken()).toBeLessThan(5000);
});

test('choice reads a letter or the text of an option', () => {
  const choices = ['Paris', 'Rome', 'A capital'];
  for (const given of ['B', '(b)', 'B.', 'b)', 'B: Rome', 'B) Rome.', 'rome'])
    expect(verdict(choice, 'B', given, { choices }), given).toBe(true);
  expect(verdict(choice, 'B', 'A', { choices })).toBe(false);
  expect(verdict(choice, 'B', 'A capital', { choices })).toBe(false);
  expect(verdict(choice, 'Rome', 'B', { choices })).toBe(true);
  expect(verdict(choice, 'B', 'B) Paris', { choices })).toBe('two-options');
  expect(verdict(choice, 'B', 'D', { choices })).toBe('no-option');
  expect(verdict(choice, 'B', 'Both', { choices })).toBe('no-option');
  expect(verdict(choice, 'D', 'd) anything')).toBe(true);
  const lettered = ['(a) only', '(b) only', '(a) and (b)', '[A] or [B]'];
  expect(verdict(choice, 'C', 'C) (a) and (b)', { choices: lettered })).toBe(true);
  expect(verdict(choice, 'D', '(D) [A] or [B]', { choices: lettered })).toBe(true);
  expect(verdict(choice, 'C', 'C) (a) only', { choices: lettered })).toBe('two-options');
  refused(choice, 'E', { choices }).toThrow(/names none of the options.*a letter from A to C/);
  refused(choice, 'A', { choices: ['x', 'x'] }).toThrow(/2 to 26 different texts/);
  refused(choice, 'two').toThrow(/names none/);
});

test('regex takes the whole answer, in linear time', () => {
  expect(verdict(regex, String.raw`\d{4}-\d{2}-\d{2}`, ' 2026-11-22 ')).toBe(true);
  expect(verdict(regex, String.raw`\d+`, '12a')).toBe(false);
  const taken = processorTime();
  expect(verdict(regex, '(a|a)*b', 'a'.repeat(LONGEST_ANSWER))).toBe(false);
  expect(taken()).toBeLessThan(5000);
  refused(regex, '(').toThrow(/cannot be read: .*missing/);
  refused(regex, String.raw`(a)\1`).toThrow(/without look-around and backreferences/);
  refused(regex, '(a{1000}){1000}').toThrow(/repeat count/);
});

test('json-schema validates, and its patterns cannot backtrack', () => {
  const schema = {
    type: 'object',
    properties: { pattern: { type: 'string', pattern: '^(a+)+$' }, n: { $ref: '#/$defs/n' } },
    required: ['pattern'],
    additionalProperties: false,
    $defs: { n: { type: 'integer', minimum: 3 } },
  };
  const check = (given: string) => verdict(jsonSchema, '', given, { schema });
  expect(check('{"pattern": "aaa"}')).toBe(true);
  expect(check('{"pattern": "aaa", "n": 3}')).toBe(true);
  expect(check('{"pattern": "aab"}')).toBe(false);
  expect(check('{"pattern": "aaa", "n": 2}')).toBe(false);
  expect(check('{"pattern": "aaa", "m": 2}')).toBe(false);
  expect(check('{"n": 3}')).toBe(false);
  expect(check('{pattern: 1}')).toBe('not-json');
  const taken = processorTime();
  expect(check(JSON.stringify({ pattern: `${'a'.repeat(5000)}b` }))).toBe(false);
  expect(taken()).toBeLessThan(5000);
  expect(
    verdict(jsonSchema, '{"type": "array", "items": {"enum": [1, {"pattern": "("}]}}', '[{"pattern": "("}]'),
  ).toBe(true);
  refused(jsonSchema, '', { schema: { pattern: '(' } }).toThrow(/cannot be read/);
  refused(jsonSchema, '', { schema: { $ref: '#' } }).toThrow(
    /cannot be followed: it is nested too deeply, or refers to itself/,
  );
  refused(jsonSchema, '', { schema: { patternProperties: { '(': {} } } }).toThrow(/cannot be read/);
  refused(jsonSchema, '', { schema: { format: 'url' } }).toThrow(/format "url"/);
  refused(jsonSchema, 'not a schema').toThrow(/is not JSON/);
  refused(jsonSchema, '7').toThrow(/is no schema/);
});

test('set compares elements, in any order', () => {
  expect(verdict(set, '1, 2, 3', '{3, 2, 1}')).toBe(true);
  expect(verdict(set, '["a", "b"]', 'b and a')).toBe(true);
  expect(verdict(set, '1/2, red', 'red; 0.5')).toBe(true);
  expect(verdict(set, '1, 2', String.raw`\{2, 1, 1\}`)).toBe(true);
  expect(verdict(set, '{}', '[]')).toBe(true);
  expect(verdict(set, '1, 2', '1')).toBe(false);
  expect(verdict(set, '1, 2', '1, 2, 3')).toBe(false);
  expect(verdict(set, '1, 2', '1,, 2')).toBe('empty-element');
  expect(verdict(set, '1, 2', '')).toBe('no-elements');
  refused(set, ',').toThrow(/not read as a set/);
});

test('expression takes each number once and hits the target exactly', () => {
  const metadata = { numbers: [8, 3, 3], target: 15 };
  const check = (given: string, more = {}) => verdict(expression, '', given, { ...metadata, ...more });
  expect(check('3*(8 - 3)')).toBe(true);
  expect(check('3×(8−3)')).toBe(true);
  expect(check('8+8-1')).toBe(false);
  expect(check('15')).toBe(false);
  expect(check('3*8-3*3')).toBe(false);
  expect(check('8*3')).toBe(false);
  expect(check('8/(3-3)')).toBe('division-by-zero');
  expect(check('3*(8-3')).toBe('no-expression');
  expect(check('3*(8-3) = 15')).toBe(true);
  expect(check('15 = 3*(8-3)')).toBe(true);
  expect(check('3*(8-3) = 16')).toBe('unequal-sides');
  expect(check('15 = 15')).toBe(false);
  // 8/(3 − 8/3) = 24 is exact here and 23.999999999999993 in doubles.
  expect(verdict(expression, '', '8/(3-8/3)', { numbers: [8, 8, 3, 3], target: 24 })).toBe(true);
  expect(check('8+3', { target: 11 })).toBe(true);
  expect(check('8+3', { target: 11, use_all: true })).toBe(false);
  refused(expression, '', { numbers: [1, -2], target: 3 }).toThrow(/whole numbers from 0/);
  refused(expression, '5', {}).toThrow(/metadata.numbers is "undefined"/);
});

test('the value of an expression, by a second evaluation', () => {
  type Tree = number | readonly [Tree, string, Tree];
  const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.integer({ min: 1, max: 20 }),
      fc.tuple(tie('tree'), fc.constantFrom('+', '-', '*'), tie('tree')),
    ),
  }));
  const write = (node: Tree): string =>
    typeof node === 'number' ? String(node) : `(${write(node[0])}${node[1]} ${write(node[2])})`;
  const value = (node: Tree): bigint => {
    if (typeof node === 'number') return BigInt(node);
    const [a, b] = [value(node[0]), value(node[2])];
    return node[1] === '+' ? a + b : node[1] === '-' ? a - b : a * b;
  };
  fc.assert(
    fc.property(tree, (node) => {
      const text = write(node);
      fc.pre(text.length <= 200);
      const parsed = evaluateExpression(text);
      expect(parsed.ok && parsed.value.value.toFraction()).toBe(String(value(node)));
      expect(verdict(math, String(value(node)), text)).toBe(true);
      expect(verdict(math, String(value(node) + 1n), text)).toBe(false);
    }),
  );
});

test.each([
  // Forms of one number.
  [String.raw`\frac{1}{2}`, '0.5', true],
  [String.raw`\frac12`, '1/2', true],
  [String.raw`\dfrac{3}{4}`, String.raw`\tfrac{6}{8}`, true],
  [String.raw`1\frac{1}{2}`, '3/2', true],
  [String.raw`2\sqrt{3}`, String.raw`\sqrt{12}`, true],
  [String.raw`\sqrt[3]{8}`, '2', true],
  [String.raw`\frac{\sqrt{2}}{2}`, String.raw`\frac{1}{\sqrt 2}`, true],
  [String.raw`\pi`, '3.14159', false],
  [String.raw`e^{i\pi}`, '-1', true],
  [String.raw`\sin\left(\frac{\pi}{6}\right)`, '1/2', true],
  [String.raw`\log_2 8`, '3', true],
  [String.raw`\log_{10}(1000)`, '3', true],
  [String.raw`\binom{5}{2}`, '10', true],
  ['5!', '120', true],
  ['2^{10}', '1024', true],
  ['2^10', '1024', true],
  ['-2^2', '-4', true],
  ['2^-1', '0.5', true],
  [String.raw`50\%`, '0.5', true],
  ['50%', '50', true],
  ['1{,}000', '1000', true],
  [String.raw`\$18`, '18', true],
  [String.raw`5\text{ cm}`, '5', true],
  [String.raw`90^\circ`, '90', true],
  ['|-3|', '3', true],
  [String.raw`\lfloor 2.7 \rfloor`, '2', true],
  [String.raw`\infty`, String.raw`-\infty`, false],
  [String.raw`\infty`, String.raw`\infty`, true],
  // 10^30 + 1 is a number of its own.
  ['10^30', '10^30 + 1', false],
  // Functions.
  ['(x+1)^2', 'x^2 + 2x + 1', true],
  ['(x+1)^2', 'x^2 + x + 1', false],
  [String.raw`\frac{x^2-1}{x-1}`, 'x+1', true],
  [String.raw`\sin^2 x + \cos^2 x`, '1', true],
  [String.raw`\sin 2x`, String.raw`2\sin x\cos x`, true],
  [String.raw`\sqrt{x^2}`, '|x|', true],
  [String.raw`\sqrt{x^2}`, 'x', false],
  ['2xy', 'y*2*x', true],
  ['xy', 'x+y', false],
  ['x_1 + x_2', 'x_{2} + x_{1}', true],
  ['x_1', 'x_2', false],
  [String.raw`\alpha + \beta`, 'alpha + beta', true],
  ['e^{2x}', 'exp(x)^2', true],
  [String.raw`\ln(x^2 y)`, String.raw`\ln(y x x)`, true],
  // Equations, lists, intervals.
  ['x = 3', '3', true],
  ['3', 'x=3', true],
  ['x = 3', 'x = 4', false],
  ['2x + y = 3', 'y = 3 - 2x', true],
  ['2x + y = 3', 'y = 3 + 2x', false],
  ['(1, 2)', '(2/2, 2)', true],
  ['(1, 2)', '(2, 1)', false],
  ['[0, 1)', '[0, 1]', false],
  [String.raw`\{1, 2\}`, '2, 1', true],
  ['1, 2', '1', false],
  // What is no expression.
  ['3', 'three!?', false],
  ['3', 'three', true],
  ['3', '', 'empty'],
  ['3', String.raw`\undefinedcommand`, 'unknown-command'],
  ['3', '1/0', false],
  ['1/0', '2/0', 'no-value'],
  ['3', '1+', 'no-expression'],
])('math: %s and %s: %s', (answer, given, expected) => {
  expect(verdict(math, answer, given)).toBe(expected);
});

test('math refuses a reference that is no answer, or that nothing could be equal to', () => {
  refused(math, String.raw`\undefinedcommand{1}`).toThrow(/not read as an answer \(unknown-command\)/);
  refused(math, '3 4').toThrow(/not read as an answer \(no-expression\)/);
  refused(math, '').toThrow(/\(empty\)/);
});

test.each(vectors.pairs as [string, string, boolean][])('SymPy on %s and %s: %s', (a, b, same) => {
  expect(verdict(math, a, b)).toBe(same);
  expect(verdict(math, b, a)).toBe(same);
});

test('a number is read once, whole', () => {
  expect(parseNumber('3 4')).toEqual({ ok: false, reason: 'no-number' });
});
