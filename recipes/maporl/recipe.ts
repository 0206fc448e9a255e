/** MAPoRL: agents that debate are trained together, each on its own answers. */

import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import type { Maybe } from '../../core/rl/types.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { exactReward, formatReward, randomReward } from '../../protocols/answer-rewards.ts';
import {
  DEBATE_FIGURES,
  debate,
  evaluateDebates,
  PARTNER,
  payDebates,
  type Turns,
  TWO_AGENTS,
} from '../../protocols/debate.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { exactShare } from '../../protocols/samples-of-role.ts';
import { creditedItems, ofFamily, policyUpdate, rewardNamed, rewardOf } from '../../protocols/solver.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';
import { type FlipWeights, flipPay, influenceReturns } from './influence.ts';

const DEBATER = 'debater';
const SEATS = [{ role: DEBATER }, { role: PARTNER }];
const TURNS: Turns = [SEATS, SEATS];
const SETS = { [DEBATER]: MAIN_SET, [PARTNER]: PARTNER } as const;

const GAMMA = 0.3;
const FLIPS: FlipWeights = { own: { others: 0.5, alone: 0.5 }, led: { right: 0.5, wrong: 0.5 } };

const VARIANTS = {
  'untrained-partner': 'the partner keeps its first weights, and the debater alone is trained',
  'no-influence':
    'an answer is paid nothing for the turns after it: γ = 0, and no pay for the others’ changes',
  'no-flips': 'changes of mind are paid nothing',
} as const;

/** Rewards of a debate's answers from their scores, both [turns][agents]; null = missing. */
export function debateRewards(scores: readonly (readonly Maybe[])[], variant?: string): Maybe[][] {
  const isBlind = variant === 'no-influence';
  const returns = influenceReturns(scores, isBlind ? 0 : GAMMA);
  if (variant === 'no-flips') return returns;
  const flips = flipPay(scores, isBlind ? { ...FLIPS, led: { right: 0, wrong: 0 } } : FLIPS);
  return returns.map((turn, t) =>
    turn.map((value, a) => {
      const flip = flips[t]![a]!;
      return value === null || flip === null ? null : value + flip;
    }),
  );
}

/** What an answer itself scores; its reward is on another scale. */
const rewards = {
  exact: { ...exactReward, ownScale: true },
  format: { ...formatReward, ownScale: true },
  random: { ...randomReward, ownScale: true },
} as const;

function learn({ round, groups }: RoundRecords): TrainingPlan {
  const trained = round.settings.variant === 'untrained-partner' ? [DEBATER] : [DEBATER, PARTNER];
  const answers = groups.flatMap(({ group, samples, answersExact }) =>
    samples.map((sample, i) => ({ sample, group, exact: answersExact[i]! })),
  );
  const ofTurn = (wanted: number) =>
    exactShare([
      { answersExact: answers.flatMap(({ sample: { turn }, exact }) => (turn === wanted ? [exact] : [])) },
    ]);
  const [first, last] = [ofTurn(0), ofTurn(TURNS.length - 1)];
  return {
    updates: trained.flatMap((role) => {
      const own = answers.filter(({ sample }) => sample.role === role);
      const samples = own.map(({ sample }) => sample);
      // An answer is compared with those of the same agent in the same turn of the other debates.
      const keys = own.map(({ group, sample: { turn } }) => `${group}/${turn}`);
      return policyUpdate(
        role,
        creditedItems(samples, samples.map(rewardOf), keys, grpo),
        {
          ...ppoClip(),
          ...nearStart(0.002, SETS[role as keyof typeof SETS]),
        },
        SETS[role as keyof typeof SETS],
      );
    }),
    figures: {
      ...(first === null ? {} : { firstExact: first }),
      ...(last === null ? {} : { lastExact: last }),
    },
  };
}

const described = {
  name: 'maporl',
  title: 'Agents that debate, trained together',
  paper: arXiv(
    '2502.18439',
    'MAPoRL: Multi-Agent Post-Co-Training for Collaborative Large Language Models with Reinforcement Learning',
  ),
  summary:
    'Two agents answer a question, read each other’s answers and answer again. Each has weights of its own and is paid for its answers, for how both answer after it, and for changes from wrong to right, its own and the other’s.',
  method: {
    setting:
      'Two agents answer arithmetic chains. Both start as copies of one policy, which slips the more the longer a chain is, and which was taught to read one other solution beside a chain and hands it in unchanged in half of the cases, right or wrong.',
    roles:
      'The debater and the partner answer a task at the same time, and then once more, each beside its own answer and that of the other. Eight debates are held of each task. In use either agent can be asked alone.',
    rewards:
      'An answer scores v = 1 if it is exact and 0 if not. Its reward is (v + γ·m)/(1 + γ) with γ = 0.3, where m is the mean score of both agents in the next turn, and v alone in the last turn. An agent that goes from wrong to right is paid 0.5 more for the second answer, and 0.5 less where it goes from right to wrong. For its first answer it is paid the same for such a change of the other one.',
    credit:
      'The advantage of an answer is its reward minus the mean of the same agent’s answers in the same turn of the other debates of the task, divided by their deviation (GRPO).',
    objective:
      'For each agent a clipped policy gradient on its own answers, ratios in [0.8, 1.2] and a mean over tokens, plus 0.002 times a k3 estimate of the KL divergence to version 0.',
    schedule: 'Each round updates both agents, once over its batch.',
  },
  differences: [
    'Answers are compared with others of the same agent and turn, where the paper has a critic for each agent (GAE) and whitens the batch. The KL divergence is a term of the loss and not of the reward, by k3 and not k1.',
    'A checker scores answers, where the paper has a verifier that was trained on gold; so agents are not shown scores, which would tell them what is right. A debate has two agents and two turns and never stops early; the penalty for short and repetitive answers is left out, since nothing but the form counts against an answer here.',
    'All four weights of changes of mind are 0.5, where the paper sweeps 0 to 2. Signs follow the paper’s description; the released code has those of influence reversed.',
    'An agent has one set of weights, or one adapter, for all turns; in the paper the first turn has an adapter of its own.',
  ],
  figures: {
    ...DEBATE_FIGURES,
    firstExact: 'Share of exact answers in the first turn of the round’s debates.',
    lastExact: 'Share of exact answers in their last turn.',
  },
  variants: VARIANTS,
  sets: TWO_AGENTS,
} satisfies Described;

const written: RecipeOver<'solve' | 'debate'> = {
  needs: { verbs: ['solve', 'debate'], data: ['answer'] },
  over: (game) => {
    const { family, words } = game;
    const debater = role('answers, and answers again after the partner', words.solve.maxNew, {
      speaksAs: 'solver',
    });
    return {
      ...ofFamily(family),
      ...described,
      rewards,
      roles: {
        [DEBATER]: debater,
        [PARTNER]: { ...debater, description: 'does the same with weights of its own', set: PARTNER },
      },
      freezable: [DEBATER, PARTNER],
      propose: async (context) => game.tasks(context),
      rollOut: (context, tasks) => debate(game, context, tasks, () => TURNS),
      judge: async (context, groups) => {
        const { rewardFunction, variant } = context.round.settings;
        const reward = rewardNamed(rewards, rewardFunction);
        return groups.map((group) =>
          payDebates(family, reward, context, group, (debate) =>
            debateRewards(
              debate.map((turn) => turn.map(({ score }) => score)),
              variant,
            ),
          ),
        );
      },
      learn,
      evaluate: (context) => evaluateDebates(game, context, DEBATER, TURNS),
    };
  },
  ownReward: 'the scores of both agents’ answers make the reward of each',
};

export const maporl = played(written, aidedSums);
