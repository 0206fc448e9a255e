/**
 * A token grammar says which tokens may follow which: it is a finite automaton over token ids. A policy samples only tokens that it
 * allows, so no completion can leave it. It does not parse text: build one from token ids, or from strings with a tokenizer.
 */
import { wrongInput } from '../errors.ts';

export interface TokenGrammar {
  readonly vocabSize: number;
  /** Number of states; generation starts in state 0. */
  readonly states: number;
  /** [states * vocabSize]: the state after a token, or -1 where the token may not come. */
  readonly next: Int32Array;
  /** [states]: does generation end on arriving there? */
  readonly ends: readonly boolean[];
}

const token = (id: number, vocabSize: number): number => {
  if (Number.isInteger(id) && id >= 0 && id < vocabSize) return id;
  throw wrongInput('grammar.token', `Token id ${id} is not in the vocabulary.`, {
    expected: `integers from 0 to ${vocabSize - 1}`,
  });
};

/** Allows exactly one of the given sequences. None may be the beginning of another, since the grammar ends with the first it has read. */
export function oneOf(sequences: readonly (readonly number[])[], vocabSize: number): TokenGrammar {
  const rows: Int32Array[] = [];
  const ends: boolean[] = [];
  const addState = (): number => {
    ends.push(false);
    return rows.push(new Int32Array(vocabSize).fill(-1)) - 1;
  };
  addState();
  for (const sequence of sequences) {
    let state = 0;
    for (const id of sequence) {
      if (ends[state]) break;
      const row = rows[state]!;
      const known = row[token(id, vocabSize)]!;
      state = known >= 0 ? known : addState();
      row[id] = state;
    }
    const goesOn = rows[state]!.some((next) => next >= 0);
    if (state === 0 || goesOn || ends[state])
      throw wrongInput(
        'grammar.prefix',
        `The sequence [${sequence}] is empty, there twice, or begins another.`,
        {
          expected: 'sequences of which none begins another',
          next: 'End each with a token that is only found there.',
        },
      );
    ends[state] = true;
  }
  return { vocabSize, states: rows.length, next: flat(rows, vocabSize), ends };
}

/** Allows between `least` and `most` tokens of a set, then `end`, which ends generation. */
export function someOf(
  ids: readonly number[],
  { least, most, end, vocabSize }: { least: number; most: number; end: number; vocabSize: number },
): TokenGrammar {
  if (!(least >= 0 && most >= least) || ids.includes(end))
    throw wrongInput('grammar.bounds', `${least} to ${most} tokens, then ${end}, cannot be read.`, {
      expected: 'least <= most and an end that is not in the set',
    });
  const rows = Array.from({ length: most + 2 }, (_, count) => {
    const row = new Int32Array(vocabSize).fill(-1);
    if (count < most) for (const id of ids) row[token(id, vocabSize)] = count + 1;
    if (count >= least && count <= most) row[token(end, vocabSize)] = most + 1;
    return row;
  });
  const ends = rows.map((_, state) => state === most + 1);
  return { vocabSize, states: rows.length, next: flat(rows, vocabSize), ends };
}

/**
 * Allows anything until the text so far contains one of `strings`. `texts` are the texts of all token ids, in order; a string may
 * begin in one token and end in another. The tokens that complete it are part of the completion.
 */
export function untilText(strings: readonly string[], texts: readonly string[]): TokenGrammar {
  if (strings.length === 0 || strings.includes(''))
    throw wrongInput('grammar.stop', 'A stop string is empty.', { expected: 'one or more strings' });
  // A state is the longest suffix of the text that begins one of the strings (Aho and Corasick's automaton, by brute force).
  const beginnings = [
    ...new Set(strings.flatMap((s) => Array.from({ length: s.length }, (_, i) => s.slice(0, i)))),
  ];
  const indexOf = new Map(beginnings.map((text, state) => [text, state]));
  const done = beginnings.length;
  const after = (seen: string): number => {
    if (strings.some((s) => seen.includes(s))) return done;
    for (let from = 0; from <= seen.length; from++) {
      const state = indexOf.get(seen.slice(from));
      if (state !== undefined) return state;
    }
    return 0;
  };
  const rows = [
    ...beginnings.map((text) => Int32Array.from(texts, (added) => after(text + added))),
    new Int32Array(texts.length).fill(done),
  ];
  return {
    vocabSize: texts.length,
    states: rows.length,
    next: flat(rows, texts.length),
    ends: rows.map((_, state) => state === done),
  };
}

/** Allows what both grammars allow; ends where either does. */
export function both(a: TokenGrammar, b: TokenGrammar): TokenGrammar {
  const { vocabSize } = a;
  if (b.vocabSize !== vocabSize)
    throw wrongInput('grammar.vocabulary', `Grammars over ${vocabSize} and ${b.vocabSize} tokens.`, {
      expected: 'the same vocabulary',
    });
  const next = new Int32Array(a.states * b.states * vocabSize);
  const ends: boolean[] = [];
  for (let i = 0; i < a.states; i++)
    for (let j = 0; j < b.states; j++) {
      ends.push(a.ends[i]! || b.ends[j]!);
      for (let id = 0; id < vocabSize; id++) {
        const [x, y] = [a.next[i * vocabSize + id]!, b.next[j * vocabSize + id]!];
        next[(i * b.states + j) * vocabSize + id] = x < 0 || y < 0 ? -1 : x * b.states + y;
      }
    }
  return { vocabSize, states: a.states * b.states, next, ends };
}

function flat(rows: readonly Int32Array[], vocabSize: number): Int32Array {
  const out = new Int32Array(rows.length * vocabSize);
  for (const [state, row] of rows.entries()) out.set(row, state * vocabSize);
  return out;
}
