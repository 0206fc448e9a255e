/**
 * grpo as plain data: questions, checker and settings in one JSON value, from which every process makes the same recipe. The data is bundled into the
 * Workers that play it, so that they have nothing to look up. The recipe's name is derived from it, so that another file or another setting is
 * another run.
 */
import * as v from 'valibot';
import { CHECKERS, findChecker } from '../../core/checkers/registry.ts';
import { wrongInput } from '../../core/errors.ts';
import { deriveId } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { BoundedModule } from '../../core/recipe/reward-function.ts';
import { seats } from '../../core/schema/agent.ts';
import { environmentHeld, ONE_SEAT } from '../../protocols/agent-round.ts';
import { withHeldOutEpisodes } from '../../protocols/held-out-episodes.ts';
import { expectSchedule, lossEntries, withLoss } from '../../protocols/method-settings.ts';
import {
  episodeSettings,
  questionEntries,
  questionSettings,
  toolNames,
} from '../../protocols/questions/data.ts';
import { expectEpisodes } from '../../protocols/questions/expect-episodes.ts';
import { rewardSum, rewardsOf } from '../../protocols/questions/reward-data.ts';
import { USUAL_TOOL_TURNS } from '../../protocols/questions/tool-round.ts';
import { listProgram } from '../../worlds/file/list-program-checker.ts';
import { objectsOfTasks } from '../../worlds/file/stored-tasks.ts';
import { servedQuestions } from '../../worlds/hosted/answers.ts';
import { grpoOn, TURN_CREDITS } from './recipe.ts';

/** What `--set` may change. */
export const grpoSettings = v.strictObject({
  ...questionSettings,
  /** Credits each turn of an agent's episode with the episode's reward, or with what it and the turns after it were paid. */
  turnRewards: v.exactOptional(v.picklist(TURN_CREDITS)),
  ...episodeSettings,
  ...lossEntries,
});

export const grpoData = v.strictObject({
  ...questionEntries,
  settings: grpoSettings,
  /** The default reward, where it is a weighted sum. */
  rewards: v.exactOptional(rewardSum),
  /** Agents outside the mesh hold the episodes. */
  agent: v.exactOptional(v.literal(true)),
  environment: environmentHeld,
  /** The policy may use these tools before it answers; the mesh carries them out. */
  tools: toolNames,
  /** Their seats; absent = the solver alone. */
  seats: v.exactOptional(seats),
});
export type GrpoData = v.InferOutput<typeof grpoData>;

/** The same data gives the same name. */
export const grpoName = (data: GrpoData): string =>
  `grpo-${deriveId('grpo', JSON.stringify(data)).slice(0, 10)}`;

/**
 * `modules`: the reward modules that the data names, by their hashes. Throws where the data does not fit the schema, because another version of
 * rollmesh or a person wrote it.
 */
export function grpoFrom(given: unknown, modules: Readonly<Record<string, BoundedModule>> = {}): Recipe {
  const data = v.parse(grpoData, given);
  const {
    maxNew,
    temperature,
    examined,
    epochs,
    optimizer,
    adapter,
    curriculum,
    turnRewards,
    heldOutEpisodes,
    toolTurns = USUAL_TOOL_TURNS,
    ...loss
  } = data.settings;
  expectSchedule(optimizer);
  if (turnRewards && !data.agent)
    throw wrongInput('run.setting', `turnRewards=${turnRewards} means nothing here: answers have one turn.`, {
      expected: 'a run with --agent',
      next: 'Leave --set turnRewards out.',
    });
  expectEpisodes(data);
  if (curriculum && data.seats && data.seats.length > 1)
    throw wrongInput(
      'run.setting',
      'A curriculum asks whether a task’s rewards are all equal, and seats have rewards of their own.',
      { expected: 'a run with one seat', next: 'Leave --set curriculum out, or --seats.' },
    );
  const questions = {
    tasks: { sources: data.sources, heldOut: data.heldOut },
    checker: findChecker(data.checker, [...CHECKERS, listProgram]),
    extract: data.extract,
  };
  const recipe = grpoOn({
    startPolicy: data.start,
    questions: {
      ...questions,
      name: data.name,
      maxNew,
      temperature,
      examined,
      rewards: rewardsOf(data.rewards, modules),
    },
    optimizer,
    epochs,
    ...(adapter ? { adapter } : {}),
    ...(curriculum ? { curriculum } : {}),
    ...(data.agent ? { seats: data.seats ?? ONE_SEAT } : {}),
    ...(turnRewards ? { turnRewards } : {}),
    ...(data.tools ? { tools: { names: data.tools, turns: toolTurns } } : {}),
  });
  const name = grpoName(data);
  const made = withLoss(recipe, loss);
  return {
    ...(heldOutEpisodes ? withHeldOutEpisodes(made, data.heldOut, heldOutEpisodes) : made),
    name,
    called: `grpo on ${data.name}`,
    hosted: servedQuestions(name, questions),
    ...objectsOfTasks(data),
  };
}
