/**
 * The checker `expression` (the game Countdown): an expression over given numbers, each used at most once, whose value is the target.
 * The task says `metadata.numbers` and `metadata.target`, and `metadata.use_all: true` where every number has to be used. Values are
 * exact fractions, so a division that does not come out is no rounding question.
 */
import Fraction from 'fraction.js';
import { invalid, ok, type ParseResult } from '../recipe/task-family.ts';
import { type Checker, shown, wrongReference } from './checker.ts';

/** Longest expression that is read; nesting cannot be deeper. */
const LONGEST = 200;
/** Digits of a number in it. */
const MOST_DIGITS = 15;

export interface Evaluated {
  readonly value: Fraction;
  /** The numbers that it uses, in order. */
  readonly numbers: readonly number[];
}

/** Thrown to end parsing, with the reason. */
class ParseFailure extends Error {}

/**
 * Value of `+ - * /` with parentheses over whole numbers; × · ÷ and the typeset minus are read, too. Reasons: too-long, no-expression,
 * division-by-zero.
 */
export function evaluateExpression(text: string): ParseResult<Evaluated, string> {
  if (text.length > LONGEST) return invalid('too-long');
  const plain = text.replace(/[−–]/g, '-').replace(/[×·]/g, '*').replace(/÷/g, '/');
  const tokens = plain.match(/\d+|[-+*/()]|\S/g) ?? [];
  const numbers: number[] = [];
  let at = 0;
  const take = (...wanted: string[]) => (wanted.includes(tokens[at] ?? '') ? tokens[at++] : undefined);

  const factor = (): Fraction => {
    if (take('-')) return factor().neg();
    if (take('(')) {
      const value = sum();
      if (!take(')')) throw new ParseFailure('no-expression');
      return value;
    }
    const token = tokens[at++] ?? '';
    if (!/^\d+$/.test(token) || token.length > MOST_DIGITS) throw new ParseFailure('no-expression');
    numbers.push(Number(token));
    return new Fraction(Number(token));
  };
  const product = (): Fraction => {
    let value = factor();
    for (let operator = take('*', '/'); operator; operator = take('*', '/')) {
      const right = factor();
      if (operator === '/' && right.equals(0)) throw new ParseFailure('division-by-zero');
      value = operator === '*' ? value.mul(right) : value.div(right);
    }
    return value;
  };
  const sum = (): Fraction => {
    let value = product();
    for (let operator = take('+', '-'); operator; operator = take('+', '-'))
      value = operator === '+' ? value.add(product()) : value.sub(product());
    return value;
  };

  try {
    const value = sum();
    return at === tokens.length ? ok({ value, numbers }) : invalid('no-expression');
  } catch (error) {
    if (error instanceof ParseFailure) return invalid(error.message);
    throw error;
  }
}

/** Are all of `used` among `given`, each as often at most? */
function withinNumbers(used: readonly number[], given: readonly number[]): boolean {
  const left = [...given];
  return used.every((number) => {
    const at = left.indexOf(number);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

export const expression: Checker = {
  name: 'expression',
  description:
    'An expression over the numbers in metadata.numbers, each used at most once, whose value is metadata.target.',
  prepare: ({ metadata: { numbers, target, use_all: useAll } }) => {
    const whole = (value: unknown): value is number =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
    if (
      !Array.isArray(numbers) ||
      !numbers.every(whole) ||
      typeof target !== 'number' ||
      !Number.isFinite(target)
    )
      throw wrongReference(
        'expression',
        `metadata.numbers is ${shown(String(JSON.stringify(numbers)))}, metadata.target ${shown(String(JSON.stringify(target)))}.`,
        'a list of whole numbers from 0, and a number',
      );
    const wanted = new Fraction(target);
    return (given) => {
      const parsed = evaluateExpression(given.trim());
      if (!parsed.ok) return parsed;
      const { value, numbers: used } = parsed.value;
      const uses = withinNumbers(used, numbers) && (useAll !== true || used.length === numbers.length);
      return ok(uses && value.equals(wanted));
    };
  },
};
