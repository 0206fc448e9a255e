/** Draws a round's tasks from files: by the weights of the files, and within a file each task with the same chance. */
import type { Random } from '../../core/random.ts';
import type { PlacedTask } from './task.ts';
import type { TaskSource } from './task-set.ts';

export interface DrawSettings {
  /** A task that is not accepted is passed over, and another one is drawn in its place. */
  readonly accepts?: (task: PlacedTask) => boolean;
  /**
   * How often a task is drawn, relative to the others of its file; by default all are equally likely. A task of weight 0 is drawn only when no other
   * is left.
   */
  readonly weightOf?: ((task: PlacedTask) => number) | undefined;
}

/** Tasks of one file that are not drawn yet, with their weights where they have some. */
interface Left {
  readonly weight: number;
  readonly tasks: PlacedTask[];
  readonly weights: number[] | null;
}

/** Takes a task out: the last one of the shuffled list, or one in proportion to the weights. */
function take(random: Random, { tasks, weights }: Left): PlacedTask {
  if (!weights) return tasks.pop()!;
  const at = weights.some((weight) => weight > 0) ? random.weighted(weights) : random.int(tasks.length);
  weights.splice(at, 1);
  return tasks.splice(at, 1)[0]!;
}

/** `count` tasks, none twice; fewer where the files have fewer. The same random numbers give the same tasks. */
export function drawFileTasks(
  random: Random,
  sources: readonly TaskSource[],
  count: number,
  { accepts = () => true, weightOf }: DrawSettings = {},
): PlacedTask[] {
  const left = sources.map(({ tasks: given, weight }): Left => {
    const tasks = random.shuffle(given);
    // A weight may cost a hash, so each is asked for once.
    return { weight, tasks, weights: weightOf ? tasks.map(weightOf) : null };
  });
  const drawn: PlacedTask[] = [];
  while (drawn.length < count) {
    const open = left.filter(({ tasks }) => tasks.length > 0);
    if (open.length === 0) break;
    const source = open[random.weighted(open.map(({ weight }) => weight))]!;
    const task = take(random, source);
    if (accepts(task)) drawn.push(task);
  }
  return drawn;
}
