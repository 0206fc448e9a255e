/**
 * Tasks of files that are too large for the code of a Worker. They lie in the object store in shards of consecutive tasks, a line of JSON each, every
 * shard under the sha256 of its bytes. The recipe names the shards, so that its name, and so the run's id, stays a function of what the tasks are; a
 * stage reads the shards of the tasks that it draws. Beside them lies an object with two keys of every task, of eight bytes each: first the keys by
 * which a curriculum draws (`taskKey`), then those that say whether a question is one of the file (`askedKey`).
 */
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import { type Grid, imagesNamed } from '../../core/images/patches.ts';
import { deriveId, longSha256Hex } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { ReadStored } from '../../core/recipe/round-context.ts';
import { taskKey } from '../questions/task-text.ts';
import { type GivenTasks, placedTask, type StoredTasks } from './stored-set.ts';
import { type FileTask, type PlacedTask, questionKey } from './task.ts';
import type { TaskSource } from './task-set.ts';

/** An object of the store. */
export interface StoredObject {
  readonly sha256: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const KEY_BYTES = 8;
/** Shards that are read at once. An isolate has 128 MB, most of which the policy takes. */
const AT_ONCE = 4;
const LINE_END = 10;

/** A key of 64 bits: among a million questions two have the same with a probability of 3e-8. */
const askedKey = (task: Pick<FileTask, 'messages'>): string =>
  deriveId('asked', questionKey(task)).slice(0, 2 * KEY_BYTES);

const areStored = (sources: GivenTasks['sources']): sources is StoredTasks => 'files' in sources;

/** Has the recipe the tasks itself? */
export const isHere = (sources: GivenTasks['sources']): boolean => !areStored(sources);

/** The images that tasks show, by their hashes, each once. */
export const imagesOfTasks = (tasks: Iterable<Pick<FileTask, 'messages'>>): (Grid & { image: string })[] => {
  const found = new Map<string, Grid & { image: string }>();
  for (const { messages } of tasks)
    for (const { content } of messages)
      for (const shown of imagesNamed(content)) found.set(shown.image, shown);
  return [...found.values()];
};

/** What of the tasks lies in the object store: the objects that hold them, where the recipe has not got them itself, and their images. */
export function objectsOfTasks({
  sources,
  heldOut,
  showsImages,
}: GivenTasks): Partial<Pick<Recipe, 'stored' | 'showsImages'>> {
  if (areStored(sources))
    return {
      stored: [
        ...sources.files.flatMap(({ shards, keys }) => [...shards.map(([sha256]) => sha256), keys]),
        sources.heldOutKeys,
      ],
    };
  if (!showsImages) return {};
  const images = imagesOfTasks([...tasksHere({ sources }), ...heldOut]);
  return { stored: images.map(({ image }) => image), showsImages };
}

/** What every task of the sources has; undefined where that is seen from the tasks themselves. */
export const traitsOf = ({
  sources,
}: Pick<GivenTasks, 'sources'>): Pick<StoredTasks, 'data' | 'isRated'> | undefined =>
  areStored(sources) ? sources : undefined;

/** All tasks for training. Throws `tasks.stored` where the recipe has not got them itself. */
export function tasksHere({ sources }: Pick<GivenTasks, 'sources'>): readonly PlacedTask[] {
  if (!areStored(sources)) return sources.flatMap(({ tasks }) => tasks);
  throw wrongInput(
    'tasks.stored',
    'All tasks for training are asked for, and they lie in the object store.',
    {
      expected: 'files that are small enough for the code of a Worker',
      next: 'Train on a part of the file, or choose a recipe or a variant that reads only the tasks of a round.',
    },
  );
}

/** Where a task stands: its source, and its place there, from 0. */
export interface Place {
  readonly source: number;
  readonly at: number;
}

/** What can be known of the sources without reading tasks: their weights and lengths. */
export const lengthsOf = (sources: GivenTasks['sources']): { weight: number; length: number }[] =>
  areStored(sources)
    ? sources.files.map(({ weight, shards }) => ({
        weight,
        length: shards.reduce((sum, [, tasks]) => sum + tasks, 0),
      }))
    : sources.map(({ weight, tasks }) => ({ weight, length: tasks.length }));

const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** The keys by which a curriculum draws [sources][tasks]. */
export function taskKeys(read: ReadStored, sources: GivenTasks['sources']): Promise<string[][]> {
  if (!areStored(sources))
    return Promise.resolve(sources.map(({ tasks }) => tasks.map((task) => taskKey(task))));
  return Promise.all(
    sources.files.map(async ({ keys }) => {
      const bytes = await read(keys);
      return Array.from({ length: bytes.length / (2 * KEY_BYTES) }, (_, i) =>
        hexOf(bytes.subarray(KEY_BYTES * i, KEY_BYTES * (i + 1))),
      );
    }),
  );
}

/** The tasks at these places, in their order. */
export async function tasksAt(
  read: ReadStored,
  sources: GivenTasks['sources'],
  places: readonly Place[],
): Promise<PlacedTask[]> {
  if (!areStored(sources)) return places.map(({ source, at }) => sources[source]!.tasks[at]!);
  const wanted = new Map<string, { readonly line: number; readonly i: number }[]>();
  for (const [i, { source, at }] of places.entries()) {
    const { sha256, line } = lineOf(sources.files[source]!, at);
    wanted.set(sha256, [...(wanted.get(sha256) ?? []), { line, i }]);
  }
  const found: PlacedTask[] = [];
  const shards = [...wanted];
  for (let from = 0; from < shards.length; from += AT_ONCE)
    await Promise.all(
      shards.slice(from, from + AT_ONCE).map(async ([sha256, lines]) => {
        const bytes = await read(sha256);
        for (const { line, i } of lines) found[i] = readLine(bytes, line);
      }),
    );
  return found;
}

/** The shard of a task, and its line there, from 0. */
function lineOf({ shards }: StoredTasks['files'][number], at: number): { sha256: string; line: number } {
  let line = at;
  for (const [sha256, tasks] of shards) {
    if (line < tasks) return { sha256, line };
    line -= tasks;
  }
  throw new Error(`internal: the shards have no task ${at}`);
}

function readLine(bytes: Uint8Array, line: number): PlacedTask {
  let from = 0;
  for (let i = 0; i < line; i++) from = bytes.indexOf(LINE_END, from) + 1;
  const text = new TextDecoder().decode(bytes.subarray(from, bytes.indexOf(LINE_END, from)));
  return v.parse(placedTask, JSON.parse(text));
}

/** Says of questions whether they are among the tasks for training, and whether they are held out. */
export interface Sides {
  readonly isTrained: (task: Pick<FileTask, 'messages'>) => boolean;
  readonly isHeldOut: (task: Pick<FileTask, 'messages'>) => boolean;
}

export async function sidesOf(read: ReadStored, { sources, heldOut }: GivenTasks): Promise<Sides> {
  if (!areStored(sources)) {
    const trained = new Set(tasksHere({ sources }).map(questionKey));
    const held = new Set(heldOut.map(questionKey));
    return {
      isTrained: (task) => trained.has(questionKey(task)),
      isHeldOut: (task) => held.has(questionKey(task)),
    };
  }
  const [held, ...trained] = await Promise.all(
    [sources.heldOutKeys, ...sources.files.map(({ keys }) => keys)].map(async (keys) =>
      amongKeys(await read(keys)),
    ),
  );
  return {
    isTrained: (task) => {
      const key = askedKey(task);
      return trained.some((has) => has(key));
    },
    isHeldOut: (task) => held!(askedKey(task)),
  };
}

/** Whether a key is among those of an object. They are kept sorted, since a set of a million texts is large for an isolate. */
function amongKeys(bytes: Uint8Array): (key: string) => boolean {
  const half = bytes.length / 2;
  const view = new DataView(bytes.buffer, bytes.byteOffset + half, half);
  const sorted = BigUint64Array.from({ length: half / KEY_BYTES }, (_, i) =>
    view.getBigUint64(KEY_BYTES * i),
  ).sort();
  return (key) => {
    const wanted = BigInt(`0x${key}`);
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return sorted[low] === wanted;
  };
}

const objectOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<StoredObject> => ({
  sha256: await longSha256Hex(bytes),
  bytes,
});

/** The shards of some tasks, each as soon as it has `least` bytes, and how many tasks it holds. */
async function* shardsOf(
  tasks: readonly PlacedTask[],
  least: number,
): AsyncGenerator<StoredObject & { readonly tasks: number }> {
  const encoder = new TextEncoder();
  let lines: string[] = [];
  let length = 0;
  for (const [i, task] of tasks.entries()) {
    const line = `${JSON.stringify(task)}\n`;
    lines.push(line);
    length += line.length;
    if (length < least && i + 1 < tasks.length) continue;
    yield { ...(await objectOf(new Uint8Array(encoder.encode(lines.join(''))))), tasks: lines.length };
    lines = [];
    length = 0;
  }
}

/** The object of the keys of some tasks. */
function keysOf(tasks: readonly PlacedTask[]): Promise<StoredObject> {
  const bytes = new Uint8Array(2 * KEY_BYTES * tasks.length);
  const view = new DataView(bytes.buffer);
  for (const [i, task] of tasks.entries()) {
    view.setBigUint64(KEY_BYTES * i, BigInt(`0x${taskKey(task)}`));
    view.setBigUint64(KEY_BYTES * (tasks.length + i), BigInt(`0x${askedKey(task)}`));
  }
  return objectOf(bytes);
}

/** Tasks that are stored: what a recipe has in their place, and the objects that hold them, one after the other. */
export interface Stored {
  readonly sources: StoredTasks;
  readonly objects: () => AsyncGenerator<StoredObject>;
}

/** `data`: what every task for training has. A shard is full when it has `shardBytes`. */
export async function storedTasks(
  given: readonly TaskSource[],
  heldOut: readonly PlacedTask[],
  data: StoredTasks['data'],
  shardBytes: number,
): Promise<Stored> {
  const files: StoredTasks['files'] = [];
  const heldOutKeys = await keysOf(heldOut);
  const keys = [heldOutKeys];
  for (const { weight, tasks } of given) {
    const shards: [string, number][] = [];
    for await (const shard of shardsOf(tasks, shardBytes)) shards.push([shard.sha256, shard.tasks]);
    const own = await keysOf(tasks);
    keys.push(own);
    files.push({ weight, shards, keys: own.sha256 });
  }
  const isRated = given.every(({ tasks }) => tasks.every(({ difficulty }) => difficulty !== null));
  return {
    sources: { files, data, isRated, heldOutKeys: heldOutKeys.sha256 },
    // The shards are written anew: all of them together are as large as the files.
    async *objects() {
      for (const { tasks } of given) yield* shardsOf(tasks, shardBytes);
      yield* keys;
    },
  };
}
