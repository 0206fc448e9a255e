/** Monte-Carlo tree search by a scorer of unfinished answers, such as a process reward model or a value head: protocols/trees over the answers to questions. */
import { deriveId } from '../../core/random.ts';
import { ucb } from '../../core/rl/tree-search.ts';
import { answerGround } from '../trees/ground.ts';
import { bestAnswer, growTrees } from '../trees/grow.ts';
import type { ScoreAnswers } from './beam-search.ts';
import type { Found, Search } from './sampling.ts';

/** The best answer of each question's tree; where none has ended, the first step, which is no answer. `step`: its most tokens. */
export async function treeSearch(
  { policy, prompts, ends, steps, isEnded, maxNew, budget, seed }: Search,
  score: ScoreAnswers,
  { branches, step }: { readonly branches: number; readonly step: number },
): Promise<Found[]> {
  const trees = await growTrees(
    prompts.map((prompt, q) => ({ id: deriveId('solve', 'tree', seed, q), prompt, world: null })),
    {
      role: 'tree',
      // Scores are probabilities, and trees are small: a larger constant would search them evenly.
      select: ucb(0.2),
      branching: { least: branches, most: branches },
      // What cannot be scored comes last.
      ...{ unknown: 0, worst: 0, budget },
      draw: (asked, { maxNew: most, temperature = 1 }) =>
        policy.generate(asked, { ...ends, stop: [...ends.stop, ...steps], maxNew: most, temperature }),
      ground: answerGround({ maxNew, step, isEnded }),
      estimate: async (nodes) => {
        const scores = await score(nodes.map(({ tree: { prompt }, ids }) => ({ prompt, ids })));
        return scores.map((one) => (Number.isNaN(one) ? null : one));
      },
    },
  );
  return trees.map((tree) => ({
    ids: (bestAnswer(tree) ?? tree.draws[0]?.node)?.ids ?? [],
    tokens: tree.tokens,
  }));
}
