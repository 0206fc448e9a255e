/** The recipes that are made from files of a user's, by their names: those that are nothing without files, and all that are written over games. */
import { wrongInput } from '../core/errors.ts';
import type { FromFiles, RewardModules } from '../core/recipe/from-files.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { overEpisodes } from '../protocols/questions/over-episodes.ts';
import { expectData, isWritten, overQuestions } from '../protocols/questions/over-questions.ts';
import type { PlacedTask } from '../worlds/file/task.ts';
import { dataOf } from '../worlds/questions/game.ts';
import { distil } from './distil/recipe.ts';
import { dpo, dpoInEpisodes } from './dpo/recipe.ts';
import { grpo } from './grpo/recipe.ts';
import { recipes } from './index.ts';
import { rewardModel } from './reward-model/recipe.ts';
import { sft, sftInEpisodes } from './sft/recipe.ts';
import { spinOnConversations } from './spin/conversations.ts';

export const FROM_FILES: ReadonlyMap<string, FromFiles> = new Map([
  ['grpo', grpo],
  ['distil', distil],
  ['sft', sft],
  ['dpo', dpo],
  ['reward-model', rewardModel],
  ['spin', spinOnConversations],
  ...recipes.filter(isWritten).map((recipe) => [recipe.name, overQuestions(recipe)] as const),
]);

/** The recipes, beside grpo, that train on episodes: an agent holds them, or the policy with tools. */
export const FROM_EPISODES: ReadonlyMap<string, FromFiles> = new Map(
  [
    ...recipes.flatMap(({ name, inEpisodes }) => (inEpisodes ? [[name, inEpisodes] as const] : [])),
    ['dpo', dpoInEpisodes] as const,
    ['sft', sftInEpisodes] as const,
  ].map(([name, method]) => [name, overEpisodes(name, method)]),
);

/** Throws `run.agent` for a recipe whose method needs more than episodes. */
export function fromEpisodes(recipe: string): FromFiles {
  const found = FROM_EPISODES.get(recipe);
  if (found) return found;
  throw wrongInput('run.agent', `Recipe ${recipe} is not trained on episodes of agents or with tools.`, {
    expected: `--recipe ${['grpo', ...FROM_EPISODES.keys()].join(', ')} with --agent or --tools, or neither`,
    next: '`npx rollmesh recipe list --for agents` says why the others are not.',
  });
}

/** Throws `run.tasks` where the recipe is not made from files. */
export function fromFiles({ name, needsOfTasks }: Pick<Recipe, 'name' | 'needsOfTasks'>): FromFiles {
  const found = FROM_FILES.get(name);
  if (found) return found;
  const on = (reads: (from: FromFiles) => boolean) =>
    [...FROM_FILES].flatMap(([other, from]) => (reads(from) ? [other] : [])).join(', ');
  throw wrongInput(
    'run.tasks',
    `Recipe ${name} takes no files of tasks${needsOfTasks ? `: it needs ${needsOfTasks.which} (${needsOfTasks.datum})` : ''}.`,
    {
      expected: `one of ${on(({ reads }) => reads === 'questions')}, which train on questions, or ${on(({ reads }) => reads !== 'questions')}, which train on conversations, pairs and ratings`,
      next: 'Choose another --recipe, or leave the files out.',
    },
  );
}

/** What of the recipe's prompts a user can replace. Throws `run.prompts` where that is nothing. */
export function replaceablePrompts(recipe: string): NonNullable<FromFiles['prompts']> {
  const prompts = FROM_FILES.get(recipe)?.prompts;
  if (prompts) return prompts;
  const some = [...FROM_FILES].flatMap(([name, from]) => (from.prompts ? [name] : [])).slice(0, 3);
  throw wrongInput('run.prompts', `Recipe ${recipe} has no prompts that can be replaced.`, {
    expected: `a recipe that asks a policy more than the questions of files, such as ${some.join(', ')}`,
    next: 'With --prompts, `npx rollmesh recipe show NAME` prints those that a recipe has.',
  });
}

/** A recipe and the plain data that it is made from. */
export interface MadeFrom {
  readonly from: string;
  /** Is it the recipe on episodes? */
  readonly onEpisodes?: boolean;
  readonly data: unknown;
}

/** The recipe that a written module holds. */
export const recipeFrom = ({ from, onEpisodes, data }: MadeFrom, modules?: RewardModules): Recipe =>
  (onEpisodes ? fromEpisodes(from) : fromFiles({ name: from })).make(data, modules);

/** Throws `tasks.lacks` where a question has not what the recipe needs, with the recipes that run on the questions as they are. */
export const expectDataOf = (
  recipe: string,
  { needs: own }: Pick<FromFiles, 'needs'>,
  tasks: readonly PlacedTask[],
): void =>
  expectData(recipe, own, tasks, () => {
    const has = dataOf(tasks);
    return [...FROM_FILES].flatMap(([name, { reads, needs }]) =>
      reads === 'questions' && needs.every((datum) => has.includes(datum)) ? [name] : [],
    );
  });
