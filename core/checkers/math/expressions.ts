/**
 * Equality of expressions by their values at fixed points. Where both are rational functions the values are exact fractions, and a
 * difference that is not zero everywhere is zero at all of the points with next to no chance (Schwartz, 1980; Zippel, 1979); else they
 * are compared to many digits, within the bounds of their errors. Equal inputs give equal answers: the points follow from the variables'
 * names.
 */
import Fraction from 'fraction.js';
import { Random } from '../../random.ts';
import type { Approximate } from './approximate.ts';
import type { Expression } from './tree.ts';
import { type Convention, Evaluation, isExact, type Point, variablesOf } from './value.ts';

const POINTS = 8;
const DIGITS = 40;
/** Constants that agree to the first digits, and values of which much cancelled, are computed to this many. */
const MORE_DIGITS = 120;
/** Share of the values below which an error leaves no doubt about a function. */
const SURE = 1e-25;

/** Values from −6 to 6 with denominators that seldom meet a zero or a pole of an expression people write. */
function pointsFor(variables: ReadonlySet<string>): Point[] {
  const streams = [...variables].map((name) => [name, new Random(`checkers/math/${name}`)] as const);
  return Array.from({ length: variables.size ? POINTS : 1 }, () => {
    return new Map(streams.map(([name, random]) => [name, new Fraction(random.int(1213) - 606, 101)]));
  });
}

/** Whole values from 1 to 12, in other orders for other variables. */
function wholePointsFor(variables: ReadonlySet<string>): Point[] {
  const names = [...variables].sort();
  return Array.from({ length: names.length ? POINTS : 0 }, (_, at) => {
    return new Map(
      names.map((name, i) => [name, new Fraction(1 + ((11 - at * (2 * i + 1) - 7 * i + 12 * 20) % 12))]),
    );
  });
}

/** Are two values that are no fractions the same as far as their errors let one say? null where their errors are too large to say so. */
function sameDigits(a: Approximate, b: Approximate, evaluation: Evaluation, last: boolean): boolean | null {
  const { arithmetic } = evaluation;
  const difference = arithmetic.subtract(a, b);
  if (!difference) return false;
  const error = a.error.add(b.error);
  if (arithmetic.abs(difference).gt(error.mul(4))) return false;
  const size = arithmetic.abs(a).add(arithmetic.abs(b));
  return last || error.lt(size.mul(SURE)) ? true : null;
}

/** Are the values equal there? null where neither has one. */
function equalAt(a: Expression, b: Expression, point: Point, realRoots: boolean): boolean | null {
  for (const digits of [DIGITS, MORE_DIGITS]) {
    const evaluation = new Evaluation(point, { digits, realRoots });
    const [x, y] = [evaluation.valueOf(a), evaluation.valueOf(b)];
    if (!x && !y) return null;
    if (!x || !y) return false;
    if (isExact(x) && isExact(y)) return x.equals(y);
    const same = sameDigits(
      evaluation.approximate(x),
      evaluation.approximate(y),
      evaluation,
      digits === MORE_DIGITS,
    );
    if (same !== null && !(same && point.size === 0 && digits === DIGITS)) return same;
  }
  return null;
}

function equalOn(a: Expression, b: Expression, points: readonly Point[], realRoots: boolean): boolean | null {
  let known = false;
  for (const point of points) {
    const verdict = equalAt(a, b, point, realRoots);
    if (verdict === false) return false;
    known ||= verdict === true;
  }
  return known ? true : null;
}

/** Equal at all whole points where both have a value; null where there are fewer than three. */
function equalOnWhole(a: Expression, b: Expression, variables: ReadonlySet<string>): boolean | null {
  const defined = wholePointsFor(variables).filter((point) => {
    const evaluation = new Evaluation(point, { digits: DIGITS, realRoots: false });
    return evaluation.valueOf(a) && evaluation.valueOf(b);
  });
  return defined.length < 3 ? null : equalOn(a, b, defined, false);
}

const written = (value: unknown): string =>
  JSON.stringify(value, (key, inner: unknown) =>
    key === 'measure' ? undefined : inner instanceof Fraction ? inner.toFraction() : inner,
  );

/** Do both have the same value wherever they have one? null where neither has a value at any of the points, and they are not the same by their form. */
export function equalExpressions(a: Expression, b: Expression): boolean | null {
  const variables = new Set([...variablesOf(a), ...variablesOf(b)]);
  if (countsWholes(a) || countsWholes(b)) {
    const whole = equalOnWhole(a, b, variables);
    if (whole !== null) return whole;
  }
  const points = pointsFor(variables);
  const principal = equalOn(a, b, points, false);
  if (principal === true) return true;
  if (principal === false) return hasRoots(a) || hasRoots(b) ? equalOn(a, b, points, true) : false;
  return written(a) === written(b) ? true : null;
}

/** Is there a factorial or a binomial coefficient of something with variables? They have values at whole points alone. */
function countsWholes(node: Expression): boolean {
  if (node.op === 'number' || node.op === 'symbol') return false;
  if ('of' in node)
    return (
      (node.op === 'call' && node.name === 'factorial' && variablesOf(node).size > 0) || countsWholes(node.of)
    );
  return (
    (node.op === 'binomial' && variablesOf(node).size > 0) ||
    countsWholes(node.left) ||
    countsWholes(node.right)
  );
}

/** Is there a root that is real for school and complex for the principal value? */
function hasRoots(node: Expression): boolean {
  if (node.op === 'number' || node.op === 'symbol') return false;
  if ('of' in node) return hasRoots(node.of);
  return node.op === 'root' || node.op === 'power' || hasRoots(node.left) || hasRoots(node.right);
}

const CONSTANT: Convention = { digits: DIGITS, realRoots: true };

/** Digits from which on a decimal number is what a calculator shows of a value without a last digit, and no rounding of it that was chosen. */
const CALCULATED_DIGITS = 10;
/** Error of a value that was computed with doubles: as a share of it, and at most. */
const DOUBLE_SHARE = 4e-15;
const DOUBLE_MOST = 1e-9;

/** Is a decimal number of at least ten digits all that it shows of an irrational constant: 1.4142135623731 of the root of 2? */
export function isWrittenOut(constant: Expression, decimal: Expression): boolean {
  const positive = decimal.op === 'negate' ? decimal.of : decimal;
  if (positive.op !== 'number' || positive.decimals === undefined || variablesOf(constant).size > 0)
    return false;
  const digits = positive.value.mul(new Fraction(10n ** BigInt(positive.decimals)));
  if (digits.d !== 1n || digits.n.toString().length < CALCULATED_DIGITS) return false;
  const evaluation = new Evaluation(new Map(), CONSTANT);
  const { arithmetic } = evaluation;
  const [exact, shown] = [evaluation.valueOf(constant), evaluation.valueOf(decimal)];
  if (!exact || isExact(exact) || !shown) return false;
  const difference = arithmetic.subtract(exact, evaluation.approximate(shown));
  if (!difference) return false;
  const computed = Math.min(DOUBLE_MOST, DOUBLE_SHARE * arithmetic.abs(exact).toNumber());
  return arithmetic.abs(difference).lte(Math.max(10 ** -positive.decimals, computed));
}

/** The value of a constant expression as a double; null where it is not real. */
export function numericValue(node: Expression): number | null {
  if (variablesOf(node).size > 0) return null;
  const evaluation = new Evaluation(new Map(), CONSTANT);
  const value = evaluation.valueOf(node);
  if (!value) return null;
  if (isExact(value)) return value.valueOf();
  return value.im.abs().gt(value.error) ? null : value.re.toNumber();
}

export const difference = (left: Expression, right: Expression): Expression => ({
  op: 'subtract',
  left,
  right,
});

/** The factor f/g where f is the same multiple of g at all points; null where it is none, or cannot be known. */
export function constantFactor(f: Expression, g: Expression): number | null {
  const [first, ...points] = pointsFor(new Set([...variablesOf(f), ...variablesOf(g)]));
  const at = (point: Point) => {
    const evaluation = new Evaluation(point, { digits: DIGITS, realRoots: true });
    const [x, y] = [evaluation.valueOf(f), evaluation.valueOf(g)];
    return { evaluation, x: x && evaluation.approximate(x), y: y && evaluation.approximate(y) };
  };
  const start = at(first!);
  if (!start.x || !start.y) return null;
  const factor = start.evaluation.arithmetic.divide(start.x, start.y);
  if (!factor || start.evaluation.arithmetic.abs(factor).lte(factor.error)) return null;
  for (const point of points) {
    const { evaluation, x, y } = at(point);
    if (!x || !y) return null;
    const expected = evaluation.arithmetic.multiply(y, factor);
    if (!expected || sameDigits(x, expected, evaluation, true) !== true) return null;
  }
  return factor.im.abs().lte(factor.error.mul(4)) ? factor.re.toNumber() : Number.NaN;
}
