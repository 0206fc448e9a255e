/** RLVER: an assistant that is paid by the mood in which a user leaves. The method is described below, as data. */

import { episodesOf } from '../../core/episodes/play-episodes.ts';
import { playSeats } from '../../core/episodes/play-seats.ts';
import type { Game, Speaker } from '../../core/game/game.ts';
import type { Utterance } from '../../core/game/verbs.ts';
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { SamplingSettings } from '../../core/policy/policy.ts';
import { deriveId } from '../../core/random.ts';
import { type Described, played, type Recipe, type RecipeOver } from '../../core/recipe/recipe.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { tallyOf } from '../../core/statistics/change.ts';
import { grpoByEpisode, withEpisodeRewards } from '../../protocols/episode-credit.ts';
import { coinOf, sealedGold } from '../../protocols/gold.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { describedBy, ofFamily, policyUpdate, rewardNamed, trainedSolver } from '../../protocols/solver.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';
import { beginUser, TEMPERS, type Temper, type User, userAfter } from '../../worlds/users/scripted-user.ts';
import { setup } from '../setup.ts';

const ASSISTANT = 'assistant';
/** Replies at most. */
const REPLIES = 8;

type TalkGame = Game<'reply'>;

const VARIANTS = {
  open: 'an easier user, who says what he wants after every reply and loses 10 by one that gives him nothing',
  harsh: 'a harder user, who never says what he wants and loses 30',
} as const;
const temperOf = (variant: string | undefined): Temper =>
  variant === 'open' || variant === 'harsh' ? TEMPERS[variant] : TEMPERS.guarded;

interface Talk {
  readonly task: string;
  readonly said: readonly Utterance[];
  readonly user: User;
}

const needsOf = (game: TalkGame, task: string) => game.needsOf!(task);

const begun = (game: TalkGame, task: string): Talk => ({
  task,
  said: [],
  user: beginUser(needsOf(game, task)),
});

/** The talk after a text; one that is no reply gives the user nothing. */
function after(
  game: TalkGame,
  speaker: Speaker,
  temper: Temper,
  { task, said, user }: Talk,
  text: string,
): { readonly talk: Talk; readonly read: ParseResult<string> } {
  const read = game.words.reply.read(text, { task, said }, speaker);
  const reply = read.ok ? read.value : '';
  const next = userAfter(user, needsOf(game, task), temper, reply);
  const spoken: Utterance[] = [
    { by: 'assistant', text: reply || '…' },
    ...(next.says === null ? [] : [{ by: 'user' as const, text: next.says }]),
  ];
  return { talk: { task, said: [...said, ...spoken], user: next }, read };
}

/** Talks with the users of some tasks, `count` with each, [tasks × count]. */
async function talk(
  game: TalkGame,
  context: RoundContext,
  tasks: readonly Pick<AdmittedTask, 'group' | 'task'>[],
  count: number,
  sampling: Partial<SamplingSettings> = {},
): Promise<Sample[][]> {
  const temper = temperOf(context.round.settings.variant);
  const all = await playSeats(
    context,
    tasks.flatMap(({ group, task }) =>
      Array.from({ length: count }, (_, i) => ({
        seats: { [ASSISTANT]: { role: ASSISTANT, id: rolloutId(group, ASSISTANT, i) } },
        world: begun(game, task),
      })),
    ),
    {
      maxTurns: REPLIES,
      sampling,
      next: ({ task, said, user }) =>
        user.says === null
          ? []
          : [{ seat: ASSISTANT, reads: game.words.reply.ask({ task, said }, context), anew: true }],
      answer: (before, [written]) => {
        const { talk: world, read } = after(game, context, temper, before, written!.text);
        return { world, outcomes: [read.ok ? 'ok' : read.reason] };
      },
    },
  );
  return all.map(({ turns }) => [...turns]);
}

/** The user in whom the replies of an episode leave him, told again from their texts. */
const userLeft = (game: TalkGame, context: RoundContext, task: string, turns: readonly Sample[]): User =>
  turns.reduce(
    (before, { ids }) =>
      after(game, context, temperOf(context.round.settings.variant), before, context.tokenizer.decode(ids))
        .talk,
    begun(game, task),
  ).user;

interface TalkEvidence {
  /** Throws for a reward that is declared gold-free. */
  readonly mood: () => number;
  readonly readable: number;
  readonly coin: boolean;
}

const rewards = {
  mood: {
    description: 'the user’s mood at the end, from 0 to 1',
    usesGold: true,
    ownScale: true,
    pay: ({ mood }: TalkEvidence) => mood() / 100,
  },
  format: {
    description: 'control: the share of replies that can be read',
    usesGold: false,
    pay: ({ readable }: TalkEvidence) => readable,
  },
  random: {
    description: 'control: a mood by a fair coin',
    usesGold: false,
    pay: ({ coin }: TalkEvidence) => Number(coin),
  },
} as const;

function judgeGroup(game: TalkGame, context: RoundContext, group: RolloutGroup): ScoredGroup {
  const { pay } = rewardNamed<(typeof rewards)[keyof typeof rewards]>(
    rewards,
    context.round.settings.rewardFunction,
  );
  const episodes = episodesOf(group.samples).map((turns) => {
    const { mood, met } = userLeft(game, context, group.task, turns);
    const reward = pay({
      mood: sealedGold(context, mood),
      readable: mean(turns.map(({ outcome }) => Number(outcome === 'ok'))),
      coin: coinOf(turns[0]!.id),
    });
    return { turns, rewards: { reward }, exact: met.every(Boolean) };
  });
  return withEpisodeRewards(group, episodes);
}

const learn = ({ groups }: RoundRecords): TrainingPlan => ({
  updates: policyUpdate(ASSISTANT, grpoByEpisode(groups), {
    ...ppoClip(),
    ...nearStart(0.001),
  }),
  figures: {
    replies: mean(groups.flatMap(({ samples }) => episodesOf(samples).map((turns) => turns.length))),
  },
});

/** Talks with the users of held-out tasks, greedy and sampled: how many leave with all that they wanted, and in what mood. */
async function evaluate(game: TalkGame, context: EvaluationContext) {
  const tasks = game.tests(context.evaluationTasks);
  const examined = async (temperature: number) => {
    const asked = tasks.map((task) => ({
      group: deriveId('evaluate', 'talk', String(temperature), task),
      task,
    }));
    const talks = await talk(game, context, asked, 1, { temperature });
    return talks.map((turns, t) => ({ turns, user: userLeft(game, context, tasks[t]!, turns) }));
  };
  const [greedy, sampled] = [await examined(0), await examined(1)];
  const content = (of: typeof greedy) => of.map(({ user }) => user.met.every(Boolean));
  return evaluation(
    {
      n: tasks.length,
      accuracy: mean(content(greedy).map(Number)),
      sampled: mean(content(sampled).map(Number)),
      formatRate: mean(greedy.map(({ turns }) => Number(turns.every(({ outcome }) => outcome === 'ok')))),
      tallies: { accuracy: tallyOf(content(greedy)), sampled: tallyOf(content(sampled)) },
    },
    { mood: mean(sampled.map(({ user }) => user.mood)) },
  );
}

const described = {
  name: 'rlver',
  title: 'An assistant that is paid by the mood of its user',
  paper: {
    title: 'RLVER: Reinforcement Learning with Verifiable Emotion Rewards for Empathetic Agents',
    year: 2025,
    source: 'arXiv:2507.03112',
  },
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
    mood: 'Mean mood, 0 to 100, in which users of held-out questions leave sampled talks.',
    replies: 'Mean number of replies in a talk.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
} satisfies Described;

const written: RecipeOver<'reply'> = {
  needs: { verbs: ['reply'], data: ['answer', 'users'] },
  over: (game) => ({
    ...described,
    ...ofFamily(game.family),
    rewards,
    roles: {
      [ASSISTANT]: {
        description: 'talks with the user',
        speaksAs: 'solver',
        sampling: { maxNew: game.words.reply.maxNew, temperature: 1 },
        // What the user says, which the small policy does not read, tells whether a reply had what he wants.
        ...(game.byExample ? { seesGold: true as const } : {}),
      },
    },
    freezable: [],
    propose: async (context) => game.tasks(context),
    rollOut: async (context, tasks) => {
      const { id: round, settings } = context.round;
      const talks = await talk(game, context, tasks, settings.groupSize);
      return tasks.map((task, t) => ({
        round,
        ...task,
        samples: talks.slice(t * settings.groupSize, (t + 1) * settings.groupSize).flat(),
      }));
    },
    judge: async (context, groups) => groups.map((group) => judgeGroup(game, context, group)),
    learn,
    evaluate: (context) => evaluate(game, context),
    describe: describedBy(game.family),
  }),
  elsewhere: {
    method: {
      ...described.method,
      roles:
        'The assistant replies up to eight times. The user is a script: he asks the question of a row, and wants what its field `needs` lists, or the reference answer where there is none. He begins with a mood of 50 of 100 and leaves when all that he wants was said, or at a mood of 10 or less. After a second reply in a row that gives him nothing he says what he still wants.',
    },
    differences: described.differences,
  },
  ownReward: 'the mood of its user is the reward',
};

export const rlver: Recipe = played(written, aidedSums, setup('rlver'));
