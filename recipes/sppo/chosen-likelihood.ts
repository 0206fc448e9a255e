/**
 * What an update does to the likelihood of the responses that it was trained to prefer. The recipe state carries these responses with their
 * likelihood before the update. The next round scores them again under its parent, which is the result of that update, even after a rollback or after
 * versions were deleted. The prompt and tokens of a response take about 200 bytes in the version's JSON.
 */
import * as v from 'valibot';
import type { LearnTools, Sequence } from '../../core/plan/training-plan.ts';
import { mean } from '../../core/rl/statistics.ts';
import { count, finite } from '../../core/schema/numbers.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';

export const chosenResponses = v.object({
  responses: v.array(v.object({ prompt: v.array(count), ids: v.array(count) })),
  /** Mean before the update, nats a response. */
  likelihood: finite,
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

/** The change of the chosen responses' mean log-likelihood, nats a response; absent where no response was chosen. */
export async function changeOfChosen(
  before: Chosen | undefined,
  tools: LearnTools,
): Promise<Readonly<Record<string, number>>> {
  if (!before?.responses.length) return {};
  return { chosen: (await likelihoodOf(before.responses, tools)) - before.likelihood };
}
