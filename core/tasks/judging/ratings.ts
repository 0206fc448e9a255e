/**
 * A judge's scores from 1 to 10, written as one digit 0 … 9 (a score less one) so that every score is one token:
 *
 *     of a question  <judge>3+4-9<sep>                                ->  8<eos>
 *     of an answer   <judge>3+4-9<sep><step>7<step>-2<answer>-2<sep>  ->  <ok><ok>9<eos>
 *
 * Verdicts on steps are a rationale: they may come before the digit and are not counted. Bands: 1-3 an error or nothing that
 * can be solved, 4-7 partial or ambiguous, 8-10 flawless.
 */
import type { Random } from '../../random.ts';
import { arithmetic } from '../arithmetic.ts';
import { type Reading, read, refuse, type Solution } from '../family.ts';
import { soundness } from './questions.ts';

export type Band = 'flawed' | 'partial' | 'flawless';
export const BANDS: Readonly<Record<Band, readonly [number, number]>> = {
  flawed: [1, 3],
  partial: [4, 7],
  flawless: [8, 10],
};

const RATING = /^(?:<ok>|<bad>)*(\d)<eos>$/;

/** A score in 1 … 10. */
export function readRating(text: string): Reading<number> {
  const match = RATING.exec(text);
  return match ? read(Number(match[1]) + 1) : refuse('off-grammar');
}

/** A score in 1 … 10 as the judge writes it, after its verdicts on the steps. */
export const writeRating = (score: number, steps: readonly boolean[] = []): string =>
  steps.map((ok) => (ok ? '<ok>' : '<bad>')).join('') + String(score - 1);

/** A score in 1 … 10 as a value in 0 … 1. */
export const normalised = (score: number): number => (score - 1) / 9;

export const bandOf = (score: number): Band => (score <= 3 ? 'flawed' : score <= 7 ? 'partial' : 'flawless');

export const questionPrompt = (question: string): string => `<judge>${question}<sep>`;
/** `answer` is the solver's text without its stop token. */
export const answerPrompt = (question: string, answer: string): string =>
  `<judge>${question}<sep>${answer}<sep>`;

/** The oracle of question ratings. */
export function questionBand(question: string): Band {
  const kind = soundness(question);
  return kind === 'sound' ? 'flawless' : kind === 'ambiguous' ? 'partial' : 'flawed';
}

/** The oracle of answer ratings: partial is a right answer from wrong steps, or at least half of the steps right. */
export function answerBand(question: string, solution: Solution): Band {
  if (soundness(question) !== 'sound') return 'flawed';
  const { steps, right } = arithmetic.truth(question, solution);
  if (right) return 'flawless';
  const good = steps.filter(Boolean).length;
  if (arithmetic.gold(question, solution)) return 'partial';
  return steps.length > 0 && 2 * good >= steps.length ? 'partial' : 'flawed';
}

/** A score of a band. */
export function scoreIn(random: Random, band: Band): number {
  const [least, most] = BANDS[band];
  return least + random.int(most - least + 1);
}
