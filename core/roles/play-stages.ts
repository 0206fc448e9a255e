/** The data side of a round in one go: propose, roll out, judge. What the mesh does by queues, group by group, with the same result. */
import type { Recipe } from '../recipe.ts';
import type { StageRecipe } from '../role.ts';
import type { Proposals, ScoredGroup } from '../schema/sample.ts';
import type { Stage } from './stage.ts';

export type PlayedRecipe = StageRecipe & Pick<Recipe, 'propose' | 'rollOut' | 'judge'>;

export async function playStages(
  stage: Stage<PlayedRecipe>,
): Promise<{ proposals: Proposals; groups: ScoredGroup[] }> {
  const { propose, rollOut, judge } = stage.recipe;
  const proposals = await propose(stage);
  return { proposals, groups: await judge(stage, await rollOut(stage, proposals.tasks)) };
}
