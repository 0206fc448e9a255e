/**
 * PRIME: dense rewards without step labels. A second language model is trained on outcomes alone, so that β Σ log(ψ/ref) over an answer
 * predicts whether it is right; token by token the same log-ratio is then a process reward for the policy.
 *
 *   tasks     those on which between .2 and .8 of the answers are right
 *   q         log ψ - log ref of each token, ψ before its update on these answers
 *   credit    leave-one-out advantage of the outcome + 5 x that of q, rescaled and summed to go; whitened over the round's tokens
 *   ψ         cross-entropy of σ(β Σ q) against the outcome, once a round, on the same answers
 */
import type { Recipe } from '../core/recipe.ts';
import { groupsInBand } from '../core/rl/group-filter.ts';
import { implicitProcess, rescaleByLargestReturn } from '../core/rl/implicit-process.ts';
import { rloo } from '../core/rl/rloo.ts';
import { mean, whiten } from '../core/rl/statistics.ts';
import { mixStreams } from '../core/rl/streams.ts';
import { exactReward, formatReward, randomReward } from '../core/roles/answer-rewards.ts';
import { drawnTasks } from '../core/roles/drawn-tasks.ts';
import { solverAlone, solverUpdate } from '../core/roles/solver-recipe.ts';
import { OPTIMIZER } from '../core/roles/solver-verifier.ts';
import { tokenRewardFigures } from '../core/roles/token-reward-figures.ts';
import type { RunSettings } from '../core/schema/round.ts';
import type { ScoredGroup } from '../core/schema/sample.ts';
import { arithmetic } from '../core/tasks/arithmetic.ts';
import { carelessTask } from '../core/tasks/careless.ts';
import type { LearnTools, Lesson, PolicyItem, RoundRecords } from '../core/training.ts';
import { primeClaim } from './claims/prime.ts';

const PRM = 'prm';
/** Answers here are a dozen tokens long, the paper's are thousands at .05: β Σ q has to span a few units. */
const BETA = 0.5;
const PROCESS_WEIGHT = 5;
/** Rounds in which the reward model of the frozen variant learns. */
const LEARNS = 4;
const VARIANTS = {
  outcome: 'the policy is paid for outcomes alone: RLOO',
  frozen: `the reward model learns in the first ${LEARNS} rounds only`,
};

const rewardsOf = (groups: readonly ScoredGroup[]) =>
  groups.flatMap(({ samples }) => samples.map(({ rewards }) => rewards.reward ?? 0));
const keysOf = (groups: readonly ScoredGroup[]) =>
  groups.flatMap(({ group, samples }) => samples.map(() => group));

/** Outcome and process advantages, mixed and whitened; q [answers][tokens]. */
export function weighAnswers(
  groups: readonly ScoredGroup[],
  q: readonly (readonly number[])[],
  variant: RunSettings['variant'],
): PolicyItem[] {
  const samples = groups.flatMap((group) => group.samples);
  const [rewards, keys] = [rewardsOf(groups), keysOf(groups)];
  const process = implicitProcess(rescaleByLargestReturn(q), keys);
  const mixed = mixStreams(
    [
      { weight: 1, advantages: rloo(rewards, keys) },
      { weight: variant === 'outcome' ? 0 : PROCESS_WEIGHT, advantages: process },
    ],
    samples.map(({ ids }) => ids.length),
  );
  const advantages = whiten(mixed.flatMap((tokens) => tokens!));
  return samples.map((sample) => ({ sample, advantage: advantages.splice(0, sample.ids.length) }));
}

async function learn({ round, groups }: RoundRecords, tools: LearnTools): Promise<Lesson> {
  const { variant } = round.settings;
  const all = groups.flatMap(({ samples }) => samples);
  const start = await tools.score(PRM, all, 0);
  const now = await tools.score(PRM, all);
  const q = now.map((logprobs, i) => Array.from(logprobs, (logprob, t) => logprob - start[i]![t]!));
  const band = new Set(
    groupsInBand(rewardsOf(groups), keysOf(groups), { low: 0.2, high: 0.8, inclusive: true }),
  );
  const kept = groups.filter(({ group }) => band.has(group));
  const isKept = keysOf(groups).map((key) => band.has(key));
  const items = kept.flatMap(({ samples }) =>
    samples.map(({ prompt, ids, rewards }) => ({ prompt, ids, outcome: rewards.reward ?? 0 })),
  );
  const learns = variant !== 'outcome' && (variant !== 'frozen' || round.index <= LEARNS);
  const reference = { set: PRM, version: 0 };
  return {
    updates: [
      ...(learns && items.length
        ? [
            {
              set: PRM,
              parts: [{ kind: 'outcome', role: PRM, weight: 1, items, beta: BETA, reference } as const],
            },
          ]
        : []),
      ...solverUpdate(
        weighAnswers(
          kept,
          q.filter((_, i) => isKept[i]),
          variant,
        ),
        {
          objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 },
          aggregation: { mode: 'token-mean' },
        },
      ),
    ],
    figures: {
      ...tokenRewardFigures(arithmetic, groups, q, tools),
      solved: mean(rewardsOf(groups)),
      kept: kept.length,
    },
  };
}

export const prime: Recipe = {
  name: 'prime',
  title: 'Process rewards from an implicit reward model, trained online on outcomes',
  paper: {
    title: 'Process Reinforcement through Implicit Rewards',
    year: 2025,
    source: 'arXiv:2502.01456',
  },
  summary:
    'A solver is paid for exact answers and, token by token, by the log-ratio of a second model to the start: a model that is trained every round to tell right answers from wrong ones, and thereby finds out which tokens matter.',
  differences: [
    'A round’s tasks are rolled out once and those in the band kept; the paper draws until it has a full batch.',
    'β is .5 where the paper has .05: answers have a dozen tokens, not thousands.',
    'The reward model trains on what the policy trains on, in four steps a round as the policy does; the paper takes one.',
  ],
  claim: primeClaim,
  start: 'careless',
  tasks: 64,
  group: 4,
  variants: VARIANTS,
  sets: {
    main: { optimizer: { ...OPTIMIZER, learningRate: 1e-4 } },
    [PRM]: { optimizer: { ...OPTIMIZER, learningRate: 2e-4, clipNorm: 10 } },
  },
  learn,
  ...solverAlone({
    family: arithmetic,
    rewards: { exact: exactReward, random: randomReward, format: formatReward },
    tasks: (stage) => drawnTasks(stage, carelessTask),
  }),
};
