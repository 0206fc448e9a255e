/** The token grammar of a form: a policy samples only tokens after which the bytes so far can be completed to what the form says. */
import { wrongInput } from '../errors.ts';
import type { ByteAutomaton } from './byte-automaton.ts';
import { MOST_TRANSITIONS, type TokenGrammar } from './token-grammar.ts';

/** The most places, tokens times states, that are looked at: some seconds of processor time. */
const MOST_PLACES = 1 << 28;

/**
 * `bytes` [vocabulary]: of each token; one without may never come. The grammar ends where the automaton does. Throws `grammar.size` where the form is
 * too large for the vocabulary, and `grammar.tokens` where no tokens write it.
 */
export function grammarOfForm(form: ByteAutomaton, bytes: readonly Uint8Array[]): TokenGrammar {
  const order = inOrder(bytes);
  const shared = order.map((id, at) => (at ? commonLength(bytes[order[at - 1]!]!, bytes[id]!) : 0));
  const longest = order.reduce((most, id) => Math.max(most, bytes[id]!.length), 0);
  const stateOf = new Map([[0, 0]]);
  const found = [0];
  const classOf = new Int32Array(bytes.length);
  let classes = 1;
  /** The states after each beginning of a token. */
  const along = new Int32Array(longest + 1);
  for (let at = 0; at < found.length; at++) {
    if (found.length * order.length > MOST_PLACES) throw tooLarge(found.length, bytes.length);
    // Tokens of one class that lead to different states from here are different classes.
    const split = new Map<number, number>();
    along[0] = found[at]!;
    let good = 0;
    for (let i = 0; i < order.length; i++) {
      const id = order[i]!;
      const token = bytes[id]!;
      good = Math.min(good, shared[i]!);
      if (good < shared[i]!) continue;
      while (good < token.length) {
        along[good + 1] = form.step(along[good]!, token[good]!);
        if (along[good + 1]! < 0) break;
        good++;
      }
      if (good < token.length) continue;
      const to = along[good]!;
      if (!stateOf.has(to)) stateOf.set(to, found.push(to) - 1);
      // The states of an automaton have numbers that are far smaller.
      const key = classOf[id]! * 2 ** 24 + to;
      const own = split.get(key) ?? classes++;
      split.set(key, own);
      classOf[id] = own;
    }
  }
  return withoutDeadEnds(tableOf(form, bytes, classOf, found, stateOf));
}

const tooLarge = (states: number, tokens: number) =>
  wrongInput(
    'grammar.size',
    `The form needs ${states} states or more with a vocabulary of ${tokens} tokens.`,
    {
      next: 'Ask for fewer fields, shorter lists or less nesting.',
    },
  );

/** The ids of the tokens that have bytes, by these. */
const inOrder = (bytes: readonly Uint8Array[]): number[] =>
  [...bytes.keys()]
    .filter((id) => bytes[id]!.length)
    .sort((a, b) => {
      const [x, y] = [bytes[a]!, bytes[b]!];
      const at = commonLength(x, y);
      return (x[at] ?? -1) - (y[at] ?? -1);
    });

function commonLength(a: Uint8Array, b: Uint8Array): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
}

/** The transitions of every class, by one of its tokens. */
function tableOf(
  form: ByteAutomaton,
  bytes: readonly Uint8Array[],
  given: Int32Array,
  found: readonly number[],
  stateOf: ReadonlyMap<number, number>,
): TokenGrammar {
  const numberOf = new Map<number, number>();
  const tokens: Uint8Array[] = [];
  const classOf = given.map((of, id) => {
    const own = numberOf.get(of) ?? tokens.push(of ? bytes[id]! : new Uint8Array()) - 1;
    numberOf.set(of, own);
    return own;
  });
  if (tokens.length * found.length > MOST_TRANSITIONS) throw tooLarge(found.length, bytes.length);
  const next = found.map((from) =>
    Int32Array.from(tokens, (token) => {
      if (!token.length) return -1;
      let state = from;
      for (const byte of token) {
        state = form.step(state, byte);
        if (state < 0) return -1;
      }
      return stateOf.get(state) ?? -1;
    }),
  );
  return {
    vocabSize: bytes.length,
    states: found.length,
    classOf,
    next,
    ends: found.map((state) => form.ends(state)),
  };
}

/** Leaves out the states from which no tokens lead to an end, and forbids what leads to them. Throws where that is the first one. */
function withoutDeadEnds(grammar: TokenGrammar): TokenGrammar {
  const { next, ends } = grammar;
  const before = ends.map((): number[] => []);
  for (const [state, row] of next.entries())
    for (const to of new Set(row)) if (to >= 0) before[to]!.push(state);
  const alive = [...ends];
  const left = [...ends.keys()].filter((state) => ends[state]);
  for (let state = left.pop(); state !== undefined; state = left.pop())
    for (const earlier of before[state]!)
      if (!alive[earlier]) {
        alive[earlier] = true;
        left.push(earlier);
      }
  if (!alive[0])
    throw wrongInput('grammar.tokens', 'The tokens of this policy cannot write this form.', {
      expected: 'a tokenizer with the letters of JSON',
    });
  let states = 0;
  const numbers = alive.map((is) => (is ? states++ : -1));
  const living = <T>(of: readonly T[]): T[] => of.filter((_, state) => alive[state]);
  return {
    ...grammar,
    states,
    next: living(next).map((row) => row.map((to) => (to >= 0 ? numbers[to]! : -1))),
    ends: living(ends),
  };
}
