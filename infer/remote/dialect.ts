/** What servers of OpenAI's completions protocol do differently when asked for token ids and log-probabilities. */
import type { Completion, TokenIds, TokenScores } from '../../core/policy.ts';
import type { Draw } from '../session.ts';

/** Sends one request to `/completions`; the first choice of the answer, not yet checked. */
export type Ask = (request: Readonly<Record<string, unknown>>) => Promise<unknown>;

export interface Asked {
  readonly ids: TokenIds;
  readonly maxNew: number;
  readonly draw: Pick<Draw, 'temperature' | 'topK' | 'topP'>;
  readonly stop: TokenIds;
  readonly seed: number;
  /** Whether log-probabilities are to be those after temperature and truncation. */
  readonly processed: boolean;
}

export interface Dialect {
  complete(ask: Ask, asked: Asked): Promise<Completion>;
  /** Log-probabilities and entropies (nats) of a sequence of two tokens or more. */
  score(ask: Ask, ids: TokenIds, vocabSize: number): Promise<TokenScores>;
}

/** Entropy (nats) of a distribution by its log-probabilities. */
export const entropyOf = (logprobs: readonly number[]): number =>
  -logprobs.reduce((sum, x) => (x === Number.NEGATIVE_INFINITY ? sum : sum + Math.exp(x) * x), 0);
