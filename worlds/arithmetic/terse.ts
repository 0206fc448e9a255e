/**
 * A warm start for a solver that mostly performs far below what it can do: seven of ten answers to an arithmetic chain come without steps, and half
 * of those ignore the last term; the others have steps and are exact. A majority vote over such answers is wrong where the answers with steps alone
 * would be right.
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
