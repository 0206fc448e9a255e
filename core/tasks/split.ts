/**
 * The held-out split of a task family, by hash: which side a task is on follows from the task itself, so no generator, no
 * demonstration and no proposal can touch the held-out side unseen. Families choose a key that is the same for all tasks
 * that teach each other (a program's behaviour, a rule system), so that knowing one of them is no leak.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { wrongInput } from '../errors.ts';
import { Random } from '../random.ts';

/** Share of all keys that are held out. */
export const HELD_OUT_SHARE = 0.1;
/** Draws after which a generator gives up: its settings admit next to nothing. */
const MAX_DRAWS = 20_000;

/** Whether a key of a family is on the held-out side. */
export function isHeldOutKey(family: string, key: string): boolean {
  const digest = sha256(utf8ToBytes(`${family}/held-out\u0000${key}`));
  return new DataView(digest.buffer).getUint32(0) < HELD_OUT_SHARE * 2 ** 32;
}

/** Draws until one is admitted. Throws `tasks.barren` where none is among many. */
export function drawUntil<T>(draw: () => T, admits: (drawn: T) => boolean): T {
  for (let i = 0; i < MAX_DRAWS; i++) {
    const drawn = draw();
    if (admits(drawn)) return drawn;
  }
  throw wrongInput('tasks.barren', `None of ${MAX_DRAWS} drawn tasks was admitted.`, {
    expected: 'settings under which such tasks exist',
    next: 'Widen the range of the difficulty settings.',
  });
}

export interface ExamTasks {
  /** Pilots, on which settings are chosen, are examined on the training side: nothing is ever tuned on the held-out one. */
  readonly heldOut: boolean;
  /** At most so many: a check that everything runs asks few. */
  readonly most: number;
}
let examTasks: ExamTasks = { heldOut: true, most: Number.POSITIVE_INFINITY };
/** What this process's exams ask from now on. */
export const examineOn = (tasks: Partial<ExamTasks>): void => {
  examTasks = { ...examTasks, ...tasks };
};
/** Whether exams draw from the held-out side. */
export const examinesHeldOut = (): boolean => examTasks.heldOut;
/** How many tasks an exam of `count` asks. */
export const examSize = (count: number): number => Math.min(count, examTasks.most);

/** `count` distinct tasks that a family is examined on, the same in every process; drawn when first asked for. */
export function heldOutTasks(
  family: string,
  count: number,
  draw: (random: Random, heldOut: boolean) => string,
  isHeldOut: (task: string) => boolean,
): () => readonly string[] {
  let tasks: readonly string[] | undefined;
  return () => {
    if (tasks) return tasks;
    const heldOut = examinesHeldOut();
    const random = new Random(`${family}/held-out`);
    const drawn = new Set<string>();
    while (drawn.size < examSize(count))
      drawn.add(
        drawUntil(
          () => draw(random, heldOut),
          (task) => !drawn.has(task) && isHeldOut(task) === heldOut,
        ),
      );
    tasks = [...drawn];
    return tasks;
  };
}
