/** Token rewards by contrast: the reference reads a response as one to a wish for a better response, and as one to a wish for a worse. */
import { Random } from '../../core/random.ts';
import type { LearnTools } from '../../core/training-plan.ts';
import { type Wish, wishPrompt } from '../../tasks/style/contrast.ts';

/** σ(better − worse) − 1/2 for each token, given its log-probabilities after both wishes, nats -> between −1/2 and 1/2. */
export const tokenRewardsOf = (better: ArrayLike<number>, worse: ArrayLike<number>): number[] =>
  Array.from(better, (logprob, t) => 1 / (1 + Math.exp(worse[t]! - logprob)) - 0.5);

/** The token rewards of responses, by a set at a version [responses][ids]. */
export async function contrasted(
  tools: Pick<LearnTools, 'score' | 'encode'>,
  responses: readonly { readonly task: string; readonly ids: readonly number[] }[],
  { set, version }: { readonly set: string; readonly version: number },
): Promise<number[][]> {
  const after = (wish: Wish) =>
    tools.score(
      set,
      responses.map(({ task, ids }) => ({ prompt: tools.encode(wishPrompt(task, wish)), ids })),
      version,
    );
  const better = await after('better');
  const worse = await after('worse');
  return better.map((row, i) => tokenRewardsOf(row, worse[i]!));
}

/** The same rewards, each at a place of the response that is drawn. */
export const shuffledRewards = (rewards: readonly number[], sample: string): number[] =>
  new Random(`token rewards/${sample}`).shuffle([...rewards]);
