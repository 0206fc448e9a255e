/** Turns stop tokens and a grammar into the tables of an automaton, which a policy's graph follows while it samples. */
import { wrongInput } from '../core/errors.ts';
import type { TokenIds } from '../core/policy.ts';
import type { TokenGrammar } from '../core/text/token-grammar.ts';

/** The tables over states and tokens, [states * vocab]. A state is written as its number times the vocabulary's size. */
export interface Automaton {
  readonly states: number;
  /** What is added to the logits: 0, or minus infinity if the token is forbidden in the state. */
  readonly bias: Float32Array;
  readonly next: BigInt64Array;
  /** 1, or 0 if the token ends the row. */
  readonly goesOn: Float32Array;
  /** Whether any token is ever forbidden. */
  readonly restricts: boolean;
}

/** An automaton of one state, in which every token is allowed and the stop tokens end the row. */
function freeAutomaton(stop: TokenIds, vocabSize: number): Automaton {
  const goesOn = new Float32Array(vocabSize).fill(1);
  for (const id of stop) goesOn[id] = 0;
  const [bias, next] = [new Float32Array(vocabSize), new BigInt64Array(vocabSize)];
  return { states: 1, bias, next, goesOn, restricts: false };
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
  for (let state = 0; state < grammar.states; state++) {
    const next = grammar.next.subarray(state * vocabSize, (state + 1) * vocabSize);
    if (!grammar.ends[state] && next.every((to) => to < 0))
      throw wrongInput('grammar.dead-end', `State ${state} of the grammar allows no token and is no end.`, {
        expected: 'a token to take in every state that is not an end',
      });
  }
}

/** The automaton of stop tokens and, if there is one, a grammar that has been checked. */
export function automatonOf(stop: TokenIds, grammar: TokenGrammar | undefined, vocabSize: number): Automaton {
  if (!grammar) return freeAutomaton(stop, vocabSize);
  const size = grammar.states * vocabSize;
  const bias = new Float32Array(size);
  const next = new BigInt64Array(size);
  const goesOn = new Float32Array(size).fill(1);
  const stops = new Set(stop);
  let restricts = false;
  for (let state = 0; state < grammar.states; state++) {
    let allowed = 0;
    for (let id = 0; id < vocabSize; id++) {
      const at = state * vocabSize + id;
      const to = grammar.next[at]!;
      // A row that has ended is still computed beside the others: it stays in its state, where every token is allowed.
      if (grammar.ends[state]) next[at] = BigInt(state * vocabSize);
      else if (to < 0) bias[at] = Number.NEGATIVE_INFINITY;
      else {
        allowed++;
        next[at] = BigInt(to * vocabSize);
        if (grammar.ends[to] || stops.has(id)) goesOn[at] = 0;
      }
    }
    if (!grammar.ends[state] && allowed < vocabSize) restricts = true;
  }
  return { states: grammar.states, bias, next, goesOn, restricts };
}
