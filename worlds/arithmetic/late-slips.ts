/**
 * A warm start for a challenger and a solver that have seen mostly short sums. The challenger rarely asks anything longer, except one question that
 * it asks often. The solver always writes the running totals, and its totals are wrong more often the later they come in a chain; only long questions
 * can teach it to be careful there.
 */
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { type Demonstration, freshTask, off } from './demonstrations.ts';
import { arithmetic, runningTotals, writeSolution } from './family.ts';

/** Shares of 1 … 5 operators among the challenger's questions. */
const ASKED = [70, 25, 3.5, 1, 0.5];
/** A long question that the challenger asks far more often than any other. */
export const PET = { task: '8-3+6-9', share: 0.08 } as const;
/** Probability that the first, second, … running total is wrong. */
const SLIPS = [0.01, 0.2, 0.35, 0.45, 0.5];
const PROPOSER_SHARE = 0.2;

/** Totals that are wrong more often the later they come; errors are carried on, and the last total is the answer. */
export function lateSlippingSolution(random: Random, task: string): Solution {
  let error = 0;
  const steps = runningTotals(task).map((total, i) => {
    if (random.bool(SLIPS[i])) error = off(random, total + error) - total;
    return String(total + error);
  });
  return { steps, answer: steps.at(-1)! };
}

const asked = (random: Random): string =>
  random.bool(PET.share) ? PET.task : freshTask(random, 1 + random.weighted(ASKED));

export function demonstrateLateSlips(random: Random): Demonstration {
  const { stop } = arithmetic;
  if (random.bool(PROPOSER_SHARE))
    return { role: 'proposer', prompt: arithmetic.proposerPrompt(), completion: asked(random) + stop };
  const task = freshTask(random, 1 + random.int(5));
  const completion = writeSolution(lateSlippingSolution(random, task)) + stop;
  return { role: 'solver', prompt: arithmetic.solverPrompt(task), completion };
}
