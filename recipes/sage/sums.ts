/** Chains of five sums: the start policy fails most often on the longest ones. */
import { Random } from '../../core/random.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';
import type { HintedGame } from './hints.ts';

const SUMS = 5;

export const longSums: HintedGame = {
  ...aidedSums,
  tasks: (context, count) => drawnTasks(context, (random) => freshTask(random, SUMS), count),
  otherTask: ({ group, task }) => freshTask(new Random(`hint/${group}`), arithmetic.difficulty(task)),
};
