/**
 * What a checker of steps tells whoever made a wrong attempt at an arithmetic chain: the totals that were right, word for word, and the first
 * wrong one corrected. It is written as a hint (aided.ts), so that a policy which was taught to go on after hints can read it.
 */
import type { TokenIds } from '../../core/policy.ts';
import type { Solution } from '../../core/task-family.ts';
import { beginning, referenceSolution } from './aided.ts';
import { runningTotals, writeSolution } from './family.ts';

/**
 * The part of an attempt that is wrong first: the index of a total, or the number of totals that were written for the answer; null where all is
 * exact. A step that is worked out rightly from a wrong total is not exact, but it never comes first.
 */
export function firstFault(task: string, { steps, answer }: Solution): number | null {
  const totals = runningTotals(task);
  const parts = [...steps.map((step, i) => Number(step) === totals[i]), Number(answer) === totals.at(-1)];
  const fault = parts.indexOf(false);
  return fault < 0 ? null : fault;
}

/**
 * The exact totals of a task up to that of a part. Where that is the last one, or the answer, the rest is no secret any more, and the whole
 * solution is told.
 */
export function toldUpTo(task: string, part: number): string {
  const solution = referenceSolution(task);
  return part >= solution.steps.length - 1
    ? writeSolution(solution)
    : beginning(solution.steps.slice(0, part + 1));
}

/** The feedback on an attempt; null where it is exact. An attempt without steps is told the whole solution. */
export function feedbackOn(task: string, attempt: Solution): string | null {
  const fault = firstFault(task, attempt);
  if (fault === null) return null;
  return toldUpTo(task, attempt.steps.length ? fault : Number.POSITIVE_INFINITY);
}

/** The part of an attempt that each of its tokens belongs to [ids]: 0 for the first total with its tag, and so on. `tags`: the tokens that begin a part. */
export function partOfTokens(ids: TokenIds, tags: readonly number[]): number[] {
  let part = -1;
  return ids.map((id) => {
    if (tags.includes(id)) part++;
    return part;
  });
}
