import { expect, test } from 'vitest';
import { type Extraction, extractAnswer, parseExtractions } from '../../../core/checkers/extract.ts';
import { findChecker } from '../../../core/checkers/registry.ts';
import { processorTime } from '../../processor-time.ts';

const extract = (text: string, ...extractions: Extraction[]) => {
  const parsed = extractAnswer(text, extractions);
  return parsed.ok ? parsed.value : { reason: parsed.reason };
};

test.each([
  [String.raw`So it is \boxed{42}.`, '42'],
  [String.raw`\boxed{1} and then \boxed{\frac{1}{2}}`, String.raw`\frac{1}{2}`],
  [String.raw`\boxed{\{1, 2\}}`, String.raw`\{1, 2\}`],
  [String.raw`\boxed 7`, '7'],
  // The last one is cut off: the last whole one counts.
  [String.raw`\boxed{3} hmm \boxed{4`, '3'],
  ['no box', { reason: 'no-box' }],
  [String.raw`\boxed{ }`, { reason: 'empty' }],
])('boxed: %s', (text, expected) => expect(extract(text, 'boxed')).toEqual(expected));

test.each([
  ['<think>1</think><answer> 2 </answer>', '2'],
  ['<answer>1</answer><answer>2</answer> done', '2'],
  ['<step>3<answer>-7', '-7'],
  ['2', { reason: 'no-answer-tag' }],
  ['<answer></answer>', { reason: 'empty' }],
])('answer: %s', (text, expected) => expect(extract(text, 'answer')).toEqual(expected));

test.each([
  ['The total is 1,234.50 dollars.', '1,234.50'],
  ['It is $5.', '$5'],
  ['3 + 4 = 7.', '7'],
  ['So x = -3', '-3'],
  ['5-3', '3'],
  ['(2)-1', '1'],
  ['between 1 and 3/4', '3/4'],
  ['a rise of 12 %', '12 %'],
  ['1, 2, 3', '3'],
  ['x2', '2'],
  ['1.5e3', '1.5e3'],
  ['none', { reason: 'no-number' }],
])('last-number: %s', (text, expected) => expect(extract(text, 'last-number')).toEqual(expected));

test('GSM8K’s mark, the whole text, and several in order', () => {
  expect(extract('48/2 = <<48/2=24>>24\n#### 72', 'hashes')).toBe('72');
  expect(extract('72', 'hashes')).toEqual({ reason: 'no-hashes' });
  expect(extract(' all of it \n', 'whole')).toBe('all of it');
  expect(extract(' ', 'whole')).toEqual({ reason: 'empty' });
  expect(extract(String.raw`<answer>\boxed{1}</answer>`, 'boxed', 'answer')).toBe('1');
  expect(extract('<answer>2</answer>', 'boxed', 'answer')).toBe('2');
  expect(extract('3', 'boxed', 'answer')).toEqual({ reason: 'no-answer-tag' });
});

test('a long text of digits or braces takes no time', () => {
  const taken = processorTime();
  for (const text of ['1'.repeat(100_000), '1,'.repeat(50_000), '\\boxed{'.repeat(2000), '- '.repeat(50_000)])
    extract(text, 'boxed', 'last-number');
  expect(taken()).toBeLessThan(5000);
});

test('names that there are not are refused with those that there are', () => {
  expect(parseExtractions('boxed, last-number')).toEqual(['boxed', 'last-number']);
  expect(() => parseExtractions('box')).toThrow(
    /no extraction "box"\. Expected one or more of boxed, answer/,
  );
  expect(() => findChecker('numbr')).toThrow(/no checker "numbr"\. Expected one of auto, exact, number/);
  expect(() => findChecker('{"name": "number", "tolerance": 2}')).toThrow(/no checker/);
  const close = findChecker('{"name": "number", "tolerance": 0.1}').prepare({ answer: '10', metadata: {} });
  expect(close('11')).toEqual({ ok: true, value: true });
  expect(findChecker('auto').prepare({ answer: 'red', metadata: {} })('Red')).toEqual({
    ok: true,
    value: false,
  });
});
