/**
 * Rounds in which half of a group answers a question and the other half answers the same question in other words; each half provides the label for
 * the other.
 */
import type { Game } from '../../core/game/game.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { majority } from '../../core/rl/rewards/index.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import {
  type AnswerEvidence,
  type AnswerReward,
  CONTROLS,
  exactReward,
  payAnswers,
} from '../../protocols/answer-rewards.ts';
import { type Rewriting, rewrite, rewritten } from '../../protocols/rewrites.ts';
import { answer } from '../../protocols/roll-out.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';

/** How a question is put in other words. */
export const rephrasing = (game: Game<'solve'>): Rewriting => ({ game, verb: 'rephrase', role: 'rephraser' });

/** How many of a group's samples answer the question as it was drawn; the others answer it in other words. */
const firstHalf = (samples: number): number => Math.ceil(samples / 2);

/** Splits a list [samples] of a group into the two halves. */
export const halvesOf = <T>(list: readonly T[]): [asDrawn: T[], inOtherWords: T[]] => [
  list.slice(0, firstHalf(list.length)),
  list.slice(firstHalf(list.length)),
];

/** The question in other words, or as it is where nobody found others. */
const inOtherWords = (
  game: Game<'solve'>,
  { tokenizer, renderer }: Pick<RoundContext, 'tokenizer' | 'renderer'>,
  group: Pick<RolloutGroup, 'group' | 'task' | 'samples'>,
): string => rewritten(rephrasing(game), group, { renderer }, tokenizer.decode) ?? group.task;

/** The answers of a group, without what was written to put its question in other words. */
export const answersOf = <G extends Pick<RolloutGroup, 'samples'>>(group: G): G => ({
  ...group,
  samples: group.samples.filter(({ role }) => role === SOLVER),
});

export async function answerBoth(
  game: Game<'solve'>,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round } = context;
  const { groupSize } = round.settings;
  const first = firstHalf(groupSize);
  const rewrites = await rewrite(rephrasing(game), context, tasks);
  const samples = await answer(
    game.family,
    context,
    SOLVER,
    tasks.flatMap((task, t) => {
      const other = inOtherWords(game, context, { ...task, samples: rewrites[t]! });
      return [
        { group: task.group, task: task.task, count: first },
        { group: task.group, task: other, about: other, count: groupSize - first, from: first },
      ];
    }),
  );
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: [...samples[2 * t]!, ...samples[2 * t + 1]!, ...rewrites[t]!],
  }));
}

/** The most frequent answer of each half, in the order of the halves; null where no answer parses. A tie is broken at random, by the group. */
export function votesOf(group: string, answers: readonly (string | null)[]): (string | null)[] {
  return halvesOf(answers).map((half, h) => {
    const tie = (n: number) => new Random(`tie/${group}/${h}`).int(n);
    return majority(half, tie)?.answer ?? null;
  });
}

/** Pays each half by a label of its own. `labels`: [halves]. */
const payLabels = (answers: readonly (string | null)[], labels: readonly (string | null)[]): number[] =>
  halvesOf(answers).flatMap((half, h) =>
    half.map((answer) => Number(answer !== null && answer === labels[h])),
  );

const byVotes =
  (labelsFrom: (votes: readonly (string | null)[]) => readonly (string | null)[]) =>
  ({ group, answers }: AnswerEvidence): number[] =>
    payLabels(answers, labelsFrom(votesOf(group.group, answers)));

export const rewards: Readonly<Record<string, AnswerReward>> = {
  'co-reward': {
    description: '1 for the answer that most give to the question in the other words',
    usesGold: false,
    pay: byVotes((votes) => [...votes].reverse()),
  },
  majority: {
    description: '1 for the answer that most give to the question in the same words',
    usesGold: false,
    pay: byVotes((votes) => votes),
  },
  gold: exactReward,
  ...CONTROLS,
};

export function payBoth(
  game: Game<'solve'>,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): ScoredGroup[] {
  const reward = rewardNamed(rewards, context.round.settings.rewardFunction);
  return groups.map((group) => {
    const other = inOtherWords(game, context, group);
    const answers = answersOf(group);
    const first = firstHalf(answers.samples.length);
    const paid = payAnswers(game.family, reward, context, answers, (i) => (i < first ? group.task : other));
    // What puts the question in other words is paid nothing and has no answer.
    const rest = group.samples.slice(answers.samples.length);
    const none = rest.map(() => null);
    return {
      ...paid,
      samples: [...paid.samples, ...rest],
      answersExact: [...paid.answersExact, ...none],
      solutionsExact: [...paid.solutionsExact, ...none],
    };
  });
}
