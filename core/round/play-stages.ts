/** Runs the three stages of a round in one process: propose, roll out, judge. The mesh does it with queues, group by group, with the same result. */
import type { Recipe } from '../recipe/recipe.ts';
import type { StageRecipe } from '../recipe/role.ts';
import type { RoundContext } from '../recipe/round-context.ts';
import type { Proposals, ScoredGroup } from '../schema/sample.ts';

export type PlayedRecipe = StageRecipe & Pick<Recipe, 'propose' | 'rollOut' | 'judge'>;

export async function playStages(
  context: RoundContext<PlayedRecipe>,
): Promise<{ proposals: Proposals; groups: ScoredGroup[] }> {
  const { propose, rollOut, judge } = context.recipe;
  const proposals = await propose(context);
  return { proposals, groups: await judge(context, await rollOut(context, proposals.tasks)) };
}
