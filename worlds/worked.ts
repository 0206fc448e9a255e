/**
 * The text that every solver and judge of a one-answer family writes, and its strict parse:
 *
 *     solver   (<step>text)* <answer>text<eos>
 *     judge    (<ok>|<bad>) a step, (<right>|<wrong>), <eos>
 *
 * The family decides what a step or an answer must look like.
 */
import type { ParseResult, Solution } from '../core/recipe/task-family.ts';
import { invalid, ok } from '../core/recipe/task-family.ts';
import { arithmetic } from './arithmetic/family.ts';

export { writeJudgment, writeSolution } from './arithmetic/family.ts';

/** The judge's grammar does not depend on the family: as many verdicts as steps, and `<right>` only over steps that are all `<ok>`. */
export const parseJudgment = arithmetic.parseJudgment;

export const STOP = '<eos>';

/** Text without its stop token; null where it does not end in exactly one. */
export const withoutStop = (text: string): string | null =>
  text.endsWith(STOP) ? text.slice(0, -STOP.length) : null;

const SOLUTION = /^((?:<step>[^<>]+)*)<answer>([^<>]+)$/;
/** As SOLUTION, for families whose texts hold `>` themselves. */
const SOLUTION_WITH_ANGLES =
  /^((?:<step>(?:(?!<step>|<answer>|<eos>).)+)*)<answer>((?:(?!<step>|<answer>|<eos>).)+)$/;

/** Steps and answer as texts, each of which the family's own check must admit. */
export function parseWorked(
  text: string,
  admits: {
    step: (text: string, at: number) => boolean;
    answer: (text: string) => boolean;
    angles?: boolean;
  },
): ParseResult<Solution> {
  const body = withoutStop(text);
  const match = body === null ? null : (admits.angles ? SOLUTION_WITH_ANGLES : SOLUTION).exec(body);
  if (!match) return invalid('off-grammar');
  const steps = match[1]!.split('<step>').slice(1);
  const answer = match[2]!;
  if (!steps.every(admits.step) || !admits.answer(answer)) return invalid('off-grammar');
  return ok({ steps, answer });
}

/** A whole number in canonical form: no plus sign, no leading zero, no -0. */
export const INTEGER = '(?:0|-?[1-9]\\d{0,5})';
const INTEGER_ONLY = new RegExp(`^${INTEGER}$`);
export const isInteger = (text: string): boolean => INTEGER_ONLY.test(text);
