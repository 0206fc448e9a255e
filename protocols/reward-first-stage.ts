/** Rewards of answers whose group is not complete yet, for a group of two stages whose second stage depends on the rewards of the first. */
import type { RoundContext } from '../core/recipe/round-context.ts';
import type { TaskFamily } from '../core/recipe/task-family.ts';
import type { AdmittedTask, Sample } from '../core/schema/sample.ts';
import { type AnswerReward, payAnswers } from './answer-rewards.ts';
import { rewardNamed } from './solver.ts';

/**
 * The rewards of some answers to a task by the run's reward function [samples]; null is missing. The judge stage gives these answers the same
 * rewards.
 */
export function paidEarly(
  family: TaskFamily,
  rewards: Readonly<Record<string, AnswerReward>>,
  context: RoundContext,
  task: AdmittedTask,
  samples: readonly Sample[],
): (number | null)[] {
  const { round } = context;
  const reward = rewardNamed(rewards, round.settings.rewardFunction);
  const group = { round: round.id, ...task, samples: [...samples] };
  return payAnswers(family, reward, context, group).samples.map((sample) => sample.rewards.reward ?? null);
}
