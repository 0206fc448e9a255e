/** What this project's tokenizer adds to the library's: words of their own, special tokens around a text, the bytes of a token. */
import { expect, test } from 'vitest';
import { byteCharacters } from '../../../core/text/byte-pairs.ts';
import { after, untilText } from '../../../core/text/token-grammar.ts';
import { openTokenizer } from '../../../core/text/tokenizer.ts';

const added = (id: number, content: string, more = {}) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
  ...more,
});

/** Every byte is a token, 0 to 255; then `<s>` and the word `ing`. */
const byteLevel = (more = {}) => ({
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [added(256, '<s>'), added(257, 'ing', { single_word: true, special: false })],
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  post_processor: null,
  decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
  model: {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    vocab: Object.fromEntries(byteCharacters().map((character, byte) => [character, byte])),
    merges: [],
  },
  ...more,
});
const bytes = (text: string) => [...new TextEncoder().encode(text)];

test('a token of a single word is matched where it is a word alone', () => {
  const tokenizer = openTokenizer(byteLevel());
  expect(tokenizer.encode('king')).toEqual(bytes('king'));
  expect(tokenizer.encode('ing_')).toEqual(bytes('ing_'));
  expect(tokenizer.encode('a ing, ing')).toEqual([...bytes('a '), 257, ...bytes(', '), 257]);
  expect(tokenizer.decode(tokenizer.encode('a ing, king'))).toBe('a ing, king');
});

test('a whole text has the special tokens that the tokenizer puts around it, once', () => {
  const tokenizer = openTokenizer(
    byteLevel({
      post_processor: {
        type: 'TemplateProcessing',
        single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
        pair: [{ Sequence: { id: 'A', type_id: 0 } }],
        special_tokens: { '<s>': { id: '<s>', ids: [256], tokens: ['<s>'] } },
      },
    }),
  );
  expect(tokenizer.encodeWhole('ab')).toEqual([256, ...bytes('ab')]);
  expect(tokenizer.encodeWhole('<s>ab')).toEqual([256, ...bytes('ab')]);
  expect(tokenizer.encodeWhole('ing ab')).toEqual([256, 257, ...bytes(' ab')]);
  expect(tokenizer.encode('ab')).toEqual(bytes('ab'));
});

test('a stop string ends on its bytes, in whatever tokens they come', () => {
  const tokenizer = openTokenizer(byteLevel());
  const text = (id: number) => String.fromCharCode(...tokenizer.bytes(id));
  const texts = Array.from({ length: 258 }, (_, id) => text(id));
  expect(texts[256]).toBe('<s>');
  for (const stop of ['é', ' b', '🙂']) {
    const ids = bytes(stop);
    const grammar = untilText([String.fromCharCode(...ids)], texts);
    const end = bytes(`a${stop}`).reduce((state, id) => after(grammar, state, id), 0);
    expect(grammar.ends[end], stop).toBe(true);
    const before = bytes(`a${stop}`)
      .slice(0, -1)
      .reduce((state, id) => after(grammar, state, id), 0);
    expect(grammar.ends[before], stop).toBe(false);
  }
});
