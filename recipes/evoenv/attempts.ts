/** Attempts at the instances of environments, their rewards, and reviews of the environments that are new. */
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { type AnswerReward, payAnswers } from '../../protocols/answer-rewards.ts';
import { ask } from '../../protocols/ask-about-samples.ts';
import { besideOracle } from '../../protocols/gold.ts';
import { answer } from '../../protocols/roll-out.ts';
import { SOLVER } from '../../protocols/solver.ts';
import {
  environmentOfTask,
  environments,
  isSound,
  parseReview,
  reviewPrompt,
  tasksOf,
} from '../../worlds/programs/environments.ts';
import { REVIEWER } from './pool.ts';

/** Reviews of a new environment; one that calls it unsound refuses it. */
const REVIEWS = 3;

/** An environment’s instances with the places of their attempts in its group: as many attempts at each as the group size allows. */
const shares = (task: string, attempts: number) =>
  tasksOf(task).map((instance, k, all) => ({
    instance,
    from: Math.floor((k * attempts) / all.length),
    to: Math.floor(((k + 1) * attempts) / all.length),
  }));

/** Stage two: the attempts at an environment are one group, whatever their instance is. */
export async function attempt(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round } = context;
  const wanted = tasks.flatMap(({ group, task }) =>
    shares(task, round.settings.groupSize).map(({ instance, from, to }) => ({
      group,
      task: instance,
      about: instance,
      from,
      count: to - from,
    })),
  );
  const answered = await answer(environments, context, SOLVER, wanted);
  return tasks.map((task) => ({
    round: round.id,
    ...task,
    samples: answered.filter((_, w) => wanted[w]!.group === task.group).flat(),
  }));
}

/** Stage three: pays attempts by the run’s reward, and has new environments reviewed. */
export async function scoreAndReview(
  context: RoundContext,
  groups: readonly RolloutGroup[],
  reward: AnswerReward,
): Promise<ScoredGroup[]> {
  const reviewed = groups.filter(
    ({ proposal }) => proposal !== null && context.round.settings.variant !== 'no-review',
  );
  const reviews = await ask(
    context,
    REVIEWER,
    reviewed.map(({ proposal, task }) => ({
      of: proposal!,
      prompt: reviewPrompt(environmentOfTask(task)),
      parse: parseReview,
    })),
    REVIEWS,
  );
  return groups.map((group) => {
    const taskOf = (i: number) => shares(group.task, group.samples.length).find(({ to }) => i < to)!.instance;
    const own = reviews[reviewed.indexOf(group)] ?? [];
    return {
      ...payAnswers(environments, reward, context, group, taskOf),
      judgments: own.map(({ sample, parsed }) => ({
        ...sample,
        ...besideOracle(isSound(environmentOfTask(group.task)), parsed.ok ? parsed.value : null),
      })),
    };
  });
}
