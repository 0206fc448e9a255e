/** Draws a round's tasks from files: by the weights of the files, and within a file each task with the same chance. */
import type { Random } from '../../core/random.ts';
import type { ReadStored } from '../../core/recipe/round-context.ts';
import type { GivenTasks } from './stored-set.ts';
import { isHere, lengthsOf, type Place, taskKeys, tasksAt, tasksHere } from './stored-tasks.ts';
import type { PlacedTask } from './task.ts';

export interface DrawSettings {
  /** A task that is not accepted is passed over, and another one is drawn in its place. */
  readonly accepts?: (task: PlacedTask) => boolean;
  /**
   * How often a task is drawn, relative to the others of its file, by its key (`taskKey`); by default all are equally likely. A task of weight 0 is
   * drawn only when no other is left.
   */
  readonly weightOf?: ((key: string) => number) | undefined;
}

/** Tasks of one file that are not drawn yet, with their weights where they have some. */
interface Left {
  readonly weight: number;
  readonly places: number[];
  readonly weights: number[] | null;
}

/** Takes a task out: the last one of the shuffled list, or one in proportion to the weights. */
function take(random: Random, { places, weights }: Left): number {
  if (!weights) return places.pop()!;
  const at = weights.some((weight) => weight > 0) ? random.weighted(weights) : random.int(places.length);
  weights.splice(at, 1);
  return places.splice(at, 1)[0]!;
}

/** All places, each once, in the order in which they are drawn. `weights`: [sources][tasks]. */
function* drawnPlaces(
  random: Random,
  sources: ReturnType<typeof lengthsOf>,
  weights?: readonly (readonly number[])[],
): Generator<Place> {
  const left = sources.map(({ length, weight }, source): Left => {
    const places = random.shuffle(Array.from({ length }, (_, at) => at));
    return { weight, places, weights: weights ? places.map((at) => weights[source]![at]!) : null };
  });
  for (;;) {
    const open = left.filter(({ places }) => places.length > 0);
    if (open.length === 0) return;
    const source = open[random.weighted(open.map(({ weight }) => weight))]!;
    yield { source: left.indexOf(source), at: take(random, source) };
  }
}

/** One task of files that the recipe has itself. Throws `tasks.stored` where it has not. */
export function drawTask(random: Random, sources: GivenTasks['sources']): PlacedTask {
  const tasks = tasksHere({ sources });
  const lengths = lengthsOf(sources);
  const { source, at } = drawnPlaces(random, lengths).next().value as Place;
  return tasks[lengths.slice(0, source).reduce((sum, { length }) => sum + length, at)]!;
}

/** Tasks that are read at once at most. */
const AT_ONCE = 256;
/** How many times as many stored tasks as are drawn may be passed over: an isolate has no room for a file of which hardly a task is accepted. */
const PASSED_OVER = 50;

/**
 * `count` tasks, none twice; fewer where the files have fewer, or where nearly all of a large file are passed over. The same random numbers give the
 * same tasks.
 */
export async function drawFileTasks(
  read: ReadStored,
  random: Random,
  sources: GivenTasks['sources'],
  count: number,
  { accepts = () => true, weightOf }: DrawSettings = {},
): Promise<PlacedTask[]> {
  const weights = weightOf && (await taskKeys(read, sources)).map((keys) => keys.map(weightOf));
  const places = drawnPlaces(random, lengthsOf(sources), weights);
  let left = isHere(sources) ? Number.POSITIVE_INFINITY : (1 + PASSED_OVER) * count;
  const drawn: PlacedTask[] = [];
  // First as many as are wanted. Where some are passed over, more are read at once, so that a shard is read for several of them.
  for (let most = count; drawn.length < count && left > 0; most = Math.min(2 * most, AT_ONCE)) {
    const next: Place[] = [];
    while (next.length < Math.min(most, left)) {
      const { value, done } = places.next();
      if (done) break;
      next.push(value);
    }
    if (next.length === 0) break;
    left -= next.length;
    for (const task of await tasksAt(read, sources, next))
      if (drawn.length < count && accepts(task)) drawn.push(task);
  }
  return drawn;
}
