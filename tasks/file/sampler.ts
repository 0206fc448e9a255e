/** Draws a round's tasks from files: by the weights of the files, and within a file each task with the same chance. */
import type { Random } from '../../core/random.ts';
import type { PlacedTask } from './task.ts';
import type { TaskSource } from './task-set.ts';

/** `count` tasks, none twice; fewer where the files have fewer. The same random numbers give the same tasks. */
export function drawFileTasks(random: Random, sources: readonly TaskSource[], count: number): PlacedTask[] {
  const left = sources.map(({ tasks, weight }) => ({ weight, tasks: random.shuffle(tasks) }));
  const drawn: PlacedTask[] = [];
  while (drawn.length < count) {
    const open = left.filter(({ tasks }) => tasks.length > 0);
    if (open.length === 0) break;
    const source = open[random.weighted(open.map(({ weight }) => weight))]!;
    drawn.push(source.tasks.pop()!);
  }
  return drawn;
}
