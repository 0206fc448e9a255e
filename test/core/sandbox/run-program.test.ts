/** The tool that runs a program: what it says of values, errors and limits, and that nothing which a program changes changes that. */
import { expect, test } from 'vitest';
import { quickJs } from '../../../core/sandbox/quickjs.ts';
import { MOST_WRITTEN, runProgram } from '../../../core/sandbox/run-program.ts';
import { runJavaScript } from '../../../sdk.ts';
import { HOSTILE } from './hostile.ts';

const ran = (program: string, steps?: number) =>
  runProgram(quickJs(), program, steps === undefined ? {} : { steps });
const text = (program: string) => ran(program).text;

test('what is written comes first, then the value of the last expression', () => {
  expect(text('console.log("a", 1, [2, "b"]); const x = { y: -0 }; x')).toBe('a 1 [2, "b"]\n{y: -0}');
  expect(text('await Promise.resolve(new Map([[1, new Set(["é"])]]))')).toBe('Map {1 => Set {"é"}}');
  expect(text('let x = 3;')).toBe('The program wrote nothing.');
  expect(text('const a = []; a[0] = a; a')).toBe('[[circular]]');
  expect(text('(() => 1)')).toBe('[function]');
});

test('an agent runs the same by the package', () => {
  expect(runJavaScript('6 * 7')).toEqual(ran('6 * 7'));
  expect(runJavaScript('for (;;);', { steps: 5000 })).toMatchObject({ outcome: 'out-of-steps', steps: 5000 });
});

test('errors are said, and so is what is missing in the engine', () => {
  expect(ran('console.log(1); null.x')).toMatchObject({
    outcome: 'threw',
    text: expect.stringMatching(/^1\nTypeError: /),
  });
  expect(ran('let = ;')).toMatchObject({ outcome: 'syntax', text: expect.stringMatching(/^SyntaxError: /) });
  for (const name of ['fetch', 'process', 'require', 'setTimeout', 'XMLHttpRequest'])
    expect(text(name)).toBe(`ReferenceError: ${name} is not defined`);
  // Time stands still at the first moment of 2000, and chance is the same each time.
  expect(text('Date.now()')).toBe(String(Date.UTC(2000, 0, 1)));
  expect(text('Math.random()')).toBe(text('Math.random()'));
});

test('every limit is named', () => {
  expect(ran('for (;;);')).toMatchObject({ outcome: 'out-of-steps', steps: 2_000_000 });
  expect(ran('for (;;) console.log("x".repeat(1e6))').text).toMatch(/too many steps/);
  expect(ran('const all = []; for (;;) all.push("x".repeat(1e5) + all.length)').outcome).toMatch(/^out-of/);
  expect(ran('await new Promise(() => {})')).toMatchObject({
    outcome: 'waits',
    text: 'The program awaits what never comes.',
  });
  expect(ran(`"${'x'.repeat(70_000)}"`).outcome).toBe('too-long');
  const { text: long, cut } = ran('"ä".repeat(4000)');
  expect(cut).toBe(true);
  // A quote and 2047 characters of two bytes are 4095 bytes; the next one would be cut in two.
  expect(long).toBe(`"${'ä'.repeat(2047)}\n… what follows after ${MOST_WRITTEN} bytes is left out`);
});

test('a program that takes the language apart changes nothing of what is said, nor of what the next one finds', () => {
  const wild = `Array.prototype.push = String.prototype.slice = JSON.stringify = null; Object.prototype.y = 1;
    console.log = () => { throw 1 }; globalThis.String = null; ({ get x() { for (;;); } })`;
  expect(text(wild)).toBe('{x: [getter]}');
  expect(text('new Proxy({}, { ownKeys() { throw 1 } })')).toBe('[a value that cannot be shown]');
  expect(text('throw { get name() { throw 1 }, toString() { for (;;); } }')).toMatch(/^\{name: \[getter\]/);
  expect(text('[typeof JSON.stringify, ({}).y]')).toBe('["function", undefined]');
});

test('hostile programs end, are bounded and do the same again', () => {
  for (const { program } of HOSTILE.filter((_, i) => i % 5 === 0)) {
    const first = ran(program, 100_000);
    expect(first.steps).toBeLessThanOrEqual(100_000);
    expect(first.text.length).toBeLessThan(MOST_WRITTEN + 200);
    expect(ran(program, 100_000)).toEqual(first);
  }
});
