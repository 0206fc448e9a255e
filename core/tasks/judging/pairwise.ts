/**
 * A judge that compares two responses to a task, after a written check: the running totals as it finds them.
 *
 *     <judge>3+4-9<sep><step>7<step>-2<answer>-2<sep><step>7<step>16<answer>16<sep>  ->  <step>7<step>-2<answer>A<eos>
 *
 * Without totals it is a glance. Which response is shown first must not matter, and for a judge that guesses it does.
 */
import { arithmetic, runningTotals, writeSolution } from '../arithmetic.ts';
import { type Reading, read, refuse, type Solution } from '../family.ts';
import { isInteger, readWorked } from '../worked.ts';

export type Choice = 'A' | 'B';

export interface Comparison {
  /** The totals it wrote before its verdict; none for a glance. */
  readonly totals: readonly string[];
  readonly choice: Choice;
}

/** Begins a check: appended to the prompt, it forces the judge to write totals. */
export const CHECK_PREFIX = '<step>';

export const otherChoice = (choice: Choice): Choice => (choice === 'A' ? 'B' : 'A');

/** Responses as texts without their stop tokens, in the order shown. */
export const pairPrompt = (task: string, first: string, second: string): string =>
  `<judge>${task}<sep>${first}<sep>${second}<sep>`;

export const writeComparison = ({ totals, choice }: Comparison): string =>
  writeSolution({ steps: totals, answer: choice });

/** Reasons: off-grammar, partial-check (some totals, but not one an operator). */
export function readComparison(task: string, text: string): Reading<Comparison> {
  const reading = readWorked(text, {
    step: isInteger,
    answer: (answer) => answer === 'A' || answer === 'B',
  });
  if (!reading.ok) return reading;
  const { steps, answer } = reading.value;
  if (steps.length !== 0 && steps.length !== runningTotals(task).length) return refuse('partial-check');
  return read({ totals: steps, choice: answer === 'A' ? 'A' : 'B' });
}

/** The oracle: which response alone has the right answer; null where both or neither do. */
export function betterOf(task: string, first: Solution, second: Solution): Choice | null {
  const [a, b] = [arithmetic.gold(task, first), arithmetic.gold(task, second)];
  return a === b ? null : a ? 'A' : 'B';
}

/** What a check of a right answer leads to: the response that ends in the last total found; the first where that decides nothing. */
export function followCheck(totals: readonly string[], first: Solution, second: Solution): Choice {
  const found = totals.at(-1);
  return second.answer === found && first.answer !== found ? 'B' : 'A';
}
