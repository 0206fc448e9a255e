/** Talks of an assistant with users by script, who do not say at once what they want. */
import { episodesOf } from '../core/episodes/play-episodes.ts';
import { playSeats } from '../core/episodes/play-seats.ts';
import type { Game, Speaker } from '../core/game/game.ts';
import type { Utterance } from '../core/game/verbs.ts';
import type { SamplingSettings } from '../core/policy/policy.ts';
import { deriveId } from '../core/random.ts';
import type { RewardInfo } from '../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../core/recipe/round-context.ts';
import type { ParseResult } from '../core/recipe/task-family.ts';
import { mean } from '../core/rl/statistics.ts';
import { rolloutId } from '../core/round/sample-ids.ts';
import { type Evaluation, evaluation } from '../core/schema/evaluation.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../core/schema/sample.ts';
import { tallyOf } from '../core/statistics/change.ts';
import { beginUser, TEMPERS, type Temper, type User, userAfter } from '../worlds/users/scripted-user.ts';
import { withEpisodeRewards } from './episode-credit.ts';
import { coinOf, sealedGold } from './gold.ts';
import { rewardNamed } from './solver.ts';

export const ASSISTANT = 'assistant';
/** Replies at most. */
const REPLIES = 8;

export type TalkGame = Pick<Game<'reply'>, 'words' | 'needsOf' | 'tests'>;

interface Talk {
  readonly task: string;
  readonly said: readonly Utterance[];
  readonly user: User;
}

export const needsOf = (game: Pick<TalkGame, 'needsOf'>, task: string) => game.needsOf!(task);

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
  temper: Temper,
  sampling: Partial<SamplingSettings> = {},
): Promise<Sample[][]> {
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

/** `count` talks about each task; a group's samples are the replies of all of them. */
export async function rollTalks(
  game: TalkGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  temper: Temper = TEMPERS.guarded,
  count: number = context.round.settings.groupSize,
): Promise<RolloutGroup[]> {
  const talks = await talk(game, context, tasks, count, temper);
  return tasks.map((task, t) => ({
    round: context.round.id,
    ...task,
    samples: talks.slice(t * count, (t + 1) * count).flat(),
  }));
}

/** A talk as the texts of its replies tell it: what was said before each of them [replies], and the user in whom they leave him. */
export function toldTalk(
  game: TalkGame,
  { decode, renderer }: Speaker & { readonly decode: (ids: readonly number[]) => string },
  task: string,
  turns: readonly Pick<Sample, 'ids'>[],
  temper: Temper = TEMPERS.guarded,
): { readonly before: readonly (readonly Utterance[])[]; readonly user: User } {
  const before: (readonly Utterance[])[] = [];
  let now = begun(game, task);
  for (const { ids } of turns) {
    before.push(now.said);
    now = after(game, { renderer }, temper, now, decode(ids)).talk;
  }
  return { before, user: now.user };
}

/** What a talk may be paid for. */
export interface TalkEvidence {
  /** The user as the talk leaves him. Throws for a reward that is declared gold-free. */
  readonly user: () => User;
  /** The share of replies that can be read. */
  readonly readable: number;
  /** A fair coin. */
  readonly coin: boolean;
}

export interface TalkReward extends RewardInfo {
  readonly pay: (evidence: TalkEvidence) => number;
}

/** What rewards of talks are held against. */
export const TALK_CONTROLS = {
  format: {
    description: 'control: the share of replies that can be read',
    usesGold: false,
    pay: ({ readable }) => readable,
  },
  random: { description: 'control: a fair coin', usesGold: false, pay: ({ coin }) => Number(coin) },
} as const satisfies Readonly<Record<string, TalkReward>>;

/** The rewards of a group's talks, on each of their replies; a talk is exact where the user was told all that he wants. */
export function judgeTalks(
  game: TalkGame,
  context: RoundContext,
  group: RolloutGroup,
  rewards: Readonly<Record<string, TalkReward>>,
  temper: Temper = TEMPERS.guarded,
): ScoredGroup {
  const { pay } = rewardNamed(rewards, context.round.settings.rewardFunction);
  const speaker = { renderer: context.renderer, decode: context.tokenizer.decode };
  return withEpisodeRewards(
    group,
    episodesOf(group.samples).map((turns) => {
      const { user } = toldTalk(game, speaker, group.task, turns, temper);
      const reward = pay({
        user: sealedGold(context, user),
        readable: mean(turns.map(({ outcome }) => Number(outcome === 'ok'))),
        coin: coinOf(turns[0]!.id),
      });
      return { turns, rewards: { reward }, exact: user.met.every(Boolean) };
    }),
  );
}

/** Mean number of replies in the talks of some groups. */
export const meanReplies = (groups: readonly Pick<RolloutGroup, 'samples'>[]): number =>
  mean(groups.flatMap(({ samples }) => episodesOf(samples).map((turns) => turns.length)));

/** Talks with the users of held-out tasks, greedy and sampled: how many leave with all that they wanted, and in what mood. */
export async function evaluateTalks(game: TalkGame, context: EvaluationContext): Promise<Evaluation> {
  const temper = TEMPERS.guarded;
  const tasks = game.tests(context.evaluationTasks);
  const speaker = { renderer: context.renderer, decode: context.tokenizer.decode };
  const examined = async (temperature: number) => {
    const asked = tasks.map((task) => ({
      group: deriveId('evaluate', 'talk', String(temperature), task),
      task,
    }));
    const talks = await talk(game, context, asked, 1, temper, { temperature });
    return talks.map((turns, t) => ({ turns, ...toldTalk(game, speaker, tasks[t]!, turns, temper) }));
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

/** What the figure of `evaluateTalks` means. */
export const TALK_FIGURES = {
  mood: 'Mean mood, 0 to 100, in which users of held-out questions leave sampled talks.',
} as const;
