/** How an answer searches, by its text: the checks that it writes, and which of them its attempts left open. */
import { mean } from '../../core/rl/statistics.ts';
import { agree, attemptsOf } from './checking.ts';
import { arithmetic } from './family.ts';

export interface Search {
  /** Attempts after the first that do all sums of the task, whether or not an answer comes after them. */
  readonly checks: number;
  /** Those of them that come after two attempts in a row have agreed: nothing was open any more. */
  readonly padding: number;
  /** The last total of the first attempt; null where the text has none. */
  readonly first: string | null;
}

export function searchOf(task: string, text: string): Search {
  const whole = attemptsOf(text).filter(({ length }) => length === arithmetic.difficulty(task));
  const settled = whole.findIndex((attempt, i) => i > 0 && agree(whole[i - 1]!, attempt));
  return {
    checks: Math.max(0, whole.length - 1),
    padding: settled < 0 ? 0 : whole.length - 1 - settled,
    first: whole[0]?.at(-1) ?? null,
  };
}

export interface Searched {
  readonly task: string;
  readonly search: Search;
  readonly exact: boolean;
}

/** What a round's answers did with their checks, by the oracle where it says so; for the report alone. */
export function searchFigures(answers: readonly Searched[]): Record<string, number> {
  const share = (test: (answer: Searched, firstExact: boolean) => boolean) =>
    mean(
      answers.map((answer) => {
        const { first } = answer.search;
        const firstExact =
          first !== null && arithmetic.answerIsExact(answer.task, { steps: [], answer: first });
        return Number(test(answer, firstExact));
      }),
    );
  return {
    checks: mean(answers.map(({ search }) => search.checks)),
    padding: mean(answers.map(({ search }) => search.padding)),
    firstExact: share((_, firstExact) => firstExact),
    mended: share(({ exact }, firstExact) => exact && !firstExact),
    spoiled: share(({ exact }, firstExact) => !exact && firstExact),
  };
}
