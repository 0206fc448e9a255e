/** The same question in other words: a chain of sums with its terms in another order, which has the same answer and other running totals. */
import { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { arithmetic } from './family.ts';

/** The largest number of operators of a task: on such chains the start policy is right with steps and often wrong without. */
const MOST_OPERATORS = 4;
/** The number of orders that are tried; a chain of four operators has 24. */
const TRIES = 24;

/** The terms after the first digit: '3+4-9' -> ['+4', '-9']. */
const termsOf = (task: string): string[] => task.slice(1).match(/../g) ?? [];

/**
 * The chain with the terms after its first digit in another order, drawn at random by the chain itself. It ends on another term, since a solver that
 * stops early leaves out the last term, and it is not held out. null if there is no such order.
 */
export function reordered(task: string): string | null {
  const terms = termsOf(task);
  const random = new Random(`reordered/${task}`);
  for (let i = 0; i < TRIES; i++) {
    const order = random.shuffle(terms);
    const other = task[0]! + order.join('');
    if (order.at(-1) !== terms.at(-1) && !arithmetic.isHeldOut(other)) return other;
  }
  return null;
}

/** A chain that has another order. */
export const drawReorderable = (random: Random): string =>
  drawUntil(
    () => arithmetic.random(random),
    (task) =>
      arithmetic.difficulty(task) <= MOST_OPERATORS &&
      !arithmetic.isHeldOut(task) &&
      reordered(task) !== null,
  );
