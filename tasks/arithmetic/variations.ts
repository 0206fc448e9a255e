/**
 * Arithmetic chains for a solver, and for a writer that reads a solution without its task and writes a task with the same answer:
 *
 *     solver  <solve>3+4-9<sep>                          ->  <step>7<step>-2<answer>-2<eos>
 *     writer  <propose><step>7<step>-2<answer>-2<sep>    ->  8-2-8<eos>
 *
 * In the warm start the solver's later steps are more often wrong. Three of four tasks of the writer have as many sums as the solution has steps, and
 * the others fewer, which are easier.
 */
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/task-family.ts';
import { referenceSolution, solvedWithSlips } from './aided.ts';
import { type Demonstration, freshTask } from './demonstrations.ts';
import { arithmetic, runningTotals, writeSolution } from './family.ts';

const SOLVER_SHARE = 0.5;
/** Share of the writer's tasks that have as many sums as the solution has steps. */
const AS_LONG_SHARE = 0.75;

/** What the writer is shown. */
export const variationPrompt = (solution: Solution): string => `<propose>${writeSolution(solution)}<sep>`;

const isDigit = (value: number) => Math.abs(value) <= 9;
const signed = (random: Random, change: number): string =>
  change === 0 ? `${random.pick(['+', '-'])}0` : `${change < 0 ? '-' : '+'}${Math.abs(change)}`;

/** The first numbers of chains whose first sum has this total, of which a second digit makes up the rest. */
const firstDigits = (total: number): number[] =>
  Array.from({ length: 10 }, (_, digit) => digit).filter((digit) => isDigit(total - digit));

/** Whether some chain of digits has these running totals. */
const isChain = (totals: readonly number[]): boolean =>
  firstDigits(totals[0]!).length > 0 &&
  totals.every((total, i) => i === 0 || isDigit(total - totals[i - 1]!));

/** A chain with these running totals; its first two numbers are drawn. */
function chainOf(random: Random, totals: readonly number[]): string {
  const first = random.pick(firstDigits(totals[0]!));
  return `${first}${totals.map((total, i) => signed(random, total - (totals[i - 1] ?? first))).join('')}`;
}

/** All running totals that differ from the given ones in the total at a place that is not the last. */
const changedAt = (totals: readonly number[], at: number): number[][] =>
  Array.from({ length: 19 }, (_, i) => totals[at]! - 9 + i)
    .filter((total) => total !== totals[at])
    .map((total) => totals.with(at, total))
    .filter(isChain);

/** All running totals with one of the given ones left out, which is not the last. */
const shortened = (totals: readonly number[]): number[][] =>
  totals
    .slice(0, -1)
    .map((_, at) => totals.toSpliced(at, 1))
    .filter(isChain);

/** A task with the same answer as a task of two sums or more, and as many sums or fewer. */
export function variationOf(random: Random, task: string): string {
  let totals = runningTotals(task);
  if (!random.bool(AS_LONG_SHARE)) {
    for (let drops = 1 + random.int(totals.length - 1); drops > 0; drops--) {
      const shorter = shortened(totals);
      if (shorter.length === 0) break;
      totals = random.pick(shorter);
    }
    return chainOf(random, totals);
  }
  const changes = changedAt(totals, random.int(totals.length - 1));
  return chainOf(random, changes.length ? random.pick(changes) : totals);
}

/** A task with a variation of it that is another task and not held out; some tasks, such as 9+9+9, have none. */
function varied(random: Random): { readonly task: string; readonly variation: string } {
  for (;;) {
    const task = freshTask(random, 2 + random.int(4));
    const variation = variationOf(random, task);
    if (variation !== task && !arithmetic.isHeldOut(variation)) return { task, variation };
  }
}

export function demonstrateVariations(random: Random): Demonstration {
  const { stop } = arithmetic;
  if (random.bool(SOLVER_SHARE)) {
    const task = freshTask(random, 2 + random.int(4));
    return {
      role: 'solver',
      prompt: arithmetic.solverPrompt(task),
      completion: writeSolution(solvedWithSlips(random, task)) + stop,
    };
  }
  const { task, variation } = varied(random);
  return { role: 'writer', prompt: variationPrompt(referenceSolution(task)), completion: variation + stop };
}
