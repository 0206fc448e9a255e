/**
 * A judge that compares the answers of two responses to a task, after a written check: the running totals as it finds them.
 *
 *     <judge>3+4-9<sep>-2A<sep>16B<sep>  ->  <step>7<step>-2<answer>-2A<eos>
 *
 * The verdict repeats the last total found, before the name of the answer chosen. Without totals it is a glance, `<answer>A<eos>`.
 * Which answer is shown first must not matter, and for a judge that guesses it does.
 */
import { type Part, readTagsWith } from '../../core/reading.ts';
import { invalid, ok, type ParseResult } from '../../core/task-family.ts';
import { isInteger, parseWorked } from '../worked.ts';
import { runningTotals, writeSolution } from './family.ts';

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
  `<judge>${task}<sep>${first}A<sep>${second}B<sep>`;

export const writeComparison = ({ totals, choice }: Comparison): string =>
  writeSolution({ steps: totals, answer: `${totals.at(-1) ?? ''}${choice}` });

/** Reasons: off-grammar, partial-check (some totals, but not one an operator), miscopied (another number than the last total). */
export function parseComparison(task: string, text: string): ParseResult<Comparison> {
  const parsed = parseWorked(text, { step: isInteger, answer: (answer) => /^-?\d*[AB]$/.test(answer) });
  if (!parsed.ok) return parsed;
  const { steps: totals, answer } = parsed.value;
  if (totals.length !== 0 && totals.length !== runningTotals(task).length) return invalid('partial-check');
  const choice = answer.endsWith('A') ? 'A' : 'B';
  return answer === `${totals.at(-1) ?? ''}${choice}` ? ok({ totals, choice }) : invalid('miscopied');
}

/** A comparison for a reader: the totals found are steps, and `10A` is the verdict A. */
export const comparisonParts = (text: string): Part[] =>
  readTagsWith(text, (part) => {
    const choice = part.kind === 'answer' ? /^-?\d*([AB])$/.exec(part.text)?.[1] : undefined;
    return choice === undefined ? [part] : [{ kind: 'verdict', text: `prefers ${choice}` }];
  });

/** The oracle: which answer alone is right; null where both or neither are. */
export function betterOf(task: string, first: string, second: string): Choice | null {
  const total = String(runningTotals(task).at(-1));
  if ((first === total) === (second === total)) return null;
  return first === total ? 'A' : 'B';
}

/** The verdict that a check implies: the only answer that is equal to its last total; null where both are, or neither is. */
export function followCheck(totals: readonly string[], first: string, second: string): Choice | null {
  const found = totals.at(-1);
  if ((first === found) === (second === found)) return null;
  return first === found ? 'A' : 'B';
}
