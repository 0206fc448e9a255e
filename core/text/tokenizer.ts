/** Implements the roles' `Tokenizer` interface for a Hugging Face tokenizer.json, with @huggingface/tokenizers. */
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';
import * as v from 'valibot';
import { wrongInput } from '../errors.ts';
import { byteCharacters } from './byte-pairs.ts';
import type { Tokenizer } from './tokenizer-port.ts';

/** The parts of a tokenizer.json that the library does not heed. */
const parts = v.looseObject({
  added_tokens: v.optional(
    v.array(
      v.looseObject({ id: v.number(), content: v.string(), single_word: v.optional(v.boolean(), false) }),
    ),
    [],
  ),
});

/**
 * `json` is the parsed tokenizer.json, `config` the parsed tokenizer_config.json where there is one. Throws `wrong-input`
 * where the file is no tokenizer.
 */
export function openTokenizer(json: unknown, config: object = {}): Tokenizer {
  const inner = open(json, config);
  const vocabulary = inner.get_vocab(true);
  // Not Math.max of all ids: a call cannot take a hundred thousand arguments.
  const size = [...vocabulary.values()].reduce((most, id) => Math.max(most, id + 1), 0);
  const encode = wordEncoder(json, config, inner);
  // The library refuses to decode an empty list.
  const decode = (ids: readonly number[]) =>
    ids.length ? inner.decode([...ids], { skip_special_tokens: false }) : '';
  let bytes: ((id: number) => Uint8Array) | undefined;
  return {
    encode: (text) => encode(text, false),
    encodeWhole: (text) => wholeOf(encode(text, true), encode(text, false)),
    bytes: (id) => {
      bytes ??= tokenBytes(inner, decode);
      return bytes(id);
    },
    decode,
    id: (token) => {
      const id = inner.token_to_id(token);
      if (id !== undefined) return id;
      throw wrongInput('tokenizer.token', `The tokenizer has no token ${JSON.stringify(token)}.`, {
        next: 'Use a policy whose tokenizer knows the roles’ tags.',
      });
    },
    vocabSize: size,
  };
}

function open(json: unknown, config: object): HfTokenizer {
  try {
    // Without this flag decoding would drop spaces before punctuation, and the text would not encode to the same ids.
    return new HfTokenizer(json as object, { clean_up_tokenization_spaces: false, ...config });
  } catch (cause) {
    throw wrongInput('tokenizer.json', 'The tokenizer.json could not be read.', {
      expected: 'a Hugging Face tokenizer.json',
      cause,
    });
  }
}

/** The ids with special tokens, but for one at the beginning that the text has already. */
function wholeOf(withSpecial: number[], plain: readonly number[]): number[] {
  const added = withSpecial.length - plain.length;
  return added > 0 && withSpecial[0] === withSpecial[added] && plain[0] === withSpecial[0]
    ? withSpecial.slice(added)
    : withSpecial;
}

type Encode = (text: string, special: boolean) => number[];

/**
 * The encoder, with tokens that are matched only where they are words of their own (`single_word`), which the library matches everywhere: the text
 * is cut at those, and the rest is encoded without them.
 */
function wordEncoder(json: unknown, config: object, inner: HfTokenizer): Encode {
  const read = v.safeParse(parts, json);
  const words = read.success ? read.output.added_tokens.filter(({ single_word: word }) => word) : [];
  if (!read.success || words.length === 0)
    return (text, special) => inner.encode(text, { add_special_tokens: special }).ids;
  const others = read.output.added_tokens.filter((token) => !words.includes(token));
  const without = open({ ...read.output, added_tokens: others }, config);
  const idOf = new Map(words.map(({ content, id }) => [content, id]));
  const texts = words
    .map(({ content }) => content)
    .sort((a, b) => b.length - a.length)
    .map((content) => content.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${texts.join('|')})(?![\\p{L}\\p{N}_])`, 'gu');
  return (text, special) => {
    const ids: number[] = [];
    let at = 0;
    const take = (end: number) => {
      // Special tokens stand around the whole text: the first piece has those before it.
      const first = special && at === 0;
      if (end > at || first)
        ids.push(...without.encode(text.slice(at, end), { add_special_tokens: first }).ids);
    };
    for (const { index, 0: word } of text.matchAll(pattern)) {
      take(index);
      ids.push(idOf.get(word)!);
      at = index + word.length;
    }
    if (at < text.length || at === 0) take(text.length);
    return ids;
  };
}

/**
 * The bytes of each token in the middle of a text: what it adds to the text of another token. A token that is a part of a letter has no text of its
 * own; its bytes are told by its name, in GPT-2's alphabet of bytes or as `<0xE2>`.
 */
function tokenBytes(
  inner: HfTokenizer,
  decode: (ids: readonly number[]) => string,
): (id: number) => Uint8Array {
  const encoder = new TextEncoder();
  const before = inner.encode('a', { add_special_tokens: false }).ids.slice(-1);
  const start = decode(before);
  const byteOf = new Map(byteCharacters().map((character, byte) => [character, byte]));
  return (id) => {
    let text: string;
    try {
      const both = decode([...before, id]);
      text = both.startsWith(start) ? both.slice(start.length) : decode([id]);
    } catch {
      return new Uint8Array();
    }
    const name = inner.id_to_token(id) ?? '';
    const fallback = /^<0x([0-9A-F]{2})>$/.exec(name)?.[1];
    if (fallback !== undefined) return Uint8Array.of(Number.parseInt(fallback, 16));
    if (!text.includes('\ufffd')) return encoder.encode(text);
    const bytes = [...name].map((character) => byteOf.get(character));
    return bytes.every((byte) => byte !== undefined) ? Uint8Array.from(bytes) : encoder.encode(text);
  };
}
