/**
 * Scores the same completions after other prompts than those that they were sampled from, which shows how much a completion depends on its context.
 */
import type { LearnTools } from '../core/plan/training-plan.ts';
import type { TokenIds } from '../core/policy/policy.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import type { Sample } from '../core/schema/sample.ts';

/** The prompt of a context for a sample, which may be its own. */
export type ContextOf = (sample: Pick<Sample, 'prompt' | 'ids'>, index: number) => TokenIds;

/** The prompt that a sample was sampled from. */
export const ownContext: ContextOf = ({ prompt }) => prompt;

/** Log-probabilities (nats) of the samples' tokens in each context, [contexts][samples][tokens], under a set at the parent version. */
export async function scoreInContexts(
  { score }: Pick<LearnTools, 'score'>,
  samples: readonly Pick<Sample, 'prompt' | 'ids'>[],
  contexts: readonly ContextOf[],
  set: string = MAIN_SET,
): Promise<Float32Array[][]> {
  const sequences = contexts.flatMap((promptOf) =>
    samples.map((sample, i) => ({ prompt: promptOf(sample, i), ids: sample.ids })),
  );
  const scores = await score(set, sequences);
  return contexts.map((_, c) => scores.slice(c * samples.length, (c + 1) * samples.length));
}
