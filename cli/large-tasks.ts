/** Tasks that are too many for the code of a Worker: what a recipe carries in their place, and the objects that hold them. */
import { wrongInput } from '../core/errors.ts';
import type { Datum } from '../core/game/verbs.ts';
import { isKept, keptImage, MOST_IMAGE_BYTES, pixmap } from '../core/images/image.ts';
import { MAX_TASKS_BYTES } from '../core/schema/policy.ts';
import type { GivenTasks } from '../worlds/file/stored-set.ts';
import { imagesOfTasks, type Stored, storedTasks } from '../worlds/file/stored-tasks.ts';
import type { PlacedTask } from '../worlds/file/task.ts';
import type { TaskSet } from '../worlds/file/task-set.ts';

export interface TaskLimits {
  /** The most bytes of tasks in a recipe: they are part of every Worker's code, which may have 10 MB on the platform. */
  readonly inCode: number;
  /** A shard is full at this size. A round of 64 tasks reads 64 of them, wherever its tasks stand. */
  readonly shard: number;
}

export const TASK_LIMITS: TaskLimits = { inCode: 6 * 1024 * 1024, shard: 256 * 1024 };

/** The most tasks of one file, whose keys are one object. */
const MOST_TASKS = MAX_TASKS_BYTES / 16;

/** The images of tasks, as objects. Throws `tasks.size` where they are too large together for the process to have kept them. */
function withImages(
  images: ReturnType<typeof imagesOfTasks>,
): Pick<CarriedTasks, 'showsImages' | 'objects' | 'report'> {
  if (!images.every(({ image }) => isKept(image)))
    throw wrongInput('tasks.size', `The ${images.length} images of the tasks are too large together.`, {
      expected: `at most ${MOST_IMAGE_BYTES} bytes of pixels`,
      next: 'Make them smaller, or train on a part of the file.',
    });
  const [rows, columns] = [images.map((image) => image.rows), images.map((image) => image.columns)];
  const bytes = images.reduce((sum, { image }) => sum + keptImage(image).pixels.length, 0);
  return {
    showsImages: { rows: Math.max(...rows), columns: Math.max(...columns) },
    async *objects() {
      for (const { image } of images) yield { sha256: image, bytes: pixmap(keptImage(image)) };
    },
    report: [
      `The tasks show ${images.length} different images, of ${(bytes / 1e6).toFixed(1)} MB of pixels.`,
    ],
  };
}

/** The tasks as a recipe carries them. */
export interface CarriedTasks extends GivenTasks {
  /** Absent where the recipe has the tasks itself. */
  readonly objects?: Stored['objects'];
  /** What is said of it. */
  readonly report: readonly string[];
}

const bytesOfTask = (task: PlacedTask): number => Buffer.byteLength(JSON.stringify(task));

/**
 * The tasks themselves where they fit into a Worker's code; otherwise the names of the objects that hold them, and the held-out tasks that evaluations
 * ask. `data`: what every task for training has; it is called for large files alone, and throws where the recipe cannot run on them.
 * Throws `tasks.size` where a task, or a file, is too large for an object.
 */
export async function carriedTasks(
  { sources, heldOut }: Pick<TaskSet, 'sources' | 'heldOut'>,
  examined: number,
  data: () => Datum[],
  limits: TaskLimits,
): Promise<CarriedTasks> {
  let bytes = 0;
  let count = 0;
  for (const tasks of [...sources.map((source) => source.tasks), heldOut]) {
    for (const task of tasks) {
      const own = bytesOfTask(task);
      if (own > MAX_TASKS_BYTES / 2)
        throw wrongInput('tasks.size', `Line ${task.line} of ${task.file} is a task of ${own} bytes.`, {
          expected: `at most ${MAX_TASKS_BYTES / 2}`,
        });
      bytes += own;
    }
    count += tasks.length;
    if (tasks.length > MOST_TASKS)
      throw wrongInput('tasks.size', `The file ${tasks[0]!.file} has ${tasks.length} tasks.`, {
        expected: `at most ${MOST_TASKS} in a file`,
        next: 'Split it, and name each part by a --tasks of its own.',
      });
  }
  const images = imagesOfTasks([...sources.flatMap(({ tasks }) => tasks), ...heldOut]);
  if (bytes <= limits.inCode)
    return { sources, heldOut, ...(images.length ? withImages(images) : { report: [] }) };
  if (images.length)
    throw wrongInput('tasks.size', `The tasks are ${bytes} bytes of JSON beside their images.`, {
      expected: `at most ${limits.inCode}, since every Worker has them in its code`,
      next: 'Train on a part of the file.',
    });
  const asked = heldOut.slice(0, examined);
  const askedBytes = asked.reduce((sum, task) => sum + bytesOfTask(task), 0);
  if (askedBytes > limits.inCode)
    throw wrongInput(
      'tasks.size',
      `The ${asked.length} held-out tasks of an evaluation are ${askedBytes} bytes of JSON.`,
      {
        expected: `at most ${limits.inCode}, since every Worker has them in its code`,
        next: 'Ask fewer of them by --set examined=N.',
      },
    );
  const stored = await storedTasks(sources, heldOut, data(), limits.shard);
  const shards = stored.sources.files.reduce((sum, file) => sum + file.shards.length, 0);
  return {
    sources: stored.sources,
    heldOut: asked,
    objects: stored.objects,
    report: [
      `${count} tasks of ${(bytes / 1e6).toFixed(1)} MB are more than a Worker’s code may hold: they are stored in ${shards} shards, and a round reads those of its tasks.`,
    ],
  };
}
