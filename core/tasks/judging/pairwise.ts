/**
 * A judge that compares the answers of two responses to a task, after a written check: the running totals as it finds them.
 *
 *     <judge>3+4-9<sep>-2<sep>16<sep>  ->  <step>7<step>-2<answer>A<eos>
 *
 * Without totals it is a glance. Which answer is shown first must not matter, and for a judge that guesses it does.
 */
import { runningTotals, writeSolution } from '../arithmetic.ts';
import { type Reading, read, refuse } from '../family.ts';
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

/** Answers in the order shown. */
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

/** The oracle: which answer alone is right; null where both or neither are. */
export function betterOf(task: string, first: string, second: string): Choice | null {
  const total = String(runningTotals(task).at(-1));
  if ((first === total) === (second === total)) return null;
  return first === total ? 'A' : 'B';
}

/** What a check leads to: the answer that is the last total found; the first where that decides nothing. */
export function followCheck(totals: readonly string[], first: string, second: string): Choice {
  const found = totals.at(-1);
  return second === found && first !== found ? 'B' : 'A';
}
