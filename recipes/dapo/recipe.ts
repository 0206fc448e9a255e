/** DAPO: group-relative policy gradient with four repairs, each of which can be taken out. */
import type { Game } from '../../core/game/game.ts';
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { Random } from '../../core/random.ts';
import {
  arXiv,
  type Described,
  type EpisodeMethod,
  played,
  type RecipeOver,
  type WithoutSetup,
} from '../../core/recipe/recipe.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { overlongPenalty } from '../../core/rl/rewards/index.ts';
import { groupsInBand } from '../../core/rl/selection/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RunSettings } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import {
  type AnswerReward,
  exactReward,
  formatReward,
  randomReward,
} from '../../protocols/answer-rewards.ts';
import { episodeItems } from '../../protocols/episode-credit.ts';
import { SUM } from '../../protocols/questions/paid-by-sum.ts';
import { groupItems, solverAlone, solverUpdate, trainedSolver } from '../../protocols/solver.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { verboseArithmetic } from '../../worlds/arithmetic/verbose.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';

/** Tasks rolled out for each task that is trained on, as many as in the paper's first wave. */
const OVER_GENERATION = 3;
const MAX_TOKENS = 48;
const BUFFER = 24;
/** Passes over a round's batch. With one or two, ratios rarely reach the bounds of the clip. */
const EPOCHS = 6;
/** Operators of an easy and of a hard task; half of the tasks are of each kind. */
const [EASY, HARD] = [1, 5];
/** The largest number of easy tasks in a round: only 200 exist that are not held out. */
const EASY_TASKS = 150;

const VARIANTS = {
  'no-dynamic-sampling': 'every group is trained on, unanimous or not, and no more are rolled out',
  'no-clip-higher': 'ratios clipped to 1 ± 0.2',
  'no-token-mean': 'each answer counts the same, whatever its length',
  grpo: 'none of the three',
};
type Repair = 'dynamic-sampling' | 'clip-higher' | 'token-mean';
const has = ({ variant }: Pick<RunSettings, 'variant'>, repair: Repair) =>
  variant !== 'grpo' && variant !== `no-${repair}`;

/** Maps 0 and 1 to -1 and +1. */
const signed = (reward: AnswerReward): AnswerReward => ({
  ...reward,
  pay: (evidence) => reward.pay(evidence).map((r) => (r === null ? null : 2 * r - 1)),
});
const shaped = (maxLength: number, buffer: number): AnswerReward => ({
  description: '+1 for an exact answer, else -1; less where it comes near the limit',
  usesGold: true,
  pay: (evidence) => {
    const limit = { maxLength, buffer, factor: 1 };
    const lengths = evidence.group.samples.map(({ ids }) => overlongPenalty(ids.length, limit));
    return signed(exactReward)
      .pay(evidence)
      .map((r, i) => r! + lengths[i]!);
  },
});

/** Whether an answer is right by its reward, whatever its length: right answers have a reward of at least 0, wrong ones of at most -1. */
export const passed = (reward: number | null | undefined) => Number((reward ?? -1) >= 0);

/** Where the reward is a weighted sum, no answer is right or wrong: 1 for an answer that is paid more than the worst of its group, otherwise 0. */
function better({ samples }: ScoredGroup): number[] {
  const known = samples.flatMap(({ rewards: { reward } }) => reward ?? []);
  const least = Math.min(...known);
  return samples.map(({ rewards: { reward } }) => Number((reward ?? least) > least));
}

/** The first `wanted` groups that are neither all right nor all wrong. */
export function mixedGroups(
  groups: readonly ScoredGroup[],
  wanted: number,
  passes: (group: ScoredGroup) => readonly number[] = ({ samples }) =>
    samples.map(({ rewards }) => passed(rewards.reward)),
): ScoredGroup[] {
  const rewards = groups.flatMap(passes);
  const keys = groups.flatMap(({ group, samples }) => samples.map(() => group));
  const mixed = new Set(groupsInBand(rewards, keys));
  return groups.filter(({ group }) => mixed.has(group)).slice(0, wanted);
}

/**
 * Tasks of one operator and of five in turn, so that rounds are as alike as possible; only tasks of five operators once the easy ones are used up.
 */
const halfEasy = (random: Random, index: number): string =>
  freshTask(random, index % 2 || index >= 2 * EASY_TASKS ? HARD : EASY);

/** `items`: how answers, or whole episodes, are compared. */
function planTraining(
  { round: { settings }, groups }: RoundRecords,
  items: typeof groupItems,
  passes?: typeof better,
): TrainingPlan {
  const trained = has(settings, 'dynamic-sampling') ? mixedGroups(groups, settings.tasks, passes) : groups;
  const updates = solverUpdate(items(trained, grpo), {
    objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: has(settings, 'clip-higher') ? 0.28 : 0.2 },
    aggregation: { mode: has(settings, 'token-mean') ? 'token-mean' : 'seq-mean-token-mean' },
  }).map((update) => ({ ...update, epochs: EPOCHS }));
  const samples = groups.flatMap((group) => group.samples);
  const figures = {
    trainedGroups: trained.length,
    unanimous: trained.length - mixedGroups(trained, trained.length, passes).length,
    truncated: mean(samples.map(({ outcome }) => Number(outcome === 'cut-off'))),
  };
  return { updates, figures };
}

const learn = (records: RoundRecords): TrainingPlan =>
  planTraining(records, groupItems, records.round.settings.rewardFunction === SUM ? better : undefined);

/** How many tasks are rolled out. */
const drawn = (settings: RunSettings): number =>
  settings.tasks * (has(settings, 'dynamic-sampling') ? OVER_GENERATION : 1);

/** The length penalty grows over the last `buffer` tokens before the limit. */
const stages = ({ family, words: { solve }, tasks }: Game<'solve'>, buffer: number) => {
  const { maxNew } = solve;
  return solverAlone({
    family,
    maxNew,
    rewards: {
      shaped: shaped(maxNew, buffer),
      exact: signed(exactReward),
      format: signed(formatReward),
      random: signed(randomReward),
    },
    tasks: (context) => tasks(context, drawn(context.round.settings)),
  });
};

/** The share of the limit over which the paper's length penalty grows. */
const PUBLISHED_BUFFER = 0.2;

const described = {
  name: 'dapo',
  title: 'DAPO: decoupled clip and dynamic sampling',
  paper: arXiv('2503.14476', 'DAPO: An Open-Source LLM Reinforcement Learning System at Scale'),
  summary:
    'A solver answers easy and hard chains, eight times each, and is paid for exact answers that keep off the length limit. Groups that are all right or all wrong are passed over; the first mixed ones make the batch.',
  method: {
    setting:
      'A solver answers arithmetic chains, half of them with one operator and half with five, under a limit of 48 tokens. Its start policy slips in one step of ten and goes on checking after its last step, sometimes without end.',
    roles:
      'The solver is the only role. Three times as many tasks are rolled out as are trained on, eight answers each.',
    rewards:
      'An answer earns +1 if it is exact and -1 if it is not, less up to 1 more over the last 24 tokens before the limit (soft overlong punishment).',
    credit:
      'Groups whose answers are all right or all wrong are left out, and the first mixed ones make the batch (dynamic sampling). The advantage of an answer is its reward minus the mean of its group, divided by the group’s deviation (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.28] (clip-higher) and a mean over all tokens of the step rather than over answers (token-level loss). There is no KL term and no critic. Each of the repairs can be taken out by a variant.',
    schedule: 'Each round’s batch is gone over six times, in 16 optimiser steps a pass.',
  },
  differences: [
    'One wave a round: three times the tasks are rolled out, and what is mixed among them is trained on, at most the wanted number. The paper goes on for up to ten waves. 64 groups of 8, the paper’s 512 of 16.',
    'Half of the tasks have one operator and half five, so that there are groups with nothing to teach. The start slips in one step of ten where there are several, and goes on checking after its last step, as long as the steps took and sometimes much longer. A step may begin with any letter in place of its tag, and half of them do: rare tokens that are as right as the likely one.',
    'The punishment grows over half of the limit of 48 tokens, the paper’s over a fifth: hard tasks’ answers have 13 to 24 tokens without checks, and most of the checks can be saved.',
    `A batch is trained on ${EPOCHS} times, in 16 steps each; the paper’s once, in 16.`,
    'Greedy accuracy is nothing at first: the likeliest next token is one more check, without end. Sampled accuracy says what is learned.',
  ],
  figures: {
    trainedGroups: 'Number of groups that were trained on.',
    unanimous: 'Number of trained groups whose answers are all right or all wrong, which teach nothing.',
    truncated: 'Share of the answers that were cut off at the limit of tokens.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ learningRate: 1e-4, minibatches: 16 }),
} satisfies Described;

const inEpisodes: EpisodeMethod = {
  ...described,
  summary:
    'Agents hold three times as many tasks as are trained on. Tasks whose episodes are all paid alike are passed over; the first others make the batch.',
  method: {
    ...described.method,
    setting: 'Programs outside the mesh hold the episodes of tasks from files.',
    roles: 'The solver answers agents. Three times as many tasks are held as are trained on.',
    rewards: 'What the agent posts at the end of its episode. A length penalty is the agent’s to pay.',
    credit:
      'Tasks whose episodes all have the same reward are left out, and the first others make the batch (dynamic sampling). The advantage of an episode, on all of its answers, is its reward minus the mean of its task, divided by the task’s deviation (GRPO).',
    schedule: `Each round’s batch is gone over ${EPOCHS} times.`,
  },
  differences: [
    'One wave a round: three times the tasks are held, and what is mixed among them is trained on, at most the wanted number. The paper goes on for up to ten waves.',
    'There is no soft overlong punishment: an agent says what an episode is worth.',
    `A batch is trained on ${EPOCHS} times; the paper’s once, in 16 steps.`,
  ],
  drawn,
  learn: (records) => planTraining(records, episodeItems, better),
};

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...stages(game, Math.max(1, Math.floor(PUBLISHED_BUFFER * game.words.solve.maxNew))),
    learn,
  }),
  compared: passed,
};

/** Half of the tasks are easy, and the limit is so near that checks without end meet it. */
const chains = familyGame(verboseArithmetic, {
  maxNew: MAX_TOKENS,
  tasks: (context, count) => drawnTasks(context, halfEasy, count),
});

export const dapo: WithoutSetup = {
  ...played(written, chains),
  ...stages(chains, BUFFER),
  inEpisodes,
};
