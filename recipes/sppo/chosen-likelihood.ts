/**
 * What an update does to the likelihood of the responses it was told to prefer. The recipe state carries them with their likelihood
 * before the update; the next round scores them again under its parent, which is what that update made, whatever was rolled back or
 * pruned since. A response's prompt and tokens take some 200 bytes of the version's JSON.
 */
import * as v from 'valibot';
import { mean } from '../../core/rl/statistics.ts';
import { count } from '../../core/schema/numbers.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { LearnTools, Sequence } from '../../core/training-plan.ts';

export const chosenResponses = v.object({
  responses: v.array(v.object({ prompt: v.array(count), ids: v.array(count) })),
  /** Mean before the update, nats a response. */
  likelihood: v.number(),
});
export type Chosen = Readonly<v.InferOutput<typeof chosenResponses>>;

async function likelihoodOf(responses: readonly Sequence[], tools: LearnTools): Promise<number> {
  const scores = await tools.score(MAIN_SET, responses);
  return mean(scores.map((row) => row.reduce((a, b) => a + b, 0)));
}

export const rememberChosen = async (responses: readonly Sequence[], tools: LearnTools): Promise<Chosen> => ({
  responses: responses.map(({ prompt, ids }) => ({ prompt: [...prompt], ids: [...ids] })),
  likelihood: responses.length ? await likelihoodOf(responses, tools) : 0,
});

/** Change of the chosen responses' mean log-likelihood, nats a response; absent where none were chosen. */
export async function changeOfChosen(
  before: Chosen | undefined,
  tools: LearnTools,
): Promise<Readonly<Record<string, number>>> {
  if (!before?.responses.length) return {};
  return { chosen: (await likelihoodOf(before.responses, tools)) - before.likelihood };
}
