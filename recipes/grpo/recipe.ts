/**
 * grpo: group relative policy optimisation (Shao et al., DeepSeekMath, 2024) on questions with reference answers, for any policy. Its variants are
 * methods that differ only in advantages, objective or averaging, so that they can be compared under equal conditions.
 */
import * as v from 'valibot';
import { CHECKERS, findChecker } from '../../core/checkers/registry.ts';
import { wrongInput } from '../../core/errors.ts';
import type { AdapterSettings, OptimizerSettings } from '../../core/plan/training-plan.ts';
import type { FromFiles, RewardModules } from '../../core/recipe/from-files.ts';
import { arXiv, type Recipe } from '../../core/recipe/recipe.ts';
import { type Seat, seats } from '../../core/schema/agent.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { agentRound, environmentHeld, ONE_SEAT } from '../../protocols/agent-round.ts';
import { withHeldOutEpisodes } from '../../protocols/held-out-episodes.ts';
import { expectSchedule, lossEntries, withLoss } from '../../protocols/method-settings.ts';
import { type Curriculum, withCurriculum } from '../../protocols/questions/curriculum.ts';
import {
  dataName,
  episodeSettings,
  questionEntries,
  questionSettings,
  toolNames,
} from '../../protocols/questions/data.ts';
import { expectEpisodes } from '../../protocols/questions/expect-episodes.ts';
import { rewardSum, rewardsOf } from '../../protocols/questions/reward-data.ts';
import { QUESTION_FIGURES, type Questions, questionRound } from '../../protocols/questions/round.ts';
import {
  TOOL_FIGURES,
  type ToolUse,
  toolRound,
  USUAL_TOOL_TURNS,
} from '../../protocols/questions/tool-round.ts';
import { REWARD_FIGURES } from '../../protocols/questions/weighted-reward.ts';
import { smallSteps } from '../../protocols/solver.ts';
import { listProgram } from '../../worlds/file/list-program-checker.ts';
import { objectsOfTasks } from '../../worlds/file/stored-tasks.ts';
import { servedQuestions } from '../../worlds/hosted/answers.ts';
import { CRITIC, methodOf, planTraining, runningBaselines, TURN_CREDITS, type TurnCredit } from './plan.ts';
import { GRPO, VARIANTS } from './variants.ts';

export interface GrpoSettings {
  readonly questions: Questions;
  /** The shipped policy that runs start from where no policy is named. */
  readonly startPolicy: string;
  readonly optimizer?: Partial<OptimizerSettings>;
  /** Passes over a round's batch. */
  readonly epochs?: number;
  /** Trains low-rank adapters in place of all weights. */
  readonly adapter?: AdapterSettings;
  /** Draws questions by the rewards of their last groups; absent means that all are drawn equally often. */
  readonly curriculum?: Curriculum;
  /** Programs outside the mesh hold the episodes, and post the reward of each; absent = nobody does. */
  readonly seats?: readonly Seat[];
  readonly turnRewards?: TurnCredit;
  /** Tools that the policy may use before it answers, which the mesh carries out. */
  readonly tools?: ToolUse;
}

/** The recipe over a set of questions. */
export function grpoOn({
  questions,
  startPolicy,
  optimizer,
  epochs = 1,
  adapter,
  curriculum,
  seats,
  turnRewards = 'episode',
  tools,
}: GrpoSettings): Recipe {
  const { maxNew, temperature = 1 } = questions;
  const trained = { optimizer: smallSteps(optimizer) };
  const weights = { ...trained, ...(adapter ? { adapter } : {}) };
  const recipe: Recipe = {
    name: 'grpo',
    title: 'Group relative policy optimisation on questions with reference answers',
    paper: arXiv(
      '2402.03300',
      'DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models',
    ),
    summary:
      'A policy answers each question several times, a named checker says which answers are right, and each answer is reinforced by how much better it is than the others of its group.',
    method: {
      setting:
        'Questions and reference answers come from files. The policy is any that the mesh can run: a small policy in its tags, an imported checkpoint by its own chat template, a base model in plain text.',
      roles:
        'The solver is the only role: it answers each question of a round as often as the group is large.',
      rewards:
        'The checker pays 1 for a right answer and 0 otherwise, unless `--reward` names a weighted sum of rewards. An answer that is cut off at the limit of tokens is not right.',
      credit: `As published: ${GRPO.description}. Every other method is a variant by its name.`,
      objective:
        'The policy gradient of the variant, without a penalty for distance from the start unless the variant has one.',
      schedule: 'Each round draws fresh questions and trains on all of their answers.',
    },
    differences: [
      'There is no KL penalty by default, as in most of today’s use of the method; the variant `kl` has the paper’s.',
      'Held-out questions are never trained on, and a question in both parts of the data is left out of training.',
    ],
    figures: {
      unanimous:
        'Share of the groups, of each seat where there are several, whose answers all have the same reward.',
      ...(seats && seats.length > 1
        ? { seatReward: 'Mean reward of the seat over those of its episodes that have one.' }
        : {}),
      baseline:
        'Running mean of the role’s rewards after the round, against which the next round’s are held, in the reward’s own unit.',
      ...REWARD_FIGURES,
      ...QUESTION_FIGURES,
      ...(tools ? TOOL_FIGURES : {}),
    },
    startPolicy,
    state: runningBaselines,
    tasks: 32,
    groupSize: 8,
    variants: Object.fromEntries(
      Object.entries(VARIANTS).map(([name, { description }]) => [name, description]),
    ),
    sets: {
      [MAIN_SET]: weights,
      // Where it is not trained, it stays version 0 with a head of zeros.
      [CRITIC]: { ...trained, head: { kind: 'value' } },
      ...Object.fromEntries((seats ?? []).flatMap(({ name, own }) => (own ? [[name, weights]] : []))),
    },
    setVariants: { [CRITIC]: ['ppo'] },
    ...(seats
      ? agentRound(questions, seats)
      : tools
        ? toolRound(questions, tools)
        : questionRound(questions)),
    learn: (records, tools) =>
      planTraining(records, tools, methodOf(records.round.settings.variant), {
        maxNew,
        temperature,
        epochs,
        turnRewards,
        ...(seats ? { seats } : {}),
      }),
  };
  return curriculum ? withCurriculum(recipe, curriculum) : recipe;
}

/** What `--set` may change. */
const settings = v.strictObject({
  ...questionSettings,
  /** Credits each turn of an agent's episode with the episode's reward, or with what it and the turns after it were paid. */
  turnRewards: v.exactOptional(v.picklist(TURN_CREDITS)),
  ...episodeSettings,
  ...lossEntries,
});

const data = v.strictObject({
  ...questionEntries,
  settings,
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
export type GrpoData = v.InferOutput<typeof data>;

function recipeOf(given: GrpoData, modules: RewardModules = {}): Recipe {
  const {
    maxNew,
    temperature,
    examined,
    heldOutSamples,
    epochs,
    optimizer,
    adapter,
    curriculum,
    turnRewards,
    heldOutEpisodes,
    toolTurns = USUAL_TOOL_TURNS,
    ...loss
  } = given.settings;
  expectSchedule(optimizer);
  if (turnRewards && !given.agent)
    throw wrongInput('run.setting', `turnRewards=${turnRewards} means nothing here: answers have one turn.`, {
      expected: 'a run with --agent',
      next: 'Leave --set turnRewards out.',
    });
  expectEpisodes(given);
  if (curriculum && given.seats && given.seats.length > 1)
    throw wrongInput(
      'run.setting',
      'A curriculum asks whether a task’s rewards are all equal, and seats have rewards of their own.',
      { expected: 'a run with one seat', next: 'Leave --set curriculum out, or --seats.' },
    );
  const questions = {
    tasks: { sources: given.sources, heldOut: given.heldOut },
    checker: findChecker(given.checker, [...CHECKERS, listProgram]),
    extract: given.extract,
  };
  const recipe = grpoOn({
    startPolicy: given.start,
    questions: {
      ...questions,
      name: given.name,
      maxNew,
      temperature,
      examined,
      ...(heldOutSamples ? { heldOutSamples } : {}),
      rewards: rewardsOf(given.rewards, modules),
    },
    optimizer,
    epochs,
    ...(adapter ? { adapter } : {}),
    ...(curriculum ? { curriculum } : {}),
    ...(given.agent ? { seats: given.seats ?? ONE_SEAT } : {}),
    ...(turnRewards ? { turnRewards } : {}),
    ...(given.tools ? { tools: { names: given.tools, turns: toolTurns } } : {}),
  });
  const name = dataName('grpo', given);
  const made = withLoss(recipe, loss);
  return {
    ...(heldOutEpisodes ? withHeldOutEpisodes(made, given.heldOut, heldOutEpisodes) : made),
    name,
    called: `grpo on ${given.name}`,
    hosted: servedQuestions(name, questions),
    ...objectsOfTasks(given),
  };
}

export const grpo: FromFiles = {
  reads: 'questions',
  needs: ['answer'],
  settings,
  data,
  make: (given, modules) => recipeOf(v.parse(data, given), modules),
};
