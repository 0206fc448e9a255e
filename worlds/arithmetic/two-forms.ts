/**
 * A warm start for a solver that answers arithmetic chains in two forms, as often in one as in the other: with its steps, one in ten of which is
 * wrong, and without, where half of the answers ignore the last term. In both it can do better than it samples.
 */
import type { Random } from '../../core/random.ts';
import { type Demonstration, freshTask, solverDemonstration } from './demonstrations.ts';
import { arithmetic, writeSolution } from './family.ts';
import { slippingSolution } from './step-slips.ts';

export function demonstrateTwoForms(random: Random): Demonstration {
  const task = freshTask(random);
  const solution = random.bool() ? slippingSolution(random, task) : solverDemonstration(random, task, 1);
  return {
    role: 'solver',
    prompt: arithmetic.solverPrompt(task),
    completion: writeSolution(solution) + arithmetic.stop,
  };
}
