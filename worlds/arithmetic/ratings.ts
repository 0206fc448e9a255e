/**
 * A judge’s scores from 1 to 10. A score is written as one digit from 0 to 9 (the score minus one), so that it is one token:
 *
 *     of a question  <judge>3+4-9<sep>         ->  <answer>8<eos>
 *     of an answer   <judge>3+4-9<sep>-2=<sep>  ->  <step>7<step>-2<answer>-2=9<eos>
 *                    <judge>3+4-9<sep>16=<sep>  ->  <step>7<step>-2<answer>-2!0<eos>
 *
 * A check comes before the score: the running totals, and whether the last of them equals the answer (`=`) or not (`!`). The check is a rationale and
 * need not be right. Bands: 1-3 wrong or unsolvable, 4-7 ambiguous, 8-10 without fault.
 */
import type { Random } from '../../core/random.ts';
import { type Part, readTagsWith } from '../../core/recipe/reading.ts';
import { ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { isInteger, parseWorked } from '../worked.ts';
import { runningTotals, writeSolution } from './family.ts';
import { soundness } from './questions.ts';

export type Band = 'flawed' | 'partial' | 'flawless';
export const BANDS: Readonly<Record<Band, readonly [number, number]>> = {
  flawed: [1, 3],
  partial: [4, 7],
  flawless: [8, 10],
};

const SCORE = /^(?:-?\d{1,6}[=!])?(\d)$/;

/** A score in 1 … 10. */
export function parseRating(text: string): ParseResult<number> {
  const parsed = parseWorked(text, { step: isInteger, answer: (answer) => SCORE.test(answer) });
  return parsed.ok ? ok(Number(parsed.value.answer.at(-1)) + 1) : parsed;
}

/** A score as the page shows it, from 1 to 10. */
export const ratingParts = (text: string): Part[] =>
  readTagsWith(text, (part) => {
    const digit = part.kind === 'answer' ? SCORE.exec(part.text)?.[1] : undefined;
    return digit === undefined ? [part] : [{ kind: 'verdict', text: `${Number(digit) + 1} of 10` }];
  });

/** What a judge found before it scored an answer. */
export interface Check {
  readonly totals: readonly string[];
  readonly matches: boolean;
}

/** A score in 1 … 10 as the judge writes it, after its check where it made one. */
export function writeRating(score: number, check?: Check): string {
  const found = check ? `${check.totals.at(-1)}${check.matches ? '=' : '!'}` : '';
  return writeSolution({ steps: check?.totals ?? [], answer: `${found}${score - 1}` });
}

/** A score in 1 … 10 as a value in 0 … 1. */
export const normalised = (score: number): number => (score - 1) / 9;

export const bandOf = (score: number): Band => (score <= 3 ? 'flawed' : score <= 7 ? 'partial' : 'flawless');

export const questionPrompt = (question: string): string => `<judge>${question}<sep>`;
export const answerPrompt = (question: string, answer: string): string =>
  `<judge>${question}<sep>${answer}=<sep>`;

/** The exact rating of questions. */
export function questionBand(question: string): Band {
  const kind = soundness(question);
  return kind === 'sound' ? 'flawless' : kind === 'ambiguous' ? 'partial' : 'flawed';
}

/** The exact rating of answers: right or wrong. */
export const answerBand = (question: string, answer: string): Band =>
  soundness(question) === 'sound' && answer === String(runningTotals(question).at(-1))
    ? 'flawless'
    : 'flawed';

/** A score of a band. */
export function scoreIn(random: Random, band: Band): number {
  const [least, most] = BANDS[band];
  return least + random.int(most - least + 1);
}
