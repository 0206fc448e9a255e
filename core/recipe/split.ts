/**
 * The held-out split of a task family, by hash. A task's side follows from the task itself, so no generator, demonstration or proposal
 * can use a held-out task unnoticed. Families choose a key that is the same for all tasks that teach each other (a program's
 * behaviour, a rule system), so that knowing one of them is no leak.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { wrongInput } from '../errors.ts';
import { Random } from '../random.ts';

/** Share of all keys that are held out. */
export const HELD_OUT_SHARE = 0.1;
/** After so many draws a generator gives up: its settings admit next to nothing. */
const MAX_DRAWS = 20_000;

/** Is a key of a family on the held-out side? */
export function isHeldOutKey(family: string, key: string, share = HELD_OUT_SHARE): boolean {
  const digest = sha256(utf8ToBytes(`${family}/held-out\u0000${key}`));
  return new DataView(digest.buffer).getUint32(0) < share * 2 ** 32;
}

/** Draws until one draw is admitted. Throws `tasks.barren` where none of MAX_DRAWS is. */
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

/** Which tasks an evaluation asks. */
export interface EvaluationTasks {
  /** false for pilots, on which settings are chosen: they are evaluated on the training side, so nothing is tuned on the held-out one. */
  readonly heldOut: boolean;
  /** The most tasks of each family: a check that everything runs needs few. */
  readonly most: number;
  /** The most of them that an evaluation asks, where those are fewer; a recipe that trains on its test tasks trains on all. */
  readonly examined?: number;
}
/** The default tasks of an evaluation: all that are held out. */
export const HELD_OUT: EvaluationTasks = { heldOut: true, most: Number.POSITIVE_INFINITY };

/** Distinct tasks that a family is evaluated on, at most `count`, the same in every process; they are drawn at the first call. */
export function heldOutTasks(
  family: string,
  count: number,
  draw: (random: Random, heldOut: boolean) => string,
  isHeldOut: (task: string) => boolean,
): (asked?: EvaluationTasks) => readonly string[] {
  /** The longest list drawn so far of each side: shorter ones are its beginning. */
  const drawnOf = new Map<boolean, readonly string[]>();
  return ({ heldOut, most } = HELD_OUT) => {
    const wanted = Math.min(count, most);
    const known = drawnOf.get(heldOut);
    if (known && known.length >= wanted) return known.slice(0, wanted);
    const random = new Random(`${family}/held-out`);
    const drawn = new Set<string>();
    while (drawn.size < wanted)
      drawn.add(
        drawUntil(
          () => draw(random, heldOut),
          (task) => !drawn.has(task) && isHeldOut(task) === heldOut,
        ),
      );
    const tasks = [...drawn];
    drawnOf.set(heldOut, tasks);
    return tasks;
  };
}
