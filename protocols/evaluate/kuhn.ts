/** How far a policy can be exploited in Kuhn poker: exactly, from the probabilities that it gives to a bet and to a pass in each of the twelve situations. */
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import { agentPrompt, writeActions } from '../../worlds/environment.ts';
import { exploitability, INFORMATION_SETS, type KuhnStrategy } from '../../worlds/games/kuhn-strategy.ts';

const ACTIONS = ['bet', 'pass'] as const;

/** The strategy of a version whose `roles` play first and second. What it gives to texts that are no move is left out, and the rest is scaled to 1. */
export async function kuhnStrategyOf(
  context: EvaluationContext,
  roles: readonly [first: string, second: string],
): Promise<KuhnStrategy> {
  const strategy: Record<string, number> = {};
  for (const [player, sets] of INFORMATION_SETS.entries()) {
    const role = roles[player]!;
    const { tokenizer } = await context.textOf(role);
    const asked = sets.flatMap((set) => {
      const ids = tokenizer.encode(agentPrompt(set));
      return ACTIONS.map((action) => ({
        from: ids.length,
        ids: [...ids, ...tokenizer.encode(writeActions([action]))],
      }));
    });
    const scores = await context.score(
      role,
      asked.map(({ ids }) => ids),
    );
    const chances = asked.map(({ from }, i) =>
      Math.exp(scores[i]!.logprobs.slice(from - 1).reduce((sum, logprob) => sum + logprob, 0)),
    );
    for (const [s, set] of sets.entries()) {
      const [bet, pass] = [chances[2 * s]!, chances[2 * s + 1]!];
      strategy[set] = bet + pass > 0 ? bet / (bet + pass) : 0.5;
    }
  }
  return strategy;
}

/** What `examineKuhn` says. */
export const KUHN_FIGURES = {
  exploitability:
    'What perfect opponents win of the policy in Kuhn poker beyond the value of the game, mean over both seats, in antes; 0 at an equilibrium.',
} as const;

export const examineKuhn = async (context: EvaluationContext): Promise<Record<string, number>> => ({
  exploitability: exploitability(await kuhnStrategyOf(context, ['first', 'second'])),
});
