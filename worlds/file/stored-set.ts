/** Tasks of files as plain data: the schema of what a recipe carries from the command that read the files to every process of a run. */
import * as v from 'valibot';
import { DATA, type Datum } from '../../core/game/verbs.ts';
import type { Grid } from '../../core/images/patches.ts';
import { message } from '../../core/renderer/message.ts';
import { finite } from '../../core/schema/numbers.ts';
import type { PlacedTask } from './task.ts';
import type { TaskSource } from './task-set.ts';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const weight = v.pipe(v.number(), v.minValue(Number.MIN_VALUE), v.finite());
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** A task with its place. */
export const placedTask = v.object({
  messages: v.pipe(v.array(message), v.minLength(1)),
  answer: v.string(),
  solution: v.exactOptional(v.string()),
  metadata: v.record(v.string(), v.unknown()),
  difficulty: v.nullable(finite),
  file: v.string(),
  line: count,
});

const sourcesHere = v.pipe(
  v.array(v.object({ weight, tasks: v.pipe(v.array(placedTask), v.minLength(1)) })),
  v.minLength(1),
);

/** Tasks for training that lie in the object store (stored-tasks.ts), and what has to be known of all of them before any is read. */
const sourcesStored = v.strictObject({
  /** Each file: its shards in their order, with the number of tasks in each, and the object of its tasks' keys. */
  files: v.pipe(
    v.array(
      v.strictObject({
        weight,
        shards: v.pipe(v.array(v.tuple([sha256, count])), v.minLength(1)),
        keys: sha256,
      }),
    ),
    v.minLength(1),
  ),
  /** What every task has beside the question. */
  data: v.array(v.picklist(Object.keys(DATA) as Datum[])),
  /** Does every task have a difficulty? */
  isRated: v.boolean(),
  /** The object of the keys of all held-out tasks: the recipe has those that evaluations ask. */
  heldOutKeys: sha256,
});
export type StoredTasks = v.InferOutput<typeof sourcesStored>;

export const storedSources = v.union([sourcesHere, sourcesStored]);
/** The most rows and columns of patches of the images that the tasks show; absent = they show none. */
export const shownGrid = v.exactOptional(v.strictObject({ rows: count, columns: count }));
export const storedHeldOut = v.pipe(v.array(placedTask), v.minLength(1));

/** The tasks of a recipe on files. */
export interface GivenTasks {
  readonly sources: readonly TaskSource[] | StoredTasks;
  readonly heldOut: readonly PlacedTask[];
  readonly showsImages?: Grid;
}
