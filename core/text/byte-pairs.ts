/**
 * Makes a byte-level BPE tokenizer in Hugging Face's format from sample texts (Sennrich et al., 2016, on bytes as GPT-2 has them): letters
 * with the space before them are one word, every digit is a word of its own. Any text can be encoded, since every byte is a token.
 */

import { wrongInput } from '../errors.ts';
import { bpeFile } from './bpe-file.ts';

/** Words, between which nothing is merged. */
const WORD = ' ?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]|\\s';

/** The printable character that stands for each byte, as GPT-2 assigns them: [256]. */
export function byteCharacters(): string[] {
  const isPrintable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : next++));
}

/** The most frequent pair of neighbours, the first in the order of text among equals; null where no pair is there twice. */
function mostFrequent(
  words: readonly { parts: readonly string[]; count: number }[],
): [string, string] | null {
  const counts = new Map<string, number>();
  for (const { parts, count } of words)
    for (let i = 0; i + 1 < parts.length; i++) {
      const pair = `${parts[i]} ${parts[i + 1]}`;
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  const [best] = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  return best && best[1] > 1 ? (best[0].split(' ') as [string, string]) : null;
}

function merged(parts: readonly string[], [first, second]: readonly [string, string]): string[] {
  const out: string[] = [];
  for (let i = 0; i < parts.length; i++)
    if (parts[i] === first && parts[i + 1] === second) {
      out.push(first + second);
      i++;
    } else out.push(parts[i]!);
  return out;
}

export interface BytePairSettings {
  readonly texts: Iterable<string>;
  readonly vocabSize: number;
  /** Tokens with the ids 0, 1, …: `control` structures a conversation, `marks` may stand in a message. They are never split or merged. */
  readonly control: readonly string[];
  readonly marks: readonly string[];
}

/**
 * The tokenizer.json. The same texts give the same tokenizer. Throws `tokenizer.texts` where the texts have too few words for the size.
 */
export function bytePairTokenizer({ texts, vocabSize, control, marks }: BytePairSettings): object {
  const added = [...control, ...marks];
  const characters = byteCharacters();
  const counts = new Map<string, number>();
  const encoder = new TextEncoder();
  for (const text of texts) {
    const rest = added.reduce((left, token) => left.replaceAll(token, '\n'), text);
    for (const [word] of rest.matchAll(new RegExp(WORD, 'gu'))) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  let words = [...counts].map(([word, count]) => ({
    parts: [...encoder.encode(word)].map((byte) => characters[byte]!),
    count,
  }));
  const tokens = [...added, ...characters];
  const merges: [string, string][] = [];
  while (tokens.length < vocabSize) {
    const pair = mostFrequent(words);
    if (!pair)
      throw wrongInput('tokenizer.texts', `The texts give ${tokens.length} tokens.`, {
        expected: `texts with more different words, for ${vocabSize} tokens`,
        next: 'Ask for a smaller vocabulary, or give more texts.',
      });
    merges.push(pair);
    tokens.push(pair.join(''));
    words = words.map(({ parts, count }) => ({ parts: merged(parts, pair), count }));
  }
  return bpeFile({
    tokens,
    added,
    special: control.length,
    unknown: null,
    merges,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: WORD }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
  });
}
