/** Which regular expressions of a tokenizer may run where nothing can interrupt them. */
import { expect, test } from 'vitest';
import { costOfPattern, patternsOf, refuseCostlyPatterns } from '../../../core/text/pattern-cost.ts';
import { processorTime } from '../../processor-time.ts';

/** As their tokenizer.json files have them. */
const IN_USE = {
  'GPT-2': String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
  'Llama 3': String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
  'Qwen 2': String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
  'GPT-4': String.raw`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`,
  'GPT-4o': String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
  digits: String.raw`\d`,
  spaces: ' {2,}',
  'a class with brackets': String.raw`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_{|}~][A-Za-z]+`,
};

test.each(Object.entries(IN_USE))('the expression of %s may', (_, pattern) => {
  expect(costOfPattern(pattern)).toBeNull();
});

test.each([
  ['a repeated repetition', '(a+)+$', 'group'],
  ['repeated alternatives', '(a|a)*$', 'group'],
  ['the same, often and bounded', '(?:a|a){60}$', 'group'],
  ['the same in a group', '((a|ab))+c', 'group'],
  ['three repetitions before an end', 'a*a*a*b', '3 parts'],
  ['two repetitions before an end', String.raw`\s*\s*x`, '2 parts'],
  ['the same over groups', '(a*)(?:a*)b', '2 parts'],
  ['the same with large bounds', 'a{0,5000}a{0,5000}b', '2 parts'],
  ['the same in a lookahead', '(?=a*a*b)', '2 parts'],
  ['a reference', String.raw`(a*)\1b`, 'refers back'],
  ['an open parenthesis', '(a', 'without an end'],
  ['one too many', 'a)', 'too many'],
  ['an open class', '[a', 'cannot be read'],
  ['great length', 'a'.repeat(20_001), '20001 characters'],
])('%s may not', (_, pattern, why) => {
  expect(costOfPattern(pattern)).toContain(why);
});

test('the greatest cost that is let through is a few milliseconds for thousands of characters', () => {
  // One repetition that is tried again from each place of the text, and never succeeds.
  expect(costOfPattern('a*b')).toBeNull();
  const taken = processorTime();
  expect(/a*b/u.test('a'.repeat(4_000))).toBe(false);
  expect(taken()).toBeLessThan(5_000);
});

test('is found anywhere in a tokenizer.json and refused with the expression', () => {
  const json = {
    pre_tokenizer: { pretokenizers: [{ pattern: { Regex: 'a' } }, { pattern: { Regex: '(a+)+$' } }] },
  };
  expect(patternsOf(json)).toEqual(['a', '(a+)+$']);
  expect(() => refuseCostlyPatterns(json)).toThrow(/may take long: it repeats a group: "\(a\+\)\+\$"/);
  expect(() => refuseCostlyPatterns({ pre_tokenizer: null })).not.toThrow();
});
