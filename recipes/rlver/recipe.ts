/** RLVER: an assistant that is paid by the mood in which a user leaves. */

import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { grpoByEpisode } from '../../protocols/episode-credit.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { ofFamily, policyUpdate, trainedSolver } from '../../protocols/solver.ts';
import {
  ASSISTANT,
  evaluateTalks,
  judgeTalks,
  meanReplies,
  rollTalks,
  TALK_CONTROLS,
  TALK_FIGURES,
  type TalkEvidence,
} from '../../protocols/talk.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';
import { TEMPERS, type Temper } from '../../worlds/users/scripted-user.ts';

const VARIANTS = {
  open: 'an easier user, who says what he wants after every reply and loses 10 by one that gives him nothing',
  harsh: 'a harder user, who never says what he wants and loses 30',
} as const;
const temperOf = (variant: string | undefined): Temper =>
  variant === 'open' || variant === 'harsh' ? TEMPERS[variant] : TEMPERS.guarded;

const rewards = {
  mood: {
    description: 'the user’s mood at the end, from 0 to 1',
    usesGold: true,
    ownScale: true,
    pay: ({ user }: TalkEvidence) => user().mood / 100,
  },
  ...TALK_CONTROLS,
} as const;

const learn = ({ groups }: RoundRecords): TrainingPlan => ({
  updates: policyUpdate(ASSISTANT, grpoByEpisode(groups), {
    ...ppoClip(),
    ...nearStart(0.001),
  }),
  figures: { replies: meanReplies(groups) },
});

const described = {
  name: 'rlver',
  title: 'An assistant that is paid by the mood of its user',
  paper: arXiv(
    '2507.03112',
    'RLVER: Reinforcement Learning with Verifiable Emotion Rewards for Empathetic Agents',
  ),
  summary:
    'An assistant talks with a user who has needs that he does not tell at once. A script says how each reply changes his mood, and the mood at the end is the reward of the whole talk.',
  method: {
    setting:
      'A user asks an arithmetic chain and wants to hear each of its totals. The start policy always writes its steps and slips the more the longer a chain is. It reads its last reply beside the chain, hands it in unchanged in half of the cases, and does not read what the user says.',
    roles:
      'The assistant replies up to eight times. The user is a script: he begins with a mood of 50 of 100 and leaves when all that he wants was said, or at a mood of 10 or less. After a second reply in a row that gives him nothing he says what he still wants.',
    rewards:
      'All that a user wants is worth 50 together, in equal parts. A reply that gives him nothing costs 15, and one that he heard before 15 more. The mood at the end, divided by 100, is the reward.',
    credit:
      'The reward of a talk, minus the mean of the talks with the same user and divided by their deviation, is the advantage of all its replies (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0.',
    schedule: 'Each round goes once over its batch.',
  },
  differences: [
    'The user is a script that looks for words and has no feelings, where the paper’s is a language model with a persona, hidden intentions and a plan (SAGE). What is tested is reward from a user’s mood over several turns, and not empathy.',
    'GRPO alone; the paper also trains by PPO with a critic, and with and without a prescribed form of thinking.',
    'How the paper scales the mood to a reward could not be checked.',
  ],
  figures: {
    ...TALK_FIGURES,
    replies: 'Mean number of replies in a talk.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
} satisfies Described;

const written: RecipeOver<'reply'> = {
  needs: { verbs: ['reply'], data: ['answer', 'users'] },
  over: (game) => ({
    ...ofFamily(game.family),
    ...described,
    rewards,
    roles: {
      [ASSISTANT]: role('talks with the user', game.words.reply.maxNew, {
        speaksAs: 'solver',
        // What the user says, which the small policy does not read, tells whether a reply had what he wants.
        ...(game.byExample ? { seesGold: true as const } : {}),
      }),
    },
    propose: async (context) => game.tasks(context),
    rollOut: (context, tasks) => rollTalks(game, context, tasks, temperOf(context.round.settings.variant)),
    judge: async (context, groups) =>
      groups.map((group) =>
        judgeTalks(game, context, group, rewards, temperOf(context.round.settings.variant)),
      ),
    learn,
    // Whatever users it was trained with, it is examined with the same ones.
    evaluate: (context) => evaluateTalks(game, context),
  }),
  elsewhere: {
    method: {
      roles:
        'The assistant replies up to eight times. The user is a script: he asks the question of a row, and wants what its field `needs` lists, or the reference answer where there is none. He begins with a mood of 50 of 100 and leaves when all that he wants was said, or at a mood of 10 or less. After a second reply in a row that gives him nothing he says what he still wants.',
    },
    differences: described.differences,
  },
  ownReward: 'the mood of its user is the reward',
};

export const rlver = played(written, aidedSums);
