/**
 * A token grammar says which tokens may follow which: it is a finite automaton over token ids. A policy samples only tokens that it
 * allows, so no completion can leave it. It does not parse text: build one from token ids, or from strings with a tokenizer.
 *
 * Most tokens of a vocabulary mean the same to a grammar. Tokens that lead from every state to the same states are a class, and the table of
 * transitions is by class: with 150,000 tokens it has some hundred numbers where a table by token would have some million.
 */
import * as v from 'valibot';
import { wrongInput } from '../errors.ts';
import { deriveId } from '../random.ts';
import { count, positive } from '../schema/numbers.ts';

export interface TokenGrammar {
  readonly vocabSize: number;
  /** Number of states; generation starts in state 0. */
  readonly states: number;
  /** [vocabSize]: the class of each token. */
  readonly classOf: Int32Array;
  /** [states][classes]: the state after a token of the class, or -1 where none of them may come. */
  readonly next: readonly Int32Array[];
  /** [states]: does generation end on arriving there? */
  readonly ends: readonly boolean[];
}

/** The most transitions, classes times states, that a grammar has which is made for a request: 4 MB. */
export const MOST_TRANSITIONS = 1 << 20;

/** The state after a token, or -1 where it may not come. */
export const after = ({ next, classOf }: TokenGrammar, state: number, token: number): number =>
  next[state]![classOf[token]!]!;

/** Whether some token may not come in a state. A class without tokens restricts nothing. */
export function restricts({ next, classOf }: TokenGrammar, state: number): boolean {
  const row = next[state]!;
  return row.some((to) => to < 0) && classOf.some((of) => row[of]! < 0);
}

const token = (id: number, vocabSize: number): number => {
  if (Number.isInteger(id) && id >= 0 && id < vocabSize) return id;
  throw wrongInput('grammar.token', `Token id ${id} is not in the vocabulary.`, {
    expected: `integers from 0 to ${vocabSize - 1}`,
  });
};

/** Makes classes of tokens by where they lead: `columns` has the states [states] after each token that is not like `others`. */
function grammarOf(
  vocabSize: number,
  ends: readonly boolean[],
  columns: Iterable<readonly [id: number, column: readonly number[]]>,
  others: readonly number[],
): TokenGrammar {
  const classes = new Map([[others.join(), 0]]);
  const found = [others];
  const classOf = new Int32Array(vocabSize);
  for (const [id, column] of columns) {
    const key = column.join();
    let known = classes.get(key);
    if (known === undefined) {
      known = found.push(column) - 1;
      classes.set(key, known);
    }
    classOf[id] = known;
  }
  const next = ends.map((_, state) => Int32Array.from(found, (column) => column[state]!));
  return { vocabSize, states: ends.length, classOf, next, ends };
}

/** The grammar of transitions that are listed; what is not listed may not come. */
function listed(
  vocabSize: number,
  ends: readonly boolean[],
  transitions: readonly ReadonlyMap<number, number>[],
): TokenGrammar {
  const ids = new Set(transitions.flatMap((row) => [...row.keys()]));
  const columns = Array.from(ids, (id) => [id, transitions.map((row) => row.get(id) ?? -1)] as const);
  return grammarOf(vocabSize, ends, columns, new Array<number>(ends.length).fill(-1));
}

/** Allows exactly one of the given sequences. None may be the beginning of another, since the grammar ends with the first it has read. */
export function oneOf(sequences: readonly (readonly number[])[], vocabSize: number): TokenGrammar {
  const rows: Map<number, number>[] = [];
  const ends: boolean[] = [];
  const addState = (): number => {
    ends.push(false);
    return rows.push(new Map()) - 1;
  };
  addState();
  for (const sequence of sequences) {
    let state = 0;
    for (const id of sequence) {
      if (ends[state]) break;
      const row = rows[state]!;
      const known = row.get(token(id, vocabSize)) ?? addState();
      row.set(id, known);
      state = known;
    }
    if (state === 0 || rows[state]!.size > 0 || ends[state])
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
  return listed(vocabSize, ends, rows);
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
  const rows = Array.from({ length: most + 2 }, (_, counted) => {
    const row = new Map<number, number>();
    if (counted < most) for (const id of ids) row.set(token(id, vocabSize), counted + 1);
    if (counted >= least && counted <= most) row.set(token(end, vocabSize), most + 1);
    return row;
  });
  return listed(
    vocabSize,
    rows.map((_, state) => state === most + 1),
    rows,
  );
}

/**
 * Allows anything until the text so far contains one of `strings`. `texts` are the texts of all token ids, in order; a string may
 * begin in one token and end in another. The tokens that complete it are part of the completion.
 */
export function untilText(strings: readonly string[], texts: readonly string[]): TokenGrammar {
  if (strings.length === 0 || strings.includes(''))
    throw wrongInput('grammar.stop', 'A stop string is empty.', { expected: 'one or more strings' });
  // A state is the longest suffix of the text that begins one of the strings (Aho and Corasick's automaton).
  const beginnings = [
    ...new Set(strings.flatMap((s) => Array.from({ length: s.length }, (_, i) => s.slice(0, i)))),
  ];
  const done = beginnings.length;
  const step = characterSteps(strings, beginnings);
  const walk = (from: number, text: string): number => {
    let state = from;
    for (let i = 0; i < text.length && state !== done; i++) state = step.get(text[i]!)?.[state] ?? 0;
    return state;
  };
  // A first character that leads everywhere to where it leads from the root makes a token forget the state it came in.
  const forgets = (character: string): boolean => {
    const row = step.get(character);
    return row === undefined || row.every((to) => to === row[0]);
  };
  const column = (text: string): number[] => {
    const states =
      text !== '' && forgets(text[0]!)
        ? new Array<number>(done).fill(walk(0, text))
        : beginnings.map((_, state) => walk(state, text));
    return [...states, done];
  };
  const others = [...new Array<number>(done).fill(0), done];
  const ends = Array.from({ length: done + 1 }, (_, state) => state === done);
  return grammarOf(
    texts.length,
    ends,
    texts.map((text, id) => [id, column(text)] as const),
    others,
  );
}

/** By character of the strings: the state [states] after it. Every other character leads to state 0. */
function characterSteps(
  strings: readonly string[],
  beginnings: readonly string[],
): ReadonlyMap<string, readonly number[]> {
  const indexOf = new Map(beginnings.map((text, state) => [text, state]));
  const afterText = (seen: string): number => {
    if (strings.some((s) => seen.endsWith(s))) return beginnings.length;
    for (let from = 0; ; from++) {
      const state = indexOf.get(seen.slice(from));
      if (state !== undefined) return state;
    }
  };
  const characters = new Set(strings.flatMap((s) => Array.from({ length: s.length }, (_, i) => s[i]!)));
  return new Map(Array.from(characters, (c) => [c, beginnings.map((text) => afterText(text + c))]));
}

/** Allows what both grammars allow; ends where either does. Throws `grammar.size` where that needs more than MOST_TRANSITIONS. */
export function both(a: TokenGrammar, b: TokenGrammar): TokenGrammar {
  const { vocabSize } = a;
  if (b.vocabSize !== vocabSize)
    throw wrongInput('grammar.vocabulary', `Grammars over ${vocabSize} and ${b.vocabSize} tokens.`, {
      expected: 'the same vocabulary',
    });
  // A class of both is a class of one within a class of the other.
  const pairs = new Map<string, number>();
  const found: (readonly [number, number])[] = [];
  const classOf = Int32Array.from(a.classOf, (ofA, id) => {
    const ofB = b.classOf[id]!;
    const key = `${ofA}/${ofB}`;
    const known = pairs.get(key) ?? found.push([ofA, ofB]) - 1;
    pairs.set(key, known);
    return known;
  });
  const ends: boolean[] = [];
  const next: Int32Array[] = [];
  // Only those pairs of states that are reached together.
  const reached: (readonly [number, number])[] = [[0, 0]];
  const numberOf = new Map([[0, 0]]);
  for (const [i, j] of reached) {
    const isEnd = a.ends[i]! || b.ends[j]!;
    ends.push(isEnd);
    const row = new Int32Array(found.length).fill(-1);
    next.push(row);
    for (let of = 0; of < row.length && !isEnd; of++) {
      const [ofA, ofB] = found[of]!;
      const [x, y] = [a.next[i]![ofA]!, b.next[j]![ofB]!];
      if (x < 0 || y < 0) continue;
      row[of] = numberOf.get(x * b.states + y) ?? reached.push([x, y]) - 1;
      numberOf.set(x * b.states + y, row[of]!);
    }
    if (next.length * found.length > MOST_TRANSITIONS)
      throw wrongInput(
        'grammar.size',
        `Two grammars of ${a.states} and ${b.states} states are too large together.`,
        { next: 'Ask for a smaller form, or for fewer or shorter stop strings.' },
      );
  }
  return { vocabSize, states: next.length, classOf, next, ends };
}

/** A grammar as JSON. The tokens of each class are listed, except those of the largest class, which are all others. */
export const packedGrammar = v.object({
  vocabSize: positive,
  ends: v.array(v.boolean()),
  next: v.array(v.array(v.pipe(v.number(), v.safeInteger(), v.minValue(-1)))),
  /** The class whose tokens are not listed. */
  rest: count,
  tokens: v.array(v.array(count)),
});
export type PackedGrammar = v.InferOutput<typeof packedGrammar>;

export function packGrammar({ vocabSize, classOf, next, ends }: TokenGrammar): PackedGrammar {
  const sizes = new Int32Array(next[0]!.length);
  for (const of of classOf) sizes[of]!++;
  const rest = sizes.indexOf(sizes.reduce((most, size) => Math.max(most, size), 0));
  const tokens: number[][] = Array.from(sizes, () => []);
  classOf.forEach((of, id) => {
    if (of !== rest) tokens[of]!.push(id);
  });
  return { vocabSize, ends: [...ends], next: next.map((row) => [...row]), rest, tokens };
}

/** The grammar of its JSON. Throws `grammar.packed` where a state, a class or a token is named that there is not. */
export function unpackGrammar({ vocabSize, ends, next, rest, tokens }: PackedGrammar): TokenGrammar {
  const classOf = new Int32Array(vocabSize).fill(rest);
  const states = ends.length;
  const fits =
    states > 0 &&
    next.length === states &&
    rest < tokens.length &&
    next.every((row) => row.length === tokens.length && row.every((to) => to < states)) &&
    tokens.every((ids) => ids.every((id) => id < vocabSize));
  if (!fits)
    throw wrongInput(
      'grammar.packed',
      'A packed grammar names a state, a class or a token that there is not.',
    );
  for (const [of, ids] of tokens.entries()) for (const id of ids) classOf[id] = of;
  return { vocabSize, states, classOf, next: next.map((row) => Int32Array.from(row)), ends };
}

const keys = new WeakMap<TokenGrammar, string>();

/** A short text that stands for a grammar in keys. */
export function grammarKey(grammar: TokenGrammar): string {
  const known = keys.get(grammar) ?? deriveId('grammar', JSON.stringify(packGrammar(grammar)));
  keys.set(grammar, known);
  return known;
}
