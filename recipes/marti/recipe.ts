/** MARTI: agents of a workflow are trained by their own rewards, shaped by how it went before them. */

import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { reinforcePlusPlus } from '../../core/rl/estimators/index.ts';
import { marginShaping, qualityShaping } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Maybe } from '../../core/rl/types.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { exactReward, formatReward, majorityReward, randomReward } from '../../protocols/answer-rewards.ts';
import {
  DEBATE_FIGURES,
  debate,
  evaluateDebates,
  PARTNER,
  payDebates,
  type Scored,
  type Turns,
  TWO_AGENTS,
} from '../../protocols/debate.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { ofFamily, policyUpdate, rewardNamed, rewardOf, SOLVER } from '../../protocols/solver.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';

const CRITIC = 'critic';
/** The parameter set of each role. */
const SETS = { [SOLVER]: MAIN_SET, [PARTNER]: PARTNER, [CRITIC]: PARTNER } as const;
type Role = keyof typeof SETS;

const [SOLVES, PARTNERS] = [{ role: SOLVER }, { role: PARTNER }];
const DEBATE: Turns = [
  [SOLVES, PARTNERS],
  [SOLVES, PARTNERS],
];
/** Who speaks when, in the variants that are other workflows than a debate. */
const WORKFLOWS: Readonly<Record<string, Turns>> = {
  mixture: [[SOLVES, PARTNERS], [SOLVES]],
  chain: [[SOLVES], [{ role: CRITIC, reviews: true }], [SOLVES]],
};
const workflowOf = (variant: string | undefined): Turns => WORKFLOWS[variant ?? ''] ?? DEBATE;

/** Weight of the history in a reward. */
const ALPHA = 0.5;

const VARIANTS = {
  mixture: 'mixture of agents: both answer, and the solver answers last, beside both answers',
  chain:
    'a chain of agents: the solver answers, the critic says what is right in it, and the solver answers again',
  quality:
    'staying right is paid and staying wrong costs, R + α(QR − (1 − Q)(1 − R)), in place of the margin',
  'no-shaping': 'each answer is paid for itself alone',
} as const;

/**
 * Rewards [turns][seats] by what the answers score and how all answers of earlier turns did; null = missing. A review is paid the mean of what the
 * answers in the turn after it are paid.
 */
export function shapedRewards(said: readonly (readonly Scored[])[], variant?: string): Maybe[][] {
  const shape = variant === 'quality' ? qualityShaping : marginShaping;
  const rewards = said.map((turn, t) => {
    const earlier = said
      .slice(0, t)
      .flatMap((each) => each.flatMap((one) => (one.reviews ? [] : [one.score])));
    return turn.map(({ score }) => {
      if (variant === 'no-shaping' || score === null) return score;
      if (earlier.includes(null)) return null;
      return shape(score, earlier.length ? mean(earlier as number[]) : null, ALPHA);
    });
  });
  return rewards.map((turn, t) =>
    turn.map((reward, s) => {
      if (!said[t]![s]!.reviews) return reward;
      const next = rewards[t + 1] ?? [];
      return next.length === 0 || next.includes(null) ? null : mean(next as number[]);
    }),
  );
}

/** What an answer itself scores; its reward is on another scale. */
const rewards = {
  exact: { ...exactReward, ownScale: true },
  majority: {
    ...majorityReward,
    description: '1 for the answer that most of the task’s answers give, of all agents and turns',
    ownScale: true,
  },
  format: { ...formatReward, ownScale: true },
  random: { ...randomReward, ownScale: true },
} as const;

/** Is there something to tell its answers apart by? Scores that are all 0 or all 1 say nothing. */
const differs = (scores: readonly Maybe[]): boolean => {
  const known = scores.filter((score) => score !== null);
  return known.length > 0 && mean(known) > 0 && mean(known) < 1;
};

function learn({ groups }: RoundRecords): TrainingPlan {
  const told = groups.filter(({ samples }) =>
    differs(samples.flatMap(({ role, rewards: { score = null } }) => (role === CRITIC ? [] : [score]))),
  );
  const samples = told.flatMap((group) => group.samples);
  return {
    updates: (Object.keys(SETS) as Role[]).flatMap((role) => {
      const own = samples.filter((sample) => sample.role === role);
      const advantages = reinforcePlusPlus(
        own.map((sample) => ({ reward: rewardOf(sample), mask: sample.ids.map(() => 1) })),
      );
      return policyUpdate(
        role,
        own.flatMap((sample, i) => (advantages[i] ? [{ sample, advantage: advantages[i] }] : [])),
        {
          ...ppoClip(),
          ...nearStart(0.001, SETS[role]),
        },
        SETS[role],
      );
    }),
    figures: { trainedGroups: told.length },
  };
}

const described = {
  name: 'marti',
  title: 'Agents of a workflow, paid for what they add to its history',
  paper: {
    title: 'MARTI: A Framework for Multi-Agent LLM Systems Reinforced Training and Inference',
    year: 2025,
    source: 'https://github.com/TsinghuaC3I/MARTI',
  },
  summary:
    'Two agents with weights of their own debate a question, or work on it as a mixture or a chain. An answer is paid for itself and for being better than the answers of the turns before it.',
  method: {
    setting:
      'Two agents answer arithmetic chains. Both start as copies of one policy, which slips the more the longer a chain is, and which was taught to read one other solution beside a chain and hands it in unchanged in half of the cases, right or wrong.',
    roles:
      'Solver and partner answer a task at the same time, and then once more, each beside its own answer and that of the other. Four debates are held of each task.',
    rewards:
      'An answer has R = 1 if it is exact, otherwise 0. In later turns its reward is R + 0.5 (R − Q), where Q is the mean R of all answers in the turns before it.',
    credit:
      'Rewards are whitened over all tokens of an agent in the batch (REINFORCE++). Tasks whose answers are all right or all wrong are left out.',
    objective:
      'For each agent a clipped policy gradient on its own texts, ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule: 'Each round updates both agents, once over its batch.',
  },
  differences: [
    'Two agents and two turns. An agent always reads all answers of the turn before, its own first; the paper shuffles up to five.',
    'Workflows are a debate, a mixture with one aggregator and a chain of three texts; the tree search of its second version is left out. The chain’s critic writes what it finds, and is paid what the answer after it is paid; in the framework it may give a verdict that is compared with the truth.',
    'Updates are on policy, so that the truncated importance weights of asynchronous rollouts have nothing to correct; GSPO is `--set objective.kind=gspo`.',
  ],
  figures: {
    ...DEBATE_FIGURES,
    trainedGroups:
      'Number of tasks that are trained on: those whose answers are neither all right nor all wrong.',
  },
  variants: VARIANTS,
  sets: TWO_AGENTS,
} satisfies Described;

const written: RecipeOver<'solve' | 'debate' | 'review'> = {
  needs: { verbs: ['solve', 'debate', 'review'], data: ['answer'] },
  over: (game) => {
    const { family, words } = game;
    const agent = role('answers, and answers again after the others', words.solve.maxNew, {
      speaksAs: SOLVER,
    });
    return {
      ...ofFamily(family),
      ...described,
      rewards,
      roles: {
        [SOLVER]: agent,
        [PARTNER]: { ...agent, description: 'does the same with weights of its own', set: PARTNER },
        [CRITIC]: role('says what is right in an answer, in a chain alone', words.review.maxNew, {
          speaksAs: SOLVER,
          set: PARTNER,
        }),
      },
      freezable: [SOLVER, PARTNER, CRITIC],
      propose: async (context) => game.tasks(context),
      rollOut: (context, tasks) =>
        debate(game, context, tasks, () => workflowOf(context.round.settings.variant)),
      judge: async (context, groups) => {
        const { rewardFunction, variant } = context.round.settings;
        const reward = rewardNamed(rewards, rewardFunction);
        return groups.map((group) =>
          payDebates(family, reward, context, group, (said) => shapedRewards(said, variant), [CRITIC]),
        );
      },
      learn,
      evaluate: (context) =>
        evaluateDebates(game, context, SOLVER, workflowOf(context.round.settings.variant)),
    };
  },
  ownReward: 'the scores of all answers before it shape the reward of each',
};

export const marti = played(written, aidedSums);
