/** A response as tokens, with those of one of its words marked: where a planted fault lies. */
import { STOP } from '../worked.ts';

/** The tokens of a response of these words, and 1 on those of the word at a place, 0 elsewhere. */
export function withWordMarked(
  words: readonly string[],
  at: number,
  encode: (text: string) => readonly number[],
): { readonly ids: number[]; readonly marks: (0 | 1)[] } {
  const pieces = words.flatMap((word, i) => [
    { text: i === 0 ? '<answer>' : ' ', mark: 0 as const },
    { text: word, mark: i === at ? (1 as const) : (0 as const) },
  ]);
  const each = [...pieces, { text: STOP, mark: 0 as const }].map(({ text, mark }) => ({
    ids: encode(text),
    mark,
  }));
  return {
    ids: each.flatMap(({ ids }) => [...ids]),
    marks: each.flatMap(({ ids, mark }) => ids.map(() => mark)),
  };
}
