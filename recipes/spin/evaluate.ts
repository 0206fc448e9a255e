/** The likelihood of given completions under a role, which supervised fine-tuning raises by itself; measured on tasks that are not trained on. */
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Demonstration } from '../../worlds/arithmetic/demonstrations.ts';

/** Geometric mean of the completions' token probabilities, in (0, 1]. */
export async function goldLikelihood(
  context: Pick<EvaluationContext, 'tokenizer' | 'score'>,
  role: string,
  demonstrations: readonly Pick<Demonstration, 'prompt' | 'completion'>[],
): Promise<number> {
  const { encode } = context.tokenizer;
  const texts = demonstrations.map(({ prompt, completion }) => ({
    from: encode(prompt),
    ids: encode(completion),
  }));
  const scores = await context.score(
    role,
    texts.map(({ from, ids }) => [...from, ...ids]),
  );
  // The scores of a text begin at its second token.
  return Math.exp(mean(scores.flatMap(({ logprobs }, i) => logprobs.slice(texts[i]!.from.length - 1))));
}
