/**
 * What recipes share that train on test tasks without their labels: the tasks, and figures that compare the labels, which the policy itself gives, with
 * the oracle.
 */
import { type EvaluationTasks, HELD_OUT } from '../core/recipe/split.ts';
import { mean } from '../core/rl/statistics.ts';
import type { ScoredGroup } from '../core/schema/sample.ts';
import { arithmetic } from '../worlds/arithmetic/family.ts';

/** The largest number of operators of a test task: on such chains the start policy is right with steps and often wrong without. */
const MOST_OPERATORS = 4;

/** The held-out chains, which are trained on. */
export const testTasks = (asked: EvaluationTasks = HELD_OUT) =>
  arithmetic.heldOut(asked).filter((task) => arithmetic.difficulty(task) <= MOST_OPERATORS);

/** What the figures of `labelFigures` mean. */
export const LABEL_FIGURES = {
  labelAccuracy: 'Share of the groups whose most frequent answer, which is paid, is exact.',
  rewardAccuracy: 'Share of the answers whose reward is what the oracle would pay.',
  majorityShare: 'Mean share of a group’s answers that give the most frequent one.',
} as const;

/**
 * Labels and rewards compared with the oracle, for the figures alone. labelAccuracy: the share of groups whose rewarded answer is exact;
 * rewardAccuracy: the share of votes whose reward is what gold would pay.
 */
export function labelFigures(groups: readonly Pick<ScoredGroup, 'samples' | 'answersExact'>[]) {
  const paid = groups.map(({ samples }) => samples.map(({ rewards }) => rewards.reward === 1));
  return {
    labelAccuracy: mean(
      groups.map(({ answersExact }, g) =>
        Number(answersExact.some((exact, i) => exact === true && paid[g]![i])),
      ),
    ),
    rewardAccuracy: mean(
      groups.flatMap(({ answersExact }, g) =>
        answersExact.map((exact, i) => Number((exact === true) === paid[g]![i])),
      ),
    ),
    majorityShare: mean(paid.map((mine) => mean(mine.map(Number)))),
  };
}
