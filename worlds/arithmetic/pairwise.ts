/**
 * A judge that compares the answers of two responses to a task after a written check, which consists of the running totals as the judge computes
 * them.
 *
 *     <judge>3+4-9<sep>-2A<sep>16B<sep>  ->  <step>7<step>-2<answer>-2A<eos>
 *
 * The verdict repeats the last total before the name of the chosen answer. A verdict may also come without totals, `<answer>A<eos>`. The order in
 * which the answers are shown must not matter; for a judge that guesses it does.
 */
import type { Wordings } from '../../core/game/game.ts';
import type { Choice } from '../../core/game/verbs.ts';
import { type Part, readTagsWith } from '../../core/recipe/reading.ts';
import { invalid, ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { isInteger, parseWorked } from '../worked.ts';
import { runningTotals, writeSolution } from './family.ts';

export interface Comparison {
  /** The totals that it wrote before its verdict; empty for a verdict without a check. */
  readonly totals: readonly string[];
  readonly choice: Choice;
}

/** Begins a check: appended to the prompt, it makes the judge write totals. */
const CHECK_PREFIX = '<step>';

export const otherChoice = (choice: Choice): Choice => (choice === 'A' ? 'B' : 'A');

/** The answers in the order in which they are shown. */
export const pairPrompt = (task: string, first: string, second: string): string =>
  `<judge>${task}<sep>${first}A<sep>${second}B<sep>`;

export const writeComparison = ({ totals, choice }: Comparison): string =>
  writeSolution({ steps: totals, answer: `${totals.at(-1) ?? ''}${choice}` });

/** Reasons: off-grammar, partial-check (some totals, but not one for each operator), miscopied (a number other than the last total). */
export function parseComparison(task: string, text: string): ParseResult<Comparison> {
  const parsed = parseWorked(text, { step: isInteger, answer: (answer) => /^-?\d*[AB]$/.test(answer) });
  if (!parsed.ok) return parsed;
  const { steps: totals, answer } = parsed.value;
  if (totals.length !== 0 && totals.length !== runningTotals(task).length) return invalid('partial-check');
  const choice = answer.endsWith('A') ? 'A' : 'B';
  return answer === `${totals.at(-1) ?? ''}${choice}` ? ok({ totals, choice }) : invalid('miscopied');
}

/** A comparison as the page shows it: the totals are steps, and `10A` is the verdict A. */
export const comparisonParts = (text: string): Part[] =>
  readTagsWith(text, (part) => {
    const choice = part.kind === 'answer' ? /^-?\d*([AB])$/.exec(part.text)?.[1] : undefined;
    return choice === undefined ? [part] : [{ kind: 'verdict', text: `prefers ${choice}` }];
  });

/** The exact comparison: which answer alone is right; null where both or neither are right. */
export function betterOf(task: string, first: string, second: string): Choice | null {
  const total = String(runningTotals(task).at(-1));
  if ((first === total) === (second === total)) return null;
  return first === total ? 'A' : 'B';
}

/** How a judge of pairs is asked. */
export const pairWords: Wordings<'compare'> = {
  compare: {
    maxNew: 30,
    ask: ({ task, first, second }) => pairPrompt(task, first, second),
    read: (text, { task }) => {
      const parsed = parseComparison(task, text);
      return parsed.ok ? ok(parsed.value.choice) : parsed;
    },
  },
};

/** A check before the verdict. */
export const pairChecks = {
  prefix: CHECK_PREFIX,
  isIn: (task: string, text: string): boolean => {
    const parsed = parseComparison(task, text);
    return parsed.ok && parsed.value.totals.length > 0;
  },
};

/** The verdict that follows from a check: the only answer that equals its last total; null where both do, or neither does. */
export function followCheck(totals: readonly string[], first: string, second: string): Choice | null {
  const found = totals.at(-1);
  if ((first === found) === (second === found)) return null;
  return first === found ? 'A' : 'B';
}
