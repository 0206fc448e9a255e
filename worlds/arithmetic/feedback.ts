/**
 * The feedback of a step checker on a wrong attempt at an arithmetic chain: the totals that were right, unchanged, and the first wrong one corrected.
 * It has the form of a hint (aided.ts), so that a policy that was taught to continue hints can read it.
 */
import type { TokenIds } from '../../core/policy/policy.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { beginning, referenceSolution } from './aided.ts';
import { runningTotals, writeSolution } from './family.ts';

/**
 * The first part of an attempt that is wrong: the index of a total, or the number of totals where the answer is wrong; null where everything is
 * right. A step that is computed correctly from a wrong total is not right either, but it is never the first wrong part.
 */
export function firstFault(task: string, { steps, answer }: Solution): number | null {
  const totals = runningTotals(task);
  const parts = [...steps.map((step, i) => Number(step) === totals[i]), Number(answer) === totals.at(-1)];
  const fault = parts.indexOf(false);
  return fault < 0 ? null : fault;
}

/**
 * The exact totals of a task up to the total of a part. Where that part is the last total or the answer, the whole solution is given, since nothing
 * of it is left to find.
 */
export function toldUpTo(task: string, part: number): string {
  const solution = referenceSolution(task);
  return part >= solution.steps.length - 1
    ? writeSolution(solution)
    : beginning(solution.steps.slice(0, part + 1));
}

/** The feedback on an attempt; null where the attempt is right. For an attempt without steps it is the whole solution. */
export function feedbackOn(task: string, attempt: Solution): string | null {
  const fault = firstFault(task, attempt);
  if (fault === null) return null;
  return toldUpTo(task, attempt.steps.length ? fault : Number.POSITIVE_INFINITY);
}

/**
 * The right totals of an attempt and its first wrong one as it is; the whole attempt where that is the last total. Null where the attempt is right.
 */
export function quotedFault(task: string, attempt: Solution): string | null {
  const fault = firstFault(task, attempt);
  if (fault === null) return null;
  return fault < attempt.steps.length - 1
    ? beginning(attempt.steps.slice(0, fault + 1))
    : writeSolution(attempt);
}

/**
 * For each token of an attempt the part that it belongs to [ids]: 0 for the first total with its tag, and so on. `tags`: the tokens with which a part
 * begins.
 */
export function partOfTokens(ids: TokenIds, tags: readonly number[]): number[] {
  let part = -1;
  return ids.map((id) => {
    if (tags.includes(id)) part++;
    return part;
  });
}
