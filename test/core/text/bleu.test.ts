import { expect, test } from 'vitest';
import { bleu, charBleu } from '../../../core/text/bleu.ts';

test('BLEU by hand', () => {
  // One order missing counts 0.1: 2/3 of the letters, 1/2 of the pairs, 0.1 of the one triple.
  expect(bleu([...'abc'], [...'abd'])).toBeCloseTo(Math.cbrt((2 / 3) * (1 / 2) * 0.1), 12);
  // Three a, of which the reference has two; aa and aaa are missing: 0.1 of two and 0.1 of one.
  expect(bleu([...'aaa'], [...'aba'])).toBeCloseTo(Math.cbrt((2 / 3) * (0.1 / 2) * 0.1), 12);
  // Half as long as its reference: exp(1 - 4/2).
  expect(bleu([...'ab'], [...'abcd'])).toBeCloseTo(Math.exp(-1), 12);
  // Longer than its reference: no brevity penalty; 2/4, 1/3, and 0.1 of two triples and of one quadruple.
  expect(bleu([...'abcd'], [...'ab'])).toBeCloseTo(((2 / 4) * (1 / 3) * (0.1 / 2) * 0.1) ** 0.25, 12);
});

test('of nothing, and of equal texts of any length', () => {
  expect(charBleu('', '')).toBe(0);
  expect(charBleu('', 'a')).toBe(0);
  for (const text of ['3', '3+4', '3+4-9+2-1']) expect(charBleu(text, text)).toBeCloseTo(1, 12);
});

test('both directions count the same', () => {
  expect(charBleu('ab', 'abcd')).toBe(charBleu('abcd', 'ab'));
  expect(charBleu('ab', 'abcd')).toBeCloseTo(
    (Math.exp(-1) + ((2 / 4) * (1 / 3) * (0.1 / 2) * 0.1) ** 0.25) / 2,
    12,
  );
});
