/**
 * Files of tasks as one set: which tasks are trained on, which are held out, and which were left out and why. A question is on one side only: the
 * split depends on what is asked, and a held-out question is never trained on, whichever file it is in.
 */
import { wrongInput } from '../../core/errors.ts';
import { isHeldOutKey } from '../../core/recipe/split.ts';
import { type PlacedTask, questionKey } from './task.ts';

export interface TaskSource {
  readonly tasks: readonly PlacedTask[];
  /** How often it is drawn from, beside the other sources. */
  readonly weight: number;
}

/** How tasks are held out: a share of them, by a hash of what is asked, or files of their own. */
export type HeldOutBy =
  | {
      readonly share: number;
      /** Tasks with the same value of this field of the metadata go to the same side. */
      readonly by?: string;
    }
  | { readonly tasks: readonly PlacedTask[] };

export interface Place {
  readonly file: string;
  readonly line: number;
}

/** Two tasks that ask the same. */
export interface Repeat {
  readonly first: Place;
  readonly again: Place;
}

export interface TaskSet {
  readonly sources: readonly TaskSource[];
  readonly heldOut: readonly PlacedTask[];
  /** What was left out. The first of equal questions is kept. */
  readonly report: {
    /** The same question with the same answer. */
    readonly duplicates: readonly Repeat[];
    /** The same question with another answer: one of the two is wrong, or several are right and the checker should say so. */
    readonly contradictions: readonly Repeat[];
    /** `again` stands in a file for training, `first` is held out; the former was left out. */
    readonly leaks: readonly Repeat[];
  };
}

const placeOf = ({ file, line }: PlacedTask): Place => ({ file, line });

/** The key that a task is split by. */
function splitKey(task: PlacedTask, by: string | undefined, asked: (task: PlacedTask) => string): string {
  if (by === undefined) return asked(task);
  const value = task.metadata[by];
  if (value !== undefined && value !== null) return `${by}=${JSON.stringify(value)}`;
  throw wrongInput(
    'tasks.split-field',
    `The task at line ${task.line} of ${task.file} has no field "${by}".`,
    {
      expected: 'the field that the split goes by in the metadata of every task',
    },
  );
}

/**
 * `identity` says what makes a task a repeat of another; by default a question is trained on once, whatever its answer. Throws
 * `wrong-input` where a side would be left empty.
 */
export function taskSet(
  sources: readonly TaskSource[],
  heldOutBy: HeldOutBy,
  identity: (task: PlacedTask) => string = questionKey,
): TaskSet {
  // Each is asked for up to four times, and takes as long as reading the line.
  const keys = new Map<PlacedTask, string>();
  const asked = (task: PlacedTask): string => {
    const key = keys.get(task) ?? questionKey(task);
    keys.set(task, key);
    return key;
  };
  const duplicates: Repeat[] = [];
  const contradictions: Repeat[] = [];
  const leaks: Repeat[] = [];

  /** The first task of every question, repeats reported. */
  const distinct = (tasks: readonly PlacedTask[], seen: Map<string, PlacedTask>): PlacedTask[] =>
    tasks.filter((task) => {
      const key = identity === questionKey ? asked(task) : identity(task);
      const first = seen.get(key);
      if (!first) seen.set(key, task);
      else
        (first.answer === task.answer ? duplicates : contradictions).push({
          first: placeOf(first),
          again: placeOf(task),
        });
      return !first;
    });

  const seen = new Map<string, PlacedTask>();
  const all = sources.map(({ tasks, weight }) => ({ weight, tasks: distinct(tasks, seen) }));
  const share = 'share' in heldOutBy ? heldOutBy : null;
  const holds = (task: PlacedTask) =>
    share !== null && isHeldOutKey('tasks/file', splitKey(task, share.by, asked), share.share);
  const heldOut =
    'tasks' in heldOutBy
      ? distinct(heldOutBy.tasks, new Map())
      : all.flatMap(({ tasks }) => tasks.filter(holds));

  const examined = new Map(heldOut.map((task) => [asked(task), task]));
  const trains = (task: PlacedTask): boolean => {
    const held = examined.get(asked(task));
    if (held && 'tasks' in heldOutBy) leaks.push({ first: placeOf(held), again: placeOf(task) });
    return !held;
  };
  const training = all.map(({ tasks, weight }) => ({ weight, tasks: tasks.filter(trains) }));

  const count = training.reduce((sum, { tasks }) => sum + tasks.length, 0);
  if (count === 0 || heldOut.length === 0)
    throw wrongInput('tasks.split', `${count} tasks are left for training, ${heldOut.length} are held out.`, {
      expected: 'at least one on each side',
      next: 'Add tasks, change the share, or name a file of held-out tasks.',
    });
  return { sources: training, heldOut, report: { duplicates, contradictions, leaks } };
}

const at = ({ file, line }: Place) => `${file}:${line}`;
const few = (repeats: readonly Repeat[]): string => {
  const shown = repeats.slice(0, 3).map(({ first, again }) => `${at(again)} as ${at(first)}`);
  return `${shown.join(', ')}${repeats.length > 3 ? ', …' : ''}`;
};

/** What was left out, a sentence each; empty where nothing was. */
export function reportLines({ duplicates, contradictions, leaks }: TaskSet['report']): string[] {
  const tasks = (repeats: readonly Repeat[]) => (repeats.length === 1 ? 'task was' : 'tasks were');
  return [
    ...(duplicates.length
      ? [
          `${duplicates.length} ${tasks(duplicates)} left out because the same question stands before (${few(duplicates)}).`,
        ]
      : []),
    ...(contradictions.length
      ? [
          `${contradictions.length} ${tasks(contradictions)} left out because the same question stands before with another answer (${few(contradictions)}).`,
        ]
      : []),
    ...(leaks.length
      ? [
          `${leaks.length} ${tasks(leaks)} left out of training because the question is held out (${few(leaks)}).`,
        ]
      : []),
  ];
}
