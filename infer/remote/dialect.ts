/** The interface of a dialect: servers differ in how they are asked, and in how they give token ids and log-probabilities. */
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import type { Completion, TokenIds, TokenScores } from '../../core/policy/policy.ts';
import type { Draw } from '../session.ts';
import { askServer, checked, type ServerOptions } from './server.ts';

/** A server, and what it calls exactly this version. */
export interface Served extends ServerOptions {
  /** The server's name for the version's adapter, where it computes with one over `model`; absent = with `model` alone. */
  readonly adapter?: string;
}

const answer = v.object({ model: v.optional(v.string()), choices: v.tuple([v.unknown()]) });

/**
 * Sends one request of OpenAI's completions protocol and returns the first choice of the answer, not yet checked.
 * @throws RollmeshError `remote.model` where the server says that another than the version's adapter answered
 */
export async function askChoice(
  served: Served,
  request: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const name = served.adapter ?? served.model;
  const body = { model: name, n: 1, ...request };
  const { model, choices } = checked(answer, await askServer(served, `${served.baseUrl}/completions`, body));
  if (served.adapter === undefined || model === served.adapter) return choices[0];
  throw new RollmeshError('give-up', 'remote.model', `The server answered as ${JSON.stringify(model)}.`, {
    expected: `the adapter that was asked for, ${served.adapter}`,
    next: 'Ask the server itself: what stands between may choose other models.',
  });
}

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
  complete(served: Served, asked: Asked): Promise<Completion>;
  /** The log-probabilities and entropies (nats) of a sequence of two tokens or more. */
  score(served: Served, ids: TokenIds, vocabSize: number): Promise<TokenScores>;
}

/** The entropy (nats) of a distribution, from its log-probabilities. */
export const entropyOf = (logprobs: readonly number[]): number =>
  -logprobs.reduce((sum, x) => (x === Number.NEGATIVE_INFINITY ? sum : sum + Math.exp(x) * x), 0);
