/** The byte-level BPE trainer, against merges worked by hand and against the library that reads its files. */
import { describe, expect, test } from 'vitest';
import { bytePairTokenizer } from '../../../core/text/byte-pairs.ts';
import { openTokenizer } from '../../../core/text/tokenizer.ts';

const TOKENS = { control: ['<|end|>'], marks: ['<answer>'] };
const model = (json: object) =>
  (json as { model: { vocab: Record<string, number>; merges: string[][] } }).model;

describe('merges', () => {
  // low ×3, lower ×2: l+o and o+w stand 5 times each, and "l o" comes first; then lo+w 5, e+r 2, and "low er" after "low"+"e".
  const json = bytePairTokenizer({
    texts: ['low\nlow\nlow\nlower\nlower'],
    vocabSize: 2 + 256 + 4,
    ...TOKENS,
  });

  test('join the most frequent pair first, the first in order among equals', () => {
    expect(model(json).merges).toEqual([
      ['l', 'o'],
      ['lo', 'w'],
      ['e', 'r'],
      ['low', 'er'],
    ]);
  });

  test('a word becomes as few tokens as they allow', () => {
    const tokenizer = openTokenizer(json);
    expect(tokenizer.encode('lower').map((id) => tokenizer.decode([id]))).toEqual(['lower']);
    expect(tokenizer.encode('slower').map((id) => tokenizer.decode([id]))).toEqual(['s', 'lower']);
  });

  test('texts with too few words for the size are refused', () => {
    expect(() => bytePairTokenizer({ texts: ['aa aa'], vocabSize: 300, ...TOKENS })).toThrow(
      'The texts give 259 tokens.',
    );
  });
});

test('any text comes back, digits are single, and the tokens of the conversation are whole', () => {
  const tokenizer = openTokenizer(bytePairTokenizer({ texts: ['low low'], vocabSize: 260, ...TOKENS }));
  for (const text of ['Größe ≤ 12,5 €\n\n  x', '日本語 🙂', ' -7 - -7*-6=\t'])
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  expect(tokenizer.encode('123')).toHaveLength(3);
  expect(tokenizer.encode('<answer>4<|end|>')).toEqual([1, ...tokenizer.encode('4'), 0]);
});
