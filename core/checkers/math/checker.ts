/**
 * The checker `math`: an expression equal to the reference, in LaTeX or plain text, whatever its form: `\frac{1}{2}` is `0.5`,
 * `(x+1)^2` is `x^2+2x+1`, `x = 3` is `3`, `\{1,2\}` is `2, 1`. It is a numeric probe, no proof (see `equal.ts`).
 */

import { invalid, ok } from '../../recipe/task-family.ts';
import { type Checker, shown, wrongReference } from '../checker.ts';
import { numberChecker, parseNumber } from '../number.ts';
import { equalAnswers } from './equal.ts';
import { parseMath } from './parse.ts';

export const math: Checker = {
  name: 'math',
  description: 'A mathematical expression equal to the reference, in LaTeX or plain text.',
  prepare: ({ answer, metadata }) => {
    const expected = parseMath(answer);
    if (!expected.ok)
      throw wrongReference(
        'math',
        `${shown(answer)} is not read as an expression (${expected.reason}).`,
        'an expression, an equation, or a list of expressions',
      );
    const asNumber = parseNumber(answer).ok ? numberChecker().prepare({ answer, metadata }) : null;
    return (given) => {
      // Two plain numbers are compared as numbers, percent and units of thousands included.
      const sameNumber = asNumber?.(given);
      if (sameNumber?.ok) return sameNumber;
      const parsed = parseMath(given);
      if (!parsed.ok) return parsed;
      const same = equalAnswers(expected.value, parsed.value);
      return same === null ? invalid('no-value') : ok(same);
    };
  },
};
