/** Draws a round's tasks from files: by the weights of the files, and within a file each task with the same chance. */
import type { Random } from '../../core/random.ts';
import type { PlacedTask } from './task.ts';
import type { TaskSource } from './task-set.ts';

export interface DrawSettings {
  /** A task that is not accepted is passed over, and another one is drawn in its place. */
  readonly accepts?: (task: PlacedTask) => boolean;
  /** How often a task is drawn beside the others of its file; by default all alike. A weight of 0 waits until no other is left. */
  readonly weightOf?: ((task: PlacedTask) => number) | undefined;
}

/** Takes one of the tasks out of the list, in proportion to the weights. */
function takeWeighted(
  random: Random,
  tasks: PlacedTask[],
  weightOf: (task: PlacedTask) => number,
): PlacedTask {
  const weights = tasks.map(weightOf);
  const at = weights.some((weight) => weight > 0) ? random.weighted(weights) : random.int(tasks.length);
  return tasks.splice(at, 1)[0]!;
}

/** `count` tasks, none twice; fewer where the files have fewer. The same random numbers give the same tasks. */
export function drawFileTasks(
  random: Random,
  sources: readonly TaskSource[],
  count: number,
  { accepts = () => true, weightOf }: DrawSettings = {},
): PlacedTask[] {
  const left = sources.map(({ tasks, weight }) => ({ weight, tasks: random.shuffle(tasks) }));
  const drawn: PlacedTask[] = [];
  while (drawn.length < count) {
    const open = left.filter(({ tasks }) => tasks.length > 0);
    if (open.length === 0) break;
    const source = open[random.weighted(open.map(({ weight }) => weight))]!;
    const task = weightOf ? takeWeighted(random, source.tasks, weightOf) : source.tasks.pop()!;
    if (accepts(task)) drawn.push(task);
  }
  return drawn;
}
