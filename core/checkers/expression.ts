/**
 * The checker `expression` (the game Countdown): an expression over given numbers, each used at most once, whose value is the target.
 * The task says `metadata.numbers` and `metadata.target`, and `metadata.use_all: true` where every number has to be used. Values are
 * exact fractions, so a division that does not come out is no rounding question.
 */
import Fraction from 'fraction.js';
import { invalid, ok, type ParseResult } from '../recipe/task-family.ts';
import { type Checker, shown, wrongReference } from './checker.ts';
import { parseMath } from './math/parse.ts';
import type { Expression } from './math/tree.ts';

/** Longest expression that is read; nesting cannot be deeper. */
const LONGEST = 200;
/** Digits of a number in it. */
const MOST_DIGITS = 15;

export interface Evaluated {
  readonly value: Fraction;
  /** The numbers that it uses, in order. */
  readonly numbers: readonly number[];
}

const OPERATIONS = ['add', 'subtract', 'multiply', 'divide'];

/** The value of the four operations over whole numbers, whose numbers are added to `numbers`; the reason where it has none. */
function valueIn(node: Expression, numbers: number[]): Fraction | string {
  if (node.op === 'number') {
    if (node.value.d !== 1n || node.value.n.toString().length > MOST_DIGITS) return 'no-expression';
    numbers.push(node.value.valueOf());
    return node.value;
  }
  if (node.op === 'negate') {
    const of = valueIn(node.of, numbers);
    return typeof of === 'string' ? of : of.neg();
  }
  if (!('left' in node) || !OPERATIONS.includes(node.op)) return 'no-expression';
  const [left, right] = [valueIn(node.left, numbers), valueIn(node.right, numbers)];
  if (typeof left === 'string') return left;
  if (typeof right === 'string') return right;
  if (node.op === 'add') return left.add(right);
  if (node.op === 'subtract') return left.sub(right);
  if (node.op === 'multiply') return left.mul(right);
  return right.n === 0n ? 'division-by-zero' : left.div(right);
}

function evaluated(node: Expression): ParseResult<Evaluated, string> {
  const numbers: number[] = [];
  const value = valueIn(node, numbers);
  return typeof value === 'string' ? invalid(value) : ok({ value, numbers });
}

/** What stands on each side of the signs of equality. */
function sidesOf(text: string): ParseResult<readonly Expression[], string> {
  if (text.length > LONGEST) return invalid('too-long');
  const parsed = parseMath(text);
  if (!parsed.ok) return invalid('no-expression');
  const { value } = parsed;
  if (value.kind === 'value') return ok([value.node]);
  if (value.kind !== 'relation' || value.relations.some((sign) => sign !== '='))
    return invalid('no-expression');
  const nodes = value.sides.flatMap(({ answer }) => (answer?.kind === 'value' ? [answer.node] : []));
  return nodes.length === value.sides.length ? ok(nodes) : invalid('no-expression');
}

/**
 * Value of `+ - * /` with brackets over whole numbers, in LaTeX or plain text. In `8 * (5 - 2) = 24` it is the side with the operations, and the
 * others have to have its value. Reasons: too-long, no-expression, division-by-zero, unequal-sides.
 */
export function evaluateExpression(text: string): ParseResult<Evaluated, string> {
  const sides = sidesOf(text);
  if (!sides.ok) return sides;
  const values = sides.value.map(evaluated);
  const main = values[sides.value.findIndex(({ op }) => op !== 'number')] ?? values[0]!;
  if (!main.ok) return main;
  const { value } = main.value;
  return values.every((side) => side.ok && side.value.value.equals(value)) ? main : invalid('unequal-sides');
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
