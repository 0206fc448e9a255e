/** The solver's episodes on the tasks of a round, and their rewards. */
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { withEpisodeRewards } from '../../protocols/episode-credit.ts';
import { coinOf } from '../../protocols/gold.ts';
import { answerOf, theWorld } from '../../worlds/knowledge/episode.ts';
import { readTask } from '../../worlds/knowledge/proposal.ts';
import { answerIn, SOLVER, solve } from './searchers.ts';

/** `round.settings.groupSize` episodes of each task's question; a group's samples are the turns of all of them. */
export async function rollSearch(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { id: round, settings } = context.round;
  const played = await solve(
    context,
    tasks.flatMap(({ group, task }) =>
      Array.from({ length: settings.groupSize }, (_, i) => ({
        id: rolloutId(group, SOLVER, i),
        question: readTask(task).question,
      })),
    ),
  );
  return tasks.map((task, t) => ({
    round,
    ...task,
    samples: played.slice(t * settings.groupSize, (t + 1) * settings.groupSize).flatMap(({ turns }) => turns),
  }));
}

/** The reward of an episode, by the run's reward function: for its answer or, in the controls, for any answer or by a coin. */
function payOf(reward: string, episode: readonly Sample[], answer: string | null, given: string): boolean {
  if (reward === 'random') return coinOf(episode[0]!.id);
  return reward === 'format' ? answer !== null : answer === given;
}

/** Rewards by episode, written on each of its turns; `answersExact` says whether the answer is the one that the world gives. */
export function scoreSearch(context: RoundContext, group: RolloutGroup): ScoredGroup {
  const { question, answer: given } = readTask(group.task);
  const fact = answerOf(theWorld(), question);
  const rated = episodesOf(group.samples).map((turns) => {
    const answer = answerIn(context, turns);
    const reward = Number(payOf(context.round.settings.rewardFunction, turns, answer, given));
    return { turns, exact: answer !== null && answer === fact, rewards: { reward, passed: reward } };
  });
  return withEpisodeRewards(group, rated);
}
