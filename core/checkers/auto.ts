/** The checker `auto`: the one that a task's answer calls for. */
import type { Checker } from './checker.ts';
import { exact } from './exact.ts';
import { expression } from './expression.ts';
import { numberChecker } from './number.ts';
import { parseNumber } from './written-number.ts';

/** A worked solution as GSM8K ends it: what stands after the mark on its last line is the answer. */
const SOLUTION = /(?:^|\n)####[ \t]*(\S[^\n]*)$/;
const answerIn = (text: string): string => SOLUTION.exec(text.trim())?.[1] ?? text;

/** `expression` for a task with numbers and a target, `number` where the answer is one, else `exact`. */
export const auto: Checker = {
  name: 'auto',
  description:
    'expression for a task with metadata.numbers and metadata.target, number where the answer is one, else exact.',
  prepare: (reference) => {
    const { answer, metadata } = reference;
    const short = answerIn(answer);
    if (short !== answer) {
      const check = auto.prepare({ answer: short, metadata });
      return (given) => check(answerIn(given));
    }
    if (Array.isArray(metadata.numbers) && metadata.target !== undefined)
      return expression.prepare(reference);
    return (parseNumber(answer).ok ? numberChecker() : exact).prepare(reference);
  },
};
