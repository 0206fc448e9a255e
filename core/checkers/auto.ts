/** The checker `auto`: the one that a task's answer calls for. */
import type { Checker } from './checker.ts';
import { exact } from './exact.ts';
import { expression } from './expression.ts';
import { numberChecker, parseNumber } from './number.ts';

/** `expression` for a task with numbers and a target, `number` where the answer is one, else `exact`. */
export const auto: Checker = {
  name: 'auto',
  description:
    'expression for a task with metadata.numbers and metadata.target, number where the answer is one, else exact.',
  prepare: (reference) => {
    const { answer, metadata } = reference;
    if (Array.isArray(metadata.numbers) && metadata.target !== undefined)
      return expression.prepare(reference);
    return (parseNumber(answer).ok ? numberChecker() : exact).prepare(reference);
  },
};
