/**
 * A warm start for a solver that could do far better than it mostly does: seven of ten answers to an arithmetic chain are given at once, and
 * half of those leave out the last term; the others write their steps and are exact. A majority of such answers listens to haste, so that
 * it fails where the steps alone would not.
 */
import type { Random } from '../random.ts';
import { arithmetic, writeSolution } from './arithmetic.ts';
import { type Demonstration, freshTask, solverDemonstration } from './demonstrations.ts';

/** Share of demonstrations without steps. */
const TERSE_SHARE = 0.7;

export function demonstrateHasty(random: Random): Demonstration {
  const task = freshTask(random);
  return {
    role: 'solver',
    prompt: arithmetic.solverPrompt(task),
    completion: writeSolution(solverDemonstration(random, task, TERSE_SHARE)) + arithmetic.stop,
  };
}
