/**
 * Rounds in which half of a group answers a question and the other half answers the same question in other words; each half provides the label for
 * the other.
 */
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { majority } from '../../core/rl/rewards/index.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import {
  type AnswerEvidence,
  type AnswerReward,
  exactReward,
  formatReward,
  payAnswers,
  randomReward,
} from '../../protocols/answer-rewards.ts';
import { drawnTasks } from '../../protocols/drawn-tasks.ts';
import { answer } from '../../protocols/roll-out.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { reordered } from './reorder.ts';

/** The largest number of operators of a task: on such chains the start policy is right with steps and often wrong without. */
const MOST_OPERATORS = 4;

/** How many of a group's samples answer the question as it was drawn; the others answer it in other words. */
const firstHalf = (samples: number): number => Math.ceil(samples / 2);

/** Splits a list [samples] of a group into the two halves. */
export const halvesOf = <T>(list: readonly T[]): [asDrawn: T[], inOtherWords: T[]] => [
  list.slice(0, firstHalf(list.length)),
  list.slice(firstHalf(list.length)),
];

function inOtherWords(task: string): string {
  const other = reordered(task);
  if (other === null) throw new Error(`internal: ${task} was drawn and has no other order`);
  return other;
}

export const drawQuestions = (context: RoundContext) =>
  drawnTasks(context, (random) =>
    drawUntil(
      () => arithmetic.random(random),
      (task) =>
        arithmetic.difficulty(task) <= MOST_OPERATORS &&
        !arithmetic.isHeldOut(task) &&
        reordered(task) !== null,
    ),
  );

export async function answerBoth(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round } = context;
  const { groupSize } = round.settings;
  const first = firstHalf(groupSize);
  const samples = await answer(
    arithmetic,
    context,
    SOLVER,
    tasks.flatMap(({ group, task }) => [
      { group, task, count: first },
      { group, task: inOtherWords(task), count: groupSize - first, from: first },
    ]),
  );
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: [...samples[2 * t]!, ...samples[2 * t + 1]!],
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
  format: formatReward,
  random: randomReward,
};

export async function payBoth(
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const reward = rewardNamed(rewards, context.round.settings.rewardFunction);
  return groups.map((group) => {
    const other = inOtherWords(group.task);
    const first = firstHalf(group.samples.length);
    return payAnswers(arithmetic, reward, context, group, (i) => (i < first ? group.task : other));
  });
}
