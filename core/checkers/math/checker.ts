/**
 * The checker `math`: an answer equal to the reference, in LaTeX or plain text, whatever its form: `\frac{1}{2}` is `0.5`,
 * `(x+1)^2` is `x^2+2x+1`, `x = 3` is `3`, `\{1,2\}` is `2, 1`, `x > 3` is `(3, \infty)`. It is a numeric probe, no proof (see `equal.ts`).
 */

import { invalid, ok } from '../../recipe/task-family.ts';
import { type Check, type Checker, shown, wrongReference } from '../checker.ts';
import { numberChecker, withDecimalPoint } from '../number.ts';
import { parseNumber } from '../written-number.ts';
import { equalAnswers } from './equal.ts';
import { parseMath } from './parse.ts';

const expectedForms =
  'an expression, an equation or inequality, a list, a set, an interval, a matrix, a ratio, or words';

export const math: Checker = {
  name: 'math',
  description: 'A mathematical answer equal to the reference, in LaTeX or plain text.',
  prepare: ({ answer, metadata }) => {
    const parsed = parseMath(answer);
    if (!parsed.ok)
      throw wrongReference(
        'math',
        `${shown(answer)} is not read as an answer (${parsed.reason}).`,
        expectedForms,
      );
    const expected = parsed.value;
    const asNumber = parseNumber(answer).ok
      ? numberChecker({ lists: true }).prepare({ answer, metadata })
      : null;
    // "100,200" may be two numbers, too.
    const listed = /\d,\d{3}/.test(answer) ? parseMath(answer, true) : null;
    const check: Check = (given) => {
      // Two plain numbers are compared as numbers, units of thousands included.
      const sameNumber = asNumber?.(given);
      if (sameNumber?.ok) return sameNumber;
      const parsed = parseMath(given);
      if (!parsed.ok) return parsed;
      const same = equalAnswers(expected, parsed.value);
      if (same === true) return ok(true);
      if (parsed.value.kind === 'text' && expected.kind !== 'text') return invalid('no-expression');
      // 1.234,5 is a number where the reference is one.
      const pointed = withDecimalPoint(given);
      const sameDecimal = pointed !== given && /\d\.\d{3},/.test(given) ? asNumber?.(pointed) : null;
      if (sameDecimal?.ok && sameDecimal.value) return sameDecimal;
      // "100,200" is a number, and the elements of a list where the reference is one.
      const asList = expected.kind === 'list' ? parseMath(given, true) : null;
      if (asList?.ok && equalAnswers(expected, asList.value) === true) return ok(true);
      if (parsed.value.kind === 'list' && listed?.ok && equalAnswers(listed.value, parsed.value) === true)
        return ok(true);
      return same === null ? invalid('no-value') : ok(same);
    };
    // What is not equal to itself, because it has no value that is known here, no answer could be equal to.
    const own = check(answer);
    if (!own.ok || !own.value)
      throw wrongReference(
        'math',
        `${shown(answer)} is not right by its own text${own.ok ? '' : ` (${own.reason})`}.`,
        'an answer that has a value',
      );
    return check;
  },
};
