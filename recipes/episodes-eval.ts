/** Measures a version where agents hold its episodes: one round over all tasks of some files, which trains nothing and publishes no version. */
import * as v from 'valibot';
import { CHECKERS, findChecker } from '../core/checkers/registry.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { count, positive } from '../core/schema/numbers.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import { name } from '../core/schema/sample.ts';
import { agentRound, environmentHeld } from '../protocols/agent-round.ts';
import { EPISODE_FIGURES } from '../protocols/held-out-episodes.ts';
import { dataName, questionEntries } from '../protocols/questions/data.ts';
import { SOLVER, smallSteps } from '../protocols/solver.ts';
import { admitTasks } from '../worlds/drawn-tasks.ts';
import { tasksHere } from '../worlds/file/stored-tasks.ts';
import { writeTask } from '../worlds/questions/task-text.ts';

const { heldOut: _, ...asked } = questionEntries;

export const episodesEvalData = v.strictObject({
  ...asked,
  /** Who answers. */
  policy: v.object({ name, version: count }),
  /** Longest answer in tokens, and the temperature at which it is sampled. */
  maxNew: positive,
  temperature: v.pipe(v.number(), v.minValue(Number.MIN_VALUE), v.finite()),
  environment: environmentHeld,
});
export type EpisodesEvalData = v.InferOutput<typeof episodesEvalData>;

export function episodesEvalFrom(given: unknown): Recipe {
  const data = v.parse(episodesEvalData, given);
  const { policy, maxNew, temperature } = data;
  const tasks = { sources: data.sources, heldOut: [] };
  const questions = { tasks, checker: findChecker(data.checker, CHECKERS), extract: data.extract };
  return {
    ...agentRound({ ...questions, name: data.name, maxNew, temperature, rewards: {} }, [
      { name: SOLVER, policy },
    ]),
    name: dataName('eval', data),
    called: `evaluation on ${data.name}`,
    title: 'A version, measured by the episodes of agents',
    paper: { title: 'An evaluation', year: 2026 },
    summary: 'Agents hold episodes of every task with one version, and nothing is trained.',
    differences: [],
    figures: EPISODE_FIGURES,
    startPolicy: data.start,
    tasks: 1,
    groupSize: 2,
    sets: { [MAIN_SET]: { optimizer: smallSteps() } },
    propose: async ({ round }) => admitTasks(round, tasksHere(tasks).map(writeTask)),
    learn: () => ({ updates: [] }),
  };
}
