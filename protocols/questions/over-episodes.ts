/**
 * Recipes over episodes that agents hold, as plain data from which every process makes the same recipe: those whose method needs nothing of an episode but
 * its answers and its reward. `recipes/grpo` has its own data, since its episodes may have several seats.
 */
import * as v from 'valibot';
import { CHECKERS, findChecker } from '../../core/checkers/registry.ts';
import type { FromFiles } from '../../core/recipe/from-files.ts';
import type { EpisodeMethod, Recipe } from '../../core/recipe/recipe.ts';
import { listProgram } from '../../worlds/file/list-program-checker.ts';
import { objectsOfTasks } from '../../worlds/file/stored-tasks.ts';
import { servedQuestions } from '../../worlds/hosted/answers.ts';
import { agentRound, environmentHeld, ONE_SEAT } from '../agent-round.ts';
import { withHeldOutEpisodes } from '../held-out-episodes.ts';
import { expectSchedule } from '../method-settings.ts';
import { withCurriculum } from './curriculum.ts';
import { dataName, episodeSettings, questionEntries, questionSettings, toolNames } from './data.ts';
import { expectEpisodes } from './expect-episodes.ts';
import { QUESTION_FIGURES } from './round.ts';
import { TOOL_FIGURES, toolRound, USUAL_TOOL_TURNS } from './tool-round.ts';

/** What `--set` may change. */
const settings = v.strictObject({
  ...questionSettings,
  /** Passes over a round's batch; default the recipe's. */
  epochs: v.exactOptional(questionSettings.epochs.wrapped),
  ...episodeSettings,
});

const data = v.strictObject({
  ...questionEntries,
  settings,
  environment: environmentHeld,
  /** In place of agents the mesh holds the episodes: the policy answers questions, and may use these tools. */
  tools: toolNames,
});
type EpisodeData = v.InferOutput<typeof data>;

/** A method on episodes that agents hold, or that the policy holds with tools. Its recipe throws `run.setting` where settings do not go together. */
export const overEpisodes = (recipe: string, method: EpisodeMethod): FromFiles => ({
  reads: 'questions',
  needs: ['answer'],
  settings,
  data,
  make: (given) => recipeOf(recipe, method, v.parse(data, given)),
  noSum: 'agents or the checker pay its episodes',
});

function recipeOf(recipe: string, episodes: EpisodeMethod, given: EpisodeData): Recipe {
  const {
    maxNew,
    temperature,
    examined,
    heldOutSamples,
    epochs,
    optimizer,
    adapter,
    curriculum,
    toolTurns,
    heldOutEpisodes,
  } = given.settings;
  expectEpisodes({ ...given, agent: !given.tools });
  expectSchedule(optimizer);
  const questions = {
    name: given.name,
    tasks: { sources: given.sources, heldOut: given.heldOut },
    checker: findChecker(given.checker, [...CHECKERS, listProgram]),
    extract: given.extract,
  };
  const { drawn, ...method } = episodes;
  const asked = {
    ...{ ...questions, maxNew, temperature, examined, rewards: {} },
    ...(heldOutSamples ? { heldOutSamples } : {}),
  };
  const { bindings, ...round } = given.tools
    ? toolRound(asked, { names: given.tools, turns: toolTurns ?? USUAL_TOOL_TURNS }, drawn)
    : agentRound(asked, ONE_SEAT, drawn);
  const name = dataName(recipe, { recipe, ...given });
  const made: Recipe = {
    tasks: 32,
    groupSize: 8,
    ...method,
    ...round,
    ...(bindings ? { bindings } : {}),
    ...(method.bindings ? { bindings: method.bindings } : {}),
    figures: { ...method.figures, ...QUESTION_FIGURES, ...(given.tools ? TOOL_FIGURES : {}) },
    name,
    called: `${recipe} on ${given.name}`,
    startPolicy: given.start,
    hosted: servedQuestions(name, questions),
    ...objectsOfTasks(given),
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
  const drawing = curriculum ? withCurriculum(made, curriculum) : made;
  return heldOutEpisodes ? withHeldOutEpisodes(drawing, given.heldOut, heldOutEpisodes) : drawing;
}
