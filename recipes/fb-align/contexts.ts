/**
 * What an attempt's teacher reads: feedback that follows the attempt step by step, the same feedback with the fault left in, or a reference solution.
 */

import type { LearnTools } from '../../core/plan/training-plan.ts';
import { solutionOf } from '../../core/recipe/task-family.ts';
import type { AidFor } from '../../protocols/taught-attempts.ts';
import { beginning, referenceSolution } from '../../worlds/arithmetic/aided.ts';
import { arithmetic, writeSolution } from '../../worlds/arithmetic/family.ts';
import { feedbackOn, firstFault } from '../../worlds/arithmetic/feedback.ts';

/**
 * - aligned: the right totals of the attempt, word for word, and the first wrong one corrected; the whole solution where that is the last total
 * - quoted: the same totals, and the first wrong one as the attempt has it; the whole attempt where that is the last total
 * - reference: the whole solution, whatever the attempt is
 */
export type Context = 'aligned' | 'quoted' | 'reference';

/**
 * An exact attempt is repeated as it is, and for one that does not parse there is no aid. `checked`: whether the run's reward comes from the checker.
 * Otherwise the checker tells nothing, and every attempt that was paid is repeated.
 */
export const contextAid =
  (
    tools: Pick<LearnTools, 'decode'>,
    { context, checked }: { readonly context: Context; readonly checked: boolean },
  ): AidFor =>
  ({ task, samples }, s) => {
    const sample = samples[s]!;
    const solution = solutionOf(arithmetic, task, sample, tools);
    if (!solution.ok) return null;
    const attempt = solution.value;
    if (!checked) return (sample.rewards.reward ?? 0) > 0 ? writeSolution(attempt) : null;
    switch (context) {
      case 'reference':
        return writeSolution(referenceSolution(task));
      case 'aligned':
        return feedbackOn(task, attempt) ?? writeSolution(attempt);
      case 'quoted': {
        const fault = firstFault(task, attempt);
        const goesOn = fault !== null && fault < attempt.steps.length - 1;
        return goesOn ? beginning(attempt.steps.slice(0, fault + 1)) : writeSolution(attempt);
      }
    }
  };
