/** PRIME: dense rewards without step labels, by a second language model that is trained on outcomes alone. */
import type {
  ImplicitPrmPart,
  LearnTools,
  PolicyItem,
  RoundRecords,
  TrainingPlan,
} from '../../core/plan/training-plan.ts';
import { type Described, type Method, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import {
  equalClassWeights,
  implicitProcess,
  rescaleByLargestReturn,
  rloo,
} from '../../core/rl/estimators/index.ts';
import { mixStreams } from '../../core/rl/rewards/index.ts';
import { groupsInBand } from '../../core/rl/selection/index.ts';
import { mean, whiten } from '../../core/rl/statistics.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { solverAlone, solverUpdate } from '../../protocols/solver.ts';
import { OPTIMIZER } from '../../protocols/solver-verifier.ts';
import { chains, freshChain } from '../../worlds/chains/family.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { tokenRewardFigures } from './token-reward-figures.ts';

const PRM = 'prm';
/** Tasks in the policy's batch, all from the band of pass rates. The number is the same in every round, however many tasks are in the band. */
const BATCH = 8;
/** Rounds at the beginning that train the reward model alone. */
const ALONE = 8;
/** β of the reward model, and what its process rewards weigh beside the outcome's 1. */
interface Credit {
  readonly beta: number;
  readonly process: number;
}
const PUBLISHED: Credit = { beta: 0.05, process: 5 };
/** For answers of a few dozen tokens, where the paper's have thousands: β Σ q has to span a few units in both. */
const SHORT: Credit = { beta: 0.5, process: 2 };
/** Answers that may have fewer tokens are short. */
const LONG_TOKENS = 64;
/** With larger steps the policy changes faster than the reward model, which would then score answers of a kind that it was never trained on. */
const LEARNING_RATE = 1e-4;
const VARIANTS = {
  outcome: 'the policy is paid for outcomes alone: RLOO; the reward model rests',
  frozen: `the reward model learns in its ${ALONE} rounds alone and no more`,
};

const samplesOf = (groups: readonly ScoredGroup[]) => groups.flatMap(({ samples }) => samples);
const rewardsOf = (groups: readonly ScoredGroup[]) => samplesOf(groups).map(({ rewards }) => rewards.reward!);

/** A group without the samples whose reward is missing, which is not a reward of 0. */
function rated(group: ScoredGroup): ScoredGroup {
  const known = group.samples.map(({ rewards }) => (rewards.reward ?? null) !== null);
  const kept = <T>(values: readonly T[]) => values.filter((_, i) => known[i]);
  return {
    ...group,
    samples: kept(group.samples),
    answersExact: kept(group.answersExact),
    solutionsExact: kept(group.solutionsExact),
  };
}
const keysOf = (groups: readonly ScoredGroup[]) =>
  groups.flatMap(({ group, samples }) => samples.map(() => group));

/** log ψ - log ref [answers][tokens]; zeros for the variant `outcome`, which does not use the reward model. */
async function tokenRewards(variant: string | undefined, answers: readonly Sample[], tools: LearnTools) {
  if (variant === 'outcome') return answers.map(({ ids }) => ids.map(() => 0));
  const start = await tools.score(PRM, answers, 0);
  const now = await tools.score(PRM, answers);
  return now.map((logprobs, i) => Array.from(logprobs, (logprob, t) => logprob - start[i]![t]!));
}

/** Outcome and process advantages, summed by their weights and whitened; q [answers][tokens]. */
export function answersWithAdvantages(
  groups: readonly ScoredGroup[],
  q: readonly (readonly number[])[],
  { process }: Pick<Credit, 'process'> = SHORT,
): PolicyItem[] {
  const samples = samplesOf(groups);
  const [rewards, keys] = [rewardsOf(groups), keysOf(groups)];
  const mixed = mixStreams(
    [
      { weight: 1, advantages: rloo(rewards, keys) },
      { weight: process, advantages: implicitProcess(rescaleByLargestReturn(q), keys) },
    ],
    samples.map(({ ids }) => ids.length),
  );
  const advantages = whiten(mixed.flatMap((tokens) => tokens!));
  return samples.map((sample) => ({ sample, advantage: advantages.splice(0, sample.ids.length) }));
}

/** The training part of the reward model; none where all answers are right, or all are wrong. */
function outcomeItems(groups: readonly ScoredGroup[]): ImplicitPrmPart['items'] {
  const rewards = rewardsOf(groups);
  if (new Set(rewards).size < 2) return [];
  const weights = equalClassWeights(rewards);
  return samplesOf(groups).map(({ prompt, ids }, i) => ({
    prompt,
    ids,
    outcome: rewards[i]!,
    weight: weights[i]!,
  }));
}

async function planTraining(
  family: TaskFamily,
  credit: Credit,
  { round, ...records }: RoundRecords,
  tools: LearnTools,
): Promise<TrainingPlan> {
  const groups = records.groups.map(rated);
  const { variant } = round.settings;
  const alone = round.index <= ALONE;
  const learns = variant === 'frozen' ? alone : variant !== 'outcome';
  const q = await tokenRewards(variant, samplesOf(groups), tools);
  const inBand = groupsInBand(rewardsOf(groups), keysOf(groups), { low: 0.2, high: 0.8, inclusive: true });
  const band = new Set(alone ? [] : inBand.slice(0, BATCH));
  const isKept = keysOf(groups).map((key) => band.has(key));
  const answers = answersWithAdvantages(
    groups.filter(({ group }) => band.has(group)),
    q.filter((_, i) => isKept[i]),
    credit,
  );
  const items = learns ? outcomeItems(groups) : [];
  const part = { kind: 'implicit-prm', role: PRM, weight: 1, items, beta: credit.beta } as const;
  return {
    updates: [
      ...(items.length ? [{ set: PRM, parts: [{ ...part, reference: { set: PRM, version: 0 } }] }] : []),
      ...solverUpdate(answers, ppoClip()),
    ],
    figures: {
      ...(variant === 'outcome' ? {} : tokenRewardFigures(family, groups, q, tools)),
      solved: mean(rewardsOf(groups)),
      kept: inBand.length,
    },
  };
}

const methodOf = ({ beta, process }: Credit): Method => ({
  setting:
    'A solver answers long chains of eight operators, where nearly one step of three goes wrong, so that outcomes are sparse. No steps are labelled.',
  roles:
    'The solver answers 128 tasks four times each. A second model, the implicit reward model, starts as a copy of the same weights and generates nothing.',
  rewards:
    'The outcome is 1 for an exact answer and 0 otherwise. The process reward of a token is log ψ - log ref, the log-probability of the token under the reward model, before its update on these answers, less that under version 0.',
  credit: `Outcomes are compared within a group, each against the mean of the others (leave-one-out). Process rewards are rescaled by the largest return, summed to go and given a leave-one-out baseline; they weigh ${process} beside the outcome’s 1. The sum is whitened over the round’s tokens. Only eight tasks of those on which between 20 and 80 % of the answers are right train the policy.`,
  objective: `The policy: a clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens. The reward model: cross-entropy of σ(${beta} · Σ(log ψ - log ref)) against the outcome, over all answers, right and wrong ones weighing the same.`,
  schedule:
    'In the first eight rounds the reward model learns alone; after that both learn in every round, the reward model first. A claim counts the policy’s updates.',
});

const STEPS =
  'The reward model takes four steps a round, as the policy does and as large; the paper’s are twice as large.';
/** What differs from the paper whatever the answers' lengths are. */
const DIFFERENCES = [
  `A batch has ${BATCH} tasks of the band, of 128 rolled out, the paper’s 256. The reward model learns alone for ${ALONE} rounds; the paper’s learns with the policy from the first. It is a copy of the reference then, whose noise would pay as much as what it learns later.`,
  'The reward model learns from every answer, right and wrong ones weighing the same; the paper’s from those of the band. A round’s tasks are rolled out once, and what the band has beyond a batch is left; the paper draws until a batch is full and keeps the rest.',
];
const differencesOf = (credit: Credit): string[] => [
  ...DIFFERENCES,
  ...(credit === SHORT
    ? [
        `Process rewards weigh 2, not 5: after rescaling by the largest return the credit of thirty tokens is as large as that of outcomes. β is 0.5, not 0.05, for the same reason. ${STEPS}`,
      ]
    : [STEPS]),
];

const described = {
  name: 'prime',
  title: 'Process rewards from an implicit reward model, trained online on outcomes',
  paper: { title: 'Process Reinforcement through Implicit Rewards', year: 2025, source: 'arXiv:2502.01456' },
  summary:
    'A solver is paid for exact answers and, token by token, by the log-ratio of a second model to the start: a model that is trained every round to tell right answers from wrong ones, and thereby finds out which tokens matter.',
  figures: {
    auc: 'Area under the ROC curve by which an answer’s sum of token rewards tells exact answers from others; 0.5 is chance.',
    groupAuc: 'The same area within the answers to one task, mean over tasks with both kinds; 0.5 is chance.',
    stepAuc: 'The same area over single steps, right ones against wrong ones; 0.5 is chance.',
    solved: 'Mean reward of the answers.',
    kept: 'Number of groups in which between 20 and 80 % of the answers are paid; the others are left out.',
  },
  variants: VARIANTS,
  sets: {
    main: { optimizer: { ...OPTIMIZER, learningRate: LEARNING_RATE } },
    [PRM]: { optimizer: { ...OPTIMIZER, learningRate: LEARNING_RATE, clipNorm: 10 } },
  },
} satisfies Described;

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => {
    const { family, words } = game;
    const credit = words.solve.maxNew < LONG_TOKENS ? SHORT : PUBLISHED;
    return {
      ...described,
      method: methodOf(credit),
      differences: differencesOf(credit),
      ...solverAlone({ ...game, placement: 'token' }),
      learn: (records, tools) => planTraining(family, credit, records, tools),
    };
  },
  ownReward: 'its reward model learns from right and wrong answers',
};

const freshChains = familyGame(chains, {
  tasks: (context) => drawnTasks(context, (random) => freshChain(random)),
  draws: 12,
});

export const prime = played(written, freshChains);
