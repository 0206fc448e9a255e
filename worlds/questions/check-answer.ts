/** What an answer to a question comes to: parsed, and checked against the reference answer. */
import type { Checker } from '../../core/checkers/checker.ts';
import { type Extraction, extractAnswer } from '../../core/checkers/extract.ts';

/** The outcome of an answer: `right`, `wrong`, `cut-off` at the limit of tokens, or the reason why no answer could be parsed. */
export type Outcome = string;

export interface CheckedAnswer {
  readonly text: string;
  /** The answer that was parsed from the text; null where there is none. */
  readonly answer: string | null;
  readonly outcome: Outcome;
  /** Length in tokens. */
  readonly tokens: number;
}

/** Parses and checks a completion. One that was cut off is not right, whatever it contains, because the model had not finished. */
export function checkAnswer(
  { text, ended }: { readonly text: string; readonly ended: boolean },
  check: ReturnType<Checker['prepare']>,
  extract: readonly Extraction[],
): Pick<CheckedAnswer, 'answer' | 'outcome'> {
  if (!ended) return { answer: null, outcome: 'cut-off' };
  const found = extractAnswer(text, extract);
  if (!found.ok) return { answer: null, outcome: found.reason };
  const verdict = check(found.value);
  if (!verdict.ok) return { answer: null, outcome: verdict.reason };
  return { answer: found.value, outcome: verdict.value ? 'right' : 'wrong' };
}
