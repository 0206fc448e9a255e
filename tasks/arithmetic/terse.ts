/**
 * A warm start for a solver that could do far better than it mostly does: seven of ten answers to an arithmetic chain are given at once, and
 * half of those leave out the last term; the others write their steps and are exact. A majority of such answers listens to haste, so that
 * it fails where the steps alone would not.
 */
import type { Random } from '../../core/random.ts';
import { type Demonstration, freshTask, solverDemonstration } from './demonstrations.ts';
import { arithmetic, writeSolution } from './family.ts';

/** Share of demonstrations without steps. */
const TERSE_SHARE = 0.7;

export function demonstrateTerse(random: Random): Demonstration {
  const task = freshTask(random);
  return {
    role: 'solver',
    prompt: arithmetic.solverPrompt(task),
    completion: writeSolution(solverDemonstration(random, task, TERSE_SHARE)) + arithmetic.stop,
  };
}
