/** Token rewards by contrast: the reference reads a response as one to a wish for a better response, and as one to a wish for a worse one or to no wish. */
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';

/** σ(better − other) − 1/2 for each token, given its log-probabilities after a wish for better and after the other prompt, nats -> between −1/2 and 1/2. */
export const tokenRewardsOf = (better: ArrayLike<number>, other: ArrayLike<number>): number[] =>
  Array.from(better, (logprob, t) => 1 / (1 + Math.exp(other[t]! - logprob)) - 0.5);

/** What the wish for a better response is contrasted with: a wish for a worse one, or no wish. */
export type Contrast = 'worse' | 'plain';

/** The prompt of a task with a wish, or without one. */
export type WishPrompt = (task: string, wish: 'better' | Contrast) => string;

/** The token rewards of responses, by a set at a version [responses][ids]. */
export async function contrasted(
  tools: Pick<LearnTools, 'score' | 'encode'>,
  responses: readonly { readonly task: string; readonly ids: readonly number[] }[],
  { set, version }: { readonly set: string; readonly version: number },
  contrast: Contrast,
  promptOf: WishPrompt,
): Promise<number[][]> {
  const after = (wish: 'better' | Contrast) =>
    tools.score(
      set,
      responses.map(({ task, ids }) => ({ prompt: tools.encode(promptOf(task, wish)), ids })),
      version,
    );
  const better = await after('better');
  const other = await after(contrast);
  return better.map((row, i) => tokenRewardsOf(row, other[i]!));
}

/** The same rewards, each at a place of the response that is drawn. */
export const shuffledRewards = (rewards: readonly number[], sample: string): number[] =>
  new Random(`token rewards/${sample}`).shuffle([...rewards]);
