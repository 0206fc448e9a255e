/** A recipe of another protocol whose solver is paid by a weighted sum of named rewards, as grpo's is. */
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { expectRoomForJudges, graderRoles, payQuestions, type Questions } from './round.ts';
import { REWARD_FIGURES, rewardFigures, type WeightedReward } from './weighted-reward.ts';

/** The name of the sum among a recipe's rewards. */
export const SUM = 'weighted';

/** The sum becomes the recipe's default reward; its own rewards stay what `--reward` may name. */
export function paidBySum(
  recipe: Recipe,
  { checker, extract }: Pick<Questions, 'checker' | 'extract'>,
  sum: WeightedReward,
): Recipe {
  const rewards = { [SUM]: sum };
  const { roles, bindings } = graderRoles(rewards);
  const isSum = ({ round }: Pick<RoundContext, 'round'>) => round.settings.rewardFunction === SUM;
  return {
    ...recipe,
    figures: { ...recipe.figures, ...REWARD_FIGURES },
    rewards: { ...rewards, ...recipe.rewards },
    roles: { ...recipe.roles, ...roles },
    ...(bindings
      ? { bindings: (settings) => ({ ...recipe.bindings?.(settings), ...bindings(settings) }) }
      : {}),
    propose: async (context) => {
      await expectRoomForJudges(rewards, context);
      return recipe.propose(context);
    },
    judge: (context, groups) =>
      isSum(context)
        ? payQuestions({ checker, extract, rewards }, context, groups)
        : recipe.judge(context, groups),
    learn: async (records, tools) => {
      const plan = await recipe.learn(records, tools);
      return isSum(records)
        ? { ...plan, figures: { ...plan.figures, ...rewardFigures(records.groups) } }
        : plan;
    },
  };
}
