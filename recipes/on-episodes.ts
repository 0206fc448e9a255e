/**
 * Recipes over episodes that agents hold, as plain data from which every process makes the same recipe: those whose method needs nothing of an episode but
 * its answers and its reward. `recipes/grpo` has its own data, since its episodes may have several seats.
 */
import * as v from 'valibot';
import { CHECKERS, findChecker } from '../core/checkers/registry.ts';
import { wrongInput } from '../core/errors.ts';
import type { EpisodeMethod, Recipe } from '../core/recipe/recipe.ts';
import { agentRound, environmentHeld, ONE_SEAT } from '../protocols/agent-round.ts';
import { withHeldOutEpisodes } from '../protocols/held-out-episodes.ts';
import { expectSchedule } from '../protocols/method-settings.ts';
import { withCurriculum } from '../protocols/questions/curriculum.ts';
import {
  episodeSettings,
  questionEntries,
  questionSettings,
  toolNames,
} from '../protocols/questions/data.ts';
import { expectEpisodes } from '../protocols/questions/expect-episodes.ts';
import { QUESTION_FIGURES } from '../protocols/questions/round.ts';
import { TOOL_FIGURES, toolRound, USUAL_TOOL_TURNS } from '../protocols/questions/tool-round.ts';
import { listProgram } from '../worlds/file/list-program-checker.ts';
import { objectsOfTasks } from '../worlds/file/stored-tasks.ts';
import { servedQuestions } from '../worlds/hosted/answers.ts';
import { dpoInEpisodes } from './dpo/recipe.ts';
import { recipes } from './index.ts';
import { dataName } from './on-questions.ts';
import { sftInEpisodes } from './sft/recipe.ts';

const METHODS: ReadonlyMap<string, EpisodeMethod> = new Map([
  ...recipes.flatMap(({ name, inEpisodes }) => (inEpisodes ? [[name, inEpisodes] as const] : [])),
  ['dpo', dpoInEpisodes] as const,
  ['sft', sftInEpisodes] as const,
]);

/** The recipes that episodes of agents can train, beside grpo. */
export const EPISODE_RECIPES: readonly string[] = [...METHODS.keys()];

/** What `--set` may change. */
export const episodeRecipeSettings = v.strictObject({
  ...questionSettings,
  /** Passes over a round's batch; default the recipe's. */
  epochs: v.exactOptional(questionSettings.epochs.wrapped),
  ...episodeSettings,
});

export const episodeRecipeData = v.strictObject({
  recipe: v.picklist(EPISODE_RECIPES),
  ...questionEntries,
  settings: episodeRecipeSettings,
  environment: environmentHeld,
  /** In place of agents the mesh holds the episodes: the policy answers questions, and may use these tools. */
  tools: toolNames,
});
export type EpisodeRecipeData = v.InferOutput<typeof episodeRecipeData>;

/** Throws where the data does not fit the schema, because another version of rollmesh or a person wrote it, and `run.setting` where settings do not go together. */
export function episodeRecipeFrom(given: unknown): Recipe {
  const data = v.parse(episodeRecipeData, given);
  const {
    maxNew,
    temperature,
    examined,
    epochs,
    optimizer,
    adapter,
    curriculum,
    toolTurns,
    heldOutEpisodes,
  } = data.settings;
  expectEpisodes({ ...data, agent: !data.tools });
  expectSchedule(optimizer);
  const questions = {
    name: data.name,
    tasks: { sources: data.sources, heldOut: data.heldOut },
    checker: findChecker(data.checker, [...CHECKERS, listProgram]),
    extract: data.extract,
  };
  const { drawn, ...method } = METHODS.get(data.recipe)!;
  const asked = { ...questions, maxNew, temperature, examined, rewards: {} };
  const { bindings, ...round } = data.tools
    ? toolRound(asked, { names: data.tools, turns: toolTurns ?? USUAL_TOOL_TURNS }, drawn)
    : agentRound(asked, ONE_SEAT, drawn);
  const name = dataName(data.recipe, data);
  const recipe: Recipe = {
    tasks: 32,
    groupSize: 8,
    ...method,
    ...round,
    ...(bindings ? { bindings } : {}),
    ...(method.bindings ? { bindings: method.bindings } : {}),
    figures: { ...method.figures, ...QUESTION_FIGURES, ...(data.tools ? TOOL_FIGURES : {}) },
    name,
    called: `${data.recipe} on ${data.name}`,
    startPolicy: data.start,
    hosted: servedQuestions(name, questions),
    ...objectsOfTasks(data),
    sets: Object.fromEntries(
      Object.entries(method.sets).map(([set, settings]) => [
        set,
        {
          ...settings,
          optimizer: settings.optimizer && { ...settings.optimizer, ...optimizer },
          // A set that a head reads is trained whole, without adapters.
          ...(adapter && !settings.head ? { adapter } : {}),
        },
      ]),
    ),
    learn: async (records, tools) => {
      const plan = await method.learn(records, tools);
      if (epochs === undefined) return plan;
      return { ...plan, updates: plan.updates.map((update) => ({ ...update, epochs })) };
    },
  };
  const drawing = curriculum ? withCurriculum(recipe, curriculum) : recipe;
  return heldOutEpisodes ? withHeldOutEpisodes(drawing, data.heldOut, heldOutEpisodes) : drawing;
}

/** Throws `run.agent` for a recipe whose method needs more than episodes. */
export function expectEpisodeRecipe(recipe: string): void {
  if (METHODS.has(recipe)) return;
  throw wrongInput('run.agent', `Recipe ${recipe} is not trained on episodes of agents or with tools.`, {
    expected: `--recipe ${['grpo', ...EPISODE_RECIPES].join(', ')} with --agent or --tools, or neither`,
    next: '`npx rollmesh recipe list --for agents` says why the others are not.',
  });
}
