/**
 * Arithmetic chains for a solver that may be shown an attempt and whether it is right. It is told nothing else, so that a wrong attempt has to be
 * computed again.
 *
 *     solver  <solve>3+4-9<sep>                               ->  <step>7<step>-2<answer>-2<eos>
 *     solver  <solve>3+4-9<sep>attempt(<right>|<wrong>)<sep>  ->  the same
 *
 * In the warm start, later steps are more often wrong, and the label is used only in part: nine of ten right attempts and two of five wrong ones are
 * copied; the sums of the others are done again.
 */
import type { Random } from '../../core/random.ts';
import { aidedPrompt, solvedWithSlips } from './aided.ts';
import { type Demonstration, freshTask } from './demonstrations.ts';
import { arithmetic, writeSolution } from './family.ts';

const KEPT_SHARE = { right: 0.9, wrong: 0.4 } as const;
const ALONE_SHARE = 0.5;

/** What a reviser reads besides the task: an attempt, without its stop token, and whether it is right; null = it is not told. */
export const revisionAid = (attempt: string, right: boolean | null): string =>
  (attempt.endsWith(arithmetic.stop!) ? attempt.slice(0, -arithmetic.stop!.length) : attempt) +
  (right === null ? '' : right ? '<right>' : '<wrong>');

export function demonstrateRevising(random: Random): Demonstration {
  const task = freshTask(random, 1 + random.int(5));
  const attempt = solvedWithSlips(random, task);
  const completed = (prompt: string, solution: typeof attempt): Demonstration => ({
    role: 'solver',
    prompt,
    completion: writeSolution(solution) + arithmetic.stop,
  });
  if (random.bool(ALONE_SHARE)) return completed(arithmetic.solverPrompt(task), attempt);
  const right = arithmetic.answerIsExact(task, attempt);
  const kept = random.bool(KEPT_SHARE[right ? 'right' : 'wrong']);
  return completed(
    aidedPrompt(task, revisionAid(writeSolution(attempt), right)),
    kept ? attempt : solvedWithSlips(random, task),
  );
}
