/** Solvers' episodes by task, as a round keeps them, and their rewards. */
import { deriveId } from '../random.ts';
import type { AdmittedTask, RolledGroup, Sample, ScoredGroup } from '../schema/sample.ts';
import { answerOf } from '../tasks/knowledge/episode.ts';
import { readTask } from '../tasks/knowledge/proposal.ts';
import { episodesOf } from './episodes.ts';
import { answerIn, SOLVER, solve, theWorld } from './searchers.ts';
import type { Stage } from './stage.ts';

/** `round.settings.group` episodes of each task's question; a group's samples are the turns of all of them. */
export async function rollSearch(stage: Stage, tasks: readonly AdmittedTask[]): Promise<RolledGroup[]> {
  const { id: round, settings } = stage.round;
  const played = await solve(
    stage,
    tasks.flatMap(({ group, task }) =>
      Array.from({ length: settings.group }, (_, i) => ({
        id: deriveId(group, SOLVER, i),
        question: readTask(task).question,
      })),
    ),
  );
  return tasks.map((task, t) => ({
    round,
    ...task,
    samples: played.slice(t * settings.group, (t + 1) * settings.group).flatMap(({ turns }) => turns),
  }));
}

/** What a reward may look at; gold is the world's own answer to the question. */
export interface SearchEvidence {
  readonly answer: string | null;
  /** The answer that the proposer was given. */
  readonly given: string;
  readonly exact: () => boolean;
  readonly turns: readonly Sample[];
}

/** Rewards by episode, written on each of its turns. */
export function scoreSearch(
  stage: Stage,
  group: RolledGroup,
  rewardOf: (evidence: SearchEvidence) => number,
): ScoredGroup {
  const { question, answer: given } = readTask(group.task);
  const truth = answerOf(theWorld(), question);
  const rated = episodesOf(group.samples).map((turns) => {
    const answer = answerIn(stage, turns);
    const exact = answer !== null && answer === truth;
    return { turns, exact, reward: rewardOf({ answer, given, exact: () => exact, turns }) };
  });
  const gold = rated.flatMap(({ turns, exact }) => turns.map(() => exact));
  return {
    ...group,
    samples: rated.flatMap(({ turns, reward }) =>
      turns.map((turn) => ({ ...turn, rewards: { reward, passed: reward } })),
    ),
    judgments: [],
    gold,
    truth: gold,
  };
}
