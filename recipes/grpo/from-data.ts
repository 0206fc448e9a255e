/**
 * grpo as plain data: questions, checker and settings in one JSON value, from which every process makes the same recipe. The data is bundled into the
 * Workers that play it, so that they have nothing to look up. The recipe's name is derived from it, so that another file or another setting is
 * another run.
 */
import * as v from 'valibot';
import { EXTRACTIONS } from '../../core/checkers/extract.ts';
import { CHECKERS, findChecker } from '../../core/checkers/registry.ts';
import { wrongInput } from '../../core/errors.ts';
import { deriveId } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe.ts';
import type { BoundedModule } from '../../core/reward-function.ts';
import { seats } from '../../core/schema/agent.ts';
import {
  adapterSettings,
  expectSchedule,
  lossEntries,
  optimizerEntries,
  withLoss,
} from '../../protocols/method-settings.ts';
import { hostedQuestions } from '../../protocols/hosted-answers.ts';
import { ONE_SEAT } from '../../protocols/questions/agent-round.ts';
import { curriculumSettings } from '../../protocols/questions/curriculum.ts';
import { rewardSum, rewardsOf } from '../../protocols/questions/reward-data.ts';
import { program } from '../../tasks/file/program-checker.ts';
import { storedHeldOut, storedSources } from '../../tasks/file/stored-set.ts';
import { grpoOn, TURN_CREDITS } from './recipe.ts';

const positive = v.pipe(v.number(), v.minValue(Number.MIN_VALUE), v.finite());
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** What `--set` may change. */
export const grpoSettings = v.strictObject({
  /** Longest answer in tokens, its end included. */
  maxNew: v.optional(count, 256),
  temperature: v.optional(positive, 1),
  /** Passes over a round's batch. */
  epochs: v.optional(count, 1),
  /** The largest number of held-out questions in an evaluation. */
  examined: v.optional(count, 500),
  optimizer: v.optional(
    v.strictObject({
      learningRate: v.optional(positive, 1e-5),
      warmup: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 20),
      weightDecay: v.optional(v.pipe(v.number(), v.minValue(0), v.finite()), 0.01),
      clipNorm: v.optional(positive, 1),
      minibatches: v.optional(count, 4),
      ...optimizerEntries,
    }),
    {},
  ),
  /** Draws a question less often while its newest group is all right or all wrong. */
  curriculum: v.exactOptional(curriculumSettings),
  /** Trains low-rank adapters in place of all weights. */
  adapter: v.exactOptional(adapterSettings),
  /** Credits each turn of an agent's episode with the episode's reward, or with what it and the turns after it were paid. */
  turnRewards: v.exactOptional(v.picklist(TURN_CREDITS)),
  ...lossEntries,
});

/** Questions and how their answers are parsed, which the data of every recipe on files of questions has. */
export const questionEntries = {
  /** Name of the set of questions, for reports. */
  name: v.pipe(v.string(), v.minLength(1)),
  /** The shipped policy that runs start from where no policy is named. */
  start: v.string(),
  checker: v.string(),
  extract: v.pipe(v.array(v.picklist(EXTRACTIONS)), v.minLength(1)),
  sources: storedSources,
  heldOut: storedHeldOut,
};

export const grpoData = v.strictObject({
  ...questionEntries,
  settings: grpoSettings,
  /** The default reward, where it is a weighted sum. */
  rewards: v.exactOptional(rewardSum),
  /** Agents outside the mesh hold the episodes. */
  agent: v.exactOptional(v.literal(true)),
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
  const { maxNew, temperature, examined, epochs, optimizer, adapter, curriculum, turnRewards, ...loss } =
    data.settings;
  expectSchedule(optimizer);
  if (turnRewards && !data.agent)
    throw wrongInput('run.setting', `turnRewards=${turnRewards} means nothing here: answers have one turn.`, {
      expected: 'a run with --agent',
      next: 'Leave --set turnRewards out.',
    });
  if (curriculum && data.seats && data.seats.length > 1)
    throw wrongInput(
      'run.setting',
      'A curriculum asks whether a task’s rewards are all equal, and seats have rewards of their own.',
      {
        expected: 'a run with one seat',
        next: 'Leave --set curriculum out, or --seats.',
      },
    );
  const questions = {
    tasks: { sources: data.sources, heldOut: data.heldOut },
    checker: findChecker(data.checker, [...CHECKERS, program]),
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
  });
  const name = grpoName(data);
  return { ...withLoss(recipe, loss), name, hosted: [hostedQuestions(name, () => questions)] };
}
