/**
 * Arithmetic chains for a solver that may check: after an attempt it may do all sums again, as often as it likes, before it answers.
 *
 *     solver  <solve>3+4-9<sep>  ->  attempt (<bad>attempt)* <answer>total<eos>        attempt: one <step>total for each operator
 *
 * A check is real: its sums may come out otherwise than those before, and two attempts that agree are seldom both wrong. In the warm start one step
 * in six is wrong, one answer in four is checked at all, and a check is mostly used: after attempts that disagree the sums are mostly done again,
 * and after attempts that agree the answer mostly comes. The answer is the last total.
 */
import type { Random } from '../../core/random.ts';
import { invalid, type TaskFamily } from '../../core/recipe/task-family.ts';
import type { Demonstration } from '../demonstration.ts';
import { arithmetic } from './family.ts';
import { slippingSolution, slippingTask } from './step-slips.ts';

/** Share of totals that are wrong. */
const SLIP = 1 / 6;
/** How often a demonstration does the sums again: after the first attempt, after two that disagree, and after two that agree. */
const AGAIN_SHARE = { first: 0.25, disagree: 0.75, agree: 0.15 } as const;
/** The most attempts of a demonstration. */
const MOST_ATTEMPTS = 6;
/** What stands between two attempts. */
const AGAIN = '<bad>';

/** The attempts of an answer by their totals, before `<answer>` or before the text breaks off. [attempts][totals] */
export const attemptsOf = (text: string): string[][] =>
  text
    .split('<answer>')[0]!
    .split(AGAIN)
    .map((attempt) => attempt.split('<step>').slice(1));

/** Do two attempts come to the same last total? */
export const agree = (one: readonly string[], other: readonly string[]): boolean =>
  one.at(-1) === other.at(-1);

/** The solution has the steps of the last attempt; reasons: off-grammar, partial-steps (of any attempt). */
function parseSolution(task: string, text: string): ReturnType<TaskFamily['parseSolution']> {
  const [before, answer, ...more] = text.split('<answer>');
  if (answer === undefined || more.length) return invalid('off-grammar');
  let last: ReturnType<TaskFamily['parseSolution']> = invalid('off-grammar');
  for (const attempt of before!.split(AGAIN)) {
    if (attempt === '') return invalid('off-grammar');
    last = arithmetic.parseSolution(task, `${attempt}<answer>${answer}`);
    if (!last.ok) return last;
  }
  return last;
}

/** Nothing is forced by a beginning: every answer writes its steps. */
export const checkedArithmetic: TaskFamily = {
  ...arithmetic,
  name: 'arithmetic, checked',
  workedPrefix: '',
  parseSolution,
};

export function demonstrateChecking(random: Random): Demonstration {
  const task = slippingTask(random);
  const attempt = () => slippingSolution(random, task, SLIP).steps;
  const attempts = [attempt()];
  const goesOn = () => {
    const [last, before] = [attempts.at(-1)!, attempts.at(-2)];
    return random.bool(AGAIN_SHARE[!before ? 'first' : agree(last, before) ? 'agree' : 'disagree']);
  };
  while (attempts.length < MOST_ATTEMPTS && goesOn()) attempts.push(attempt());
  const written = attempts.map((totals) => totals.map((total) => `<step>${total}`).join('')).join(AGAIN);
  return {
    role: 'solver',
    prompt: arithmetic.solverPrompt(task),
    completion: `${written}<answer>${attempts.at(-1)!.at(-1)}${arithmetic.stop}`,
  };
}
