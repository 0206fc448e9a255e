/** The interface of a dialect: servers of OpenAI's completions protocol differ in how they give token ids and log-probabilities. */
import type { Completion, TokenIds, TokenScores } from '../../core/policy/policy.ts';
import type { Draw } from '../session.ts';

/** Sends one request to `/completions` and returns the first choice of the answer, not yet checked. */
export type Ask = (request: Readonly<Record<string, unknown>>) => Promise<unknown>;

export interface Asked {
  readonly ids: TokenIds;
  readonly maxNew: number;
  readonly draw: Pick<Draw, 'temperature' | 'topK' | 'topP'>;
  readonly stop: TokenIds;
  readonly seed: number;
  /** Whether the log-probabilities must be those after temperature and truncation. */
  readonly processed: boolean;
}

export interface Dialect {
  complete(ask: Ask, asked: Asked): Promise<Completion>;
  /** The log-probabilities and entropies (nats) of a sequence of two tokens or more. */
  score(ask: Ask, ids: TokenIds, vocabSize: number): Promise<TokenScores>;
}

/** The entropy (nats) of a distribution, from its log-probabilities. */
export const entropyOf = (logprobs: readonly number[]): number =>
  -logprobs.reduce((sum, x) => (x === Number.NEGATIVE_INFINITY ? sum : sum + Math.exp(x) * x), 0);
