/** Turns stop tokens and a grammar into the tables of an automaton, which a policy's graph follows while it samples. */
import { wrongInput } from '../core/errors.ts';
import type { TokenIds } from '../core/policy/policy.ts';
import type { TokenGrammar } from '../core/text/token-grammar.ts';

/** What a policy's graph follows: tables over states and the classes of tokens (core/text/token-grammar.ts). */
export interface Automaton {
  readonly states: number;
  readonly classes: number;
  /** [vocab]: the class of each token. */
  readonly classOf: BigInt64Array;
  /** [states * classes]: what is added to the logits of a class: 0, or minus infinity where it is forbidden in the state. */
  readonly bias: Float32Array;
  /** [states * classes]: the state after a token of the class. */
  readonly next: BigInt64Array;
  /** [states * classes]: 1, or 0 if a token of the class ends the row. */
  readonly goesOn: Float32Array;
  /** Whether any token is ever forbidden. */
  readonly restricts: boolean;
}

/** Everything is allowed, and tokens of class 1 end the row. */
function freeAutomaton(stop: TokenIds, vocabSize: number): Automaton {
  const classOf = new BigInt64Array(vocabSize);
  for (const id of stop) classOf[id] = 1n;
  return {
    states: 1,
    classes: 2,
    classOf,
    bias: new Float32Array(2),
    next: new BigInt64Array(2),
    goesOn: Float32Array.of(1, 0),
    restricts: false,
  };
}

/**
 * Throws `wrong-input` for a grammar over another vocabulary, or one with a state that allows no token and is no end, since a row
 * would have no token to take there.
 */
export function checkGrammar(grammar: TokenGrammar, vocabSize: number): void {
  if (grammar.vocabSize !== vocabSize)
    throw wrongInput('grammar.vocabulary', `The grammar is over ${grammar.vocabSize} tokens.`, {
      expected: `${vocabSize}, the policy's vocabulary`,
      next: 'Build it with the tokenizer of this policy.',
    });
  const used = new Set(grammar.classOf);
  for (const [state, next] of grammar.next.entries())
    if (!grammar.ends[state] && !next.some((to, of) => to >= 0 && used.has(of)))
      throw wrongInput('grammar.dead-end', `State ${state} of the grammar allows no token and is no end.`, {
        expected: 'a token to take in every state that is not an end',
      });
}

/** The automaton of stop tokens and, if there is one, a grammar that has been checked. */
export function automatonOf(stop: TokenIds, grammar: TokenGrammar | undefined, vocabSize: number): Automaton {
  if (!grammar) return freeAutomaton(stop, vocabSize);
  const { classOf: given, ends, states } = grammar;
  // Stop tokens of a class become a class beside it.
  const found = grammar.next[0]!.length;
  const classes = 2 * found;
  const classOf = BigInt64Array.from(given, BigInt);
  for (const id of stop) classOf[id] = BigInt(given[id]! + found);
  const bias = new Float32Array(states * classes);
  const next = new BigInt64Array(states * classes);
  const goesOn = new Float32Array(states * classes).fill(1);
  const used = new Set(given);
  let restricts = false;
  for (const [state, row] of grammar.next.entries())
    for (let of = 0; of < classes; of++) {
      const at = state * classes + of;
      const to = row[of % found]!;
      // A row that has ended is still computed beside the others: it stays in its state, where every token is allowed.
      if (ends[state]) next[at] = BigInt(state);
      else if (to < 0) {
        bias[at] = Number.NEGATIVE_INFINITY;
        restricts ||= used.has(of % found);
      } else {
        next[at] = BigInt(to);
        if (ends[to] || of >= found) goesOn[at] = 0;
      }
    }
  return { states, classes, classOf, bias, next, goesOn, restricts };
}
