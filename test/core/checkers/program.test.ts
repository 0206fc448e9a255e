import { expect, test } from 'vitest';
import { codeIn, programChecker } from '../../../core/checkers/program.ts';
import { findChecker } from '../../../core/checkers/registry.ts';

const checker = findChecker('program');
const checked = (metadata: Record<string, unknown>, text: string) =>
  checker.prepare({ answer: '', metadata })(text);
const ADD = 'function add(a, b) { return a + b }';
const SUBTRACT = 'function add(a, b) { return a - b }';
const right = { ok: true, value: true };
const wrong = { ok: true, value: false };

test('tests as a list, as one text, and as inputs with outputs', () => {
  for (const metadata of [
    { tests: ['assert(add(1, 2) === 3)', 'add(2, 2) === 4'] },
    { tests: 'assert.equal(add(1, 2), 3)\nassert.equal(add(2, 2), 4)' },
    {
      inputs: [
        [1, 2],
        [2, 2],
      ],
      outputs: [3, 4],
      entry: 'add',
    },
  ]) {
    expect(checked(metadata, ADD)).toEqual(right);
    expect(checked(metadata, SUBTRACT)).toEqual(wrong);
  }
  // One argument need not be a list, and data is compared deeply.
  const first = { inputs: [3, [[1, 2]]], outputs: [[3], [1, 2]], entry: 'list' };
  expect(checked(first, 'const list = (x) => [x].flat()')).toEqual(right);
});

test('why a text is no program that could be tested', () => {
  const metadata = { tests: ['add(1, 2) === 3'] };
  expect(checked(metadata, 'function add(')).toEqual({ ok: false, reason: 'does-not-parse' });
  expect(checked(metadata, 'Sure! Here is the function.')).toEqual({ ok: false, reason: 'does-not-parse' });
  expect(checked(metadata, 'throw new Error()')).toEqual({ ok: false, reason: 'threw' });
  expect(checked(metadata, 'for (;;);')).toEqual({ ok: false, reason: 'out-of-steps' });
  expect(checked(metadata, `${ADD}//${'x'.repeat(10_000)}`)).toEqual({ ok: false, reason: 'too-long' });
});

test.each([
  ['```js\na\n```', 'a'],
  ['First:\n```javascript\na\n```\nbetter:\n```js\nb\nc\n```\nDone.', 'b\nc'],
  ['```\na\n```', 'a'],
  ['```js\na', 'a'],
  ['```js\na\n```\n```text\nthe output\n```', 'a'],
  ['```python\na\n```', '```python\na\n```'],
  ['const a = `x`', 'const a = `x`'],
])('the code in %j', (text, code) => {
  expect(codeIn(text)).toBe(code);
});

test.each([
  [{}, /it has no "tests"\..*/],
  [{ tests: [] }, /its "tests" is "\[\]"/],
  [{ tests: [3] }, /its "tests" is "\[3\]"/],
  [{ tests: [{ input: [1], output: [1] }] }, /its "tests" is /],
  [{ inputs: [[1]], outputs: [1, 2], entry: 'f' }, /it has 1 "inputs" and 2 "outputs"/],
  [{ inputs: [1], outputs: [1] }, /it has no "entry"/],
  [{ inputs: [], outputs: [], entry: 'f' }, /its "inputs" is "\[\]"/],
  [{ tests: ['f() === 1', ' '] }, /its "tests" is /],
  [{ tests: ['f() === 1'], entry: 3 }, /its "entry" is "3"/],
  [{ tests: Array(201).fill('f() === 1') }, /it has 201 tests/],
  [{ tests: ['f()', 'x'.repeat(20_001)] }, /its test 2 has 20001 characters/],
  [{ tests: ['expect(add(1, 2)).toBe(3)'] }, /calls expect/],
  [{ inputs: [[1]], outputs: [1], entry: 'f()' }, /its "entry" is /],
  [{ tests: ['assert add(1, 2) == 3'] }, /is in Python.*--checker python/],
  [{ test_list: ['assert add(1, 2) == 3'], text: 'Write add.' }, /"test_list" \(of MBPP\) is in Python/],
])('a line with %j is refused', (metadata, message) => {
  expect(() => checker.prepare({ answer: '', metadata })).toThrow(message);
});

test('a file’s own solution has to pass its tests, and its tests have to parse', () => {
  const task = { answer: '', metadata: { tests: ['add(1, 2) === 3', 'add(2, 0) === 2'] } };
  expect(checker.faultOf!(task)).toBeNull();
  expect(checker.faultOf!({ ...task, solution: `\`\`\`js\n${ADD}\n\`\`\`` })).toBeNull();
  expect(checker.faultOf!({ ...task, solution: 'const add = (a, b) => b + 1' })).toMatch(
    /solution.*failed at the test "add\(2, 0\)/,
  );
  expect(checker.faultOf!({ answer: '', metadata: { tests: ['add(1, 2 === 3'] } })).toMatch(
    /is no JavaScript/,
  );
});

test('tests that an empty answer passes are refused; a task may ask for a function called expect', () => {
  expect(checker.faultOf!({ answer: '', metadata: { tests: ['// add(1, 2) === 3'] } })).toMatch(
    /empty answer/,
  );
  const metadata = { tests: ['expect(1).toBe(1)'], entry: 'expect' };
  const program = 'const expect = (a) => ({ toBe: (b) => a === b })';
  expect(checked(metadata, program)).toEqual(right);
});

test('the steps are a setting', () => {
  const metadata = { tests: ['sum(20000) > 0'] };
  const program = 'const sum = (n) => { let s = 0; for (let i = 0; i < n; i++) s += i; return s }';
  expect(programChecker().prepare({ answer: '', metadata })(program)).toEqual(right);
  const few = findChecker('{"name": "program", "steps": 50000}');
  expect(few.prepare({ answer: '', metadata })(program)).toEqual({ ok: false, reason: 'out-of-steps' });
  expect(() => findChecker('{"name": "program", "steps": 5}')).toThrow(/no checker/);
});
