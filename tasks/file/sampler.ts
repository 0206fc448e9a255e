/** Draws a round's tasks from files: by the files' weights, and within a file evenly or by how much there is to learn from a task. */
import type { Random } from '../../core/random.ts';
import type { PlacedTask } from './task.ts';
import type { TaskSource } from './task-set.ts';

/** Right and all answers that a task has had so far. */
export interface PassCount {
  readonly right: number;
  readonly n: number;
}

/**
 * A curriculum by measured pass rate: p(1 − p), which is largest where half of the answers are right and the group has the most to
 * tell (Foster et al., "Learning to Reason at the Frontier of Learnability", 2025, arXiv:2502.12272). p is the mean under a uniform
 * prior, (right + 1)/(n + 2), so that a task that was never tried comes first and none is ever given up.
 */
export function learnability({ right, n }: PassCount): number {
  const p = (right + 1) / (n + 2);
  return p * (1 - p);
}

/** Tasks of which all have a chance in proportion to their weight, none twice (Efraimidis and Spirakis, 2006). */
function shuffled(
  random: Random,
  tasks: readonly PlacedTask[],
  weightOf: (task: PlacedTask) => number,
): PlacedTask[] {
  return tasks
    .map((task) => ({ task, key: Math.log(1 - random.float()) / weightOf(task) }))
    .sort((a, b) => b.key - a.key)
    .map(({ task }) => task);
}

/**
 * `count` tasks, none twice; fewer where there are fewer. The same random numbers give the same tasks. `weightOf` is above 0; by default
 * all tasks of a source have the same chance.
 */
export function drawFileTasks(
  random: Random,
  sources: readonly TaskSource[],
  count: number,
  weightOf: (task: PlacedTask) => number = () => 1,
): PlacedTask[] {
  const left = sources.map(({ tasks, weight }) => ({
    weight,
    tasks: shuffled(random, tasks, weightOf).reverse(),
  }));
  const drawn: PlacedTask[] = [];
  while (drawn.length < count) {
    const open = left.filter(({ tasks }) => tasks.length > 0);
    if (open.length === 0) break;
    const source = open[random.weighted(open.map(({ weight }) => weight))]!;
    drawn.push(source.tasks.pop()!);
  }
  return drawn;
}
