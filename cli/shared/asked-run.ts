/** The recipe and the options of a run that a command line asks for: a shipped recipe, one of a module, one on files of tasks, one in a world of the user's, or one with settings changed. */
import { changedRecipe } from '../changed-recipe.ts';
import { type OpenRecipes, openRecipes, withRecipe } from '../recipe-modules.ts';
import { joinedRewards, type RewardModelOption } from '../rewards/reward-option.ts';
import { type TaskRecipe, taskRecipe } from '../task-recipe.ts';
import type { TrainingTaskOptions } from '../training-task-options.ts';
import { type AskedStartOptions, FASTEST, type StartOptions } from './run-options.ts';

export interface AskedRun {
  /** A recipe that is written as a module, for every process of the run to load; null where the recipe stands in one already. */
  readonly files: TaskRecipe | null;
  readonly known: OpenRecipes;
  /** With the recipe's name; without the engine or the form of the weights where they are to be measured. */
  readonly options: StartOptions;
}

/** Opens it; nothing is written yet. Throws `wrong-input` for what is not known. */
export async function askedRun({
  reward: named,
  rewardModel = [],
  ...given
}: AskedStartOptions & TrainingTaskOptions & RewardModelOption): Promise<AskedRun> {
  const reward = joinedRewards(named, rewardModel);
  const asked = { ...given, ...(reward === undefined ? {} : { reward }) };
  const set = [...(asked.adapter ?? []), ...(asked.publish ?? []), ...asked.set];
  const files =
    (await taskRecipe({ ...asked, set })) ?? (await changedRecipe(asked.recipe, set, asked.world));
  const known = files ? withRecipe(files.recipe) : await openRecipes([asked.recipe]);
  const { reward: _, engine, weights, ...others } = asked;
  return {
    files,
    known,
    options: {
      ...others,
      recipe: known.named[0]!.name,
      ...(engine === undefined || engine === FASTEST ? {} : { engine }),
      ...(weights === undefined || weights === FASTEST ? {} : { weights }),
      // A weighted sum is the recipe's own default.
      ...(reward === undefined || files?.isWeighted ? {} : { reward }),
    },
  };
}
