/**
 * Equality of expressions by their values at fixed points. Where both are rational functions the values are exact fractions, and a
 * difference that is not zero everywhere is zero at all of the points with next to no chance (Schwartz, 1980; Zippel, 1979); else they
 * are compared in double precision. Equal inputs give equal answers: the points follow from the variables' names.
 */
import type Complex from 'complex.js';
import Fraction from 'fraction.js';
import { Random } from '../../random.ts';
import type { Expression, MathAnswer } from './parse.ts';
import { approximateValue, exactValue, type Point, variablesOf } from './value.ts';

const POINTS = 8;
/** Rounding that is forgiven, as a share of the largest number on the way. */
const TOLERANCE = 1e-10;

/** Values from −6 to 6 with denominators that seldom meet a zero or a pole of an expression people write. */
function pointsFor(variables: ReadonlySet<string>): Point[] {
  const streams = [...variables].map((name) => [name, new Random(`checkers/math/${name}`)] as const);
  return Array.from({ length: variables.size ? POINTS : 1 }, () => {
    return new Map(streams.map(([name, random]) => [name, new Fraction(random.int(1213) - 606, 101)]));
  });
}

/** Are the values equal there? null where neither has one. */
function equalAt(a: Expression, b: Expression, point: Point): boolean | null {
  const [left, right] = [exactValue(a, point), exactValue(b, point)];
  if (left && right) return left.equals(right);
  const [x, y] = [approximateValue(a, point), approximateValue(b, point)];
  const [known, other] = [isKnown(x.value), isKnown(y.value)];
  if (!known && !other) return null;
  if (!known || !other) return false;
  return x.value.sub(y.value).abs() <= TOLERANCE * Math.max(x.scale, y.scale);
}

const isKnown = ({ re, im }: Complex) => Number.isFinite(re) && Number.isFinite(im);

/** Do both have the same value wherever they have one? null where neither has a value at any of the points. */
export function equalExpressions(a: Expression, b: Expression): boolean | null {
  const points = pointsFor(new Set([...variablesOf(a), ...variablesOf(b)]));
  const verdicts = points.map((point) => equalAt(a, b, point)).filter((verdict) => verdict !== null);
  return verdicts.length ? verdicts.every(Boolean) : null;
}

/** Are two equations equivalent? They are where left − right of one is a constant multiple, not 0, of the other's. */
function equalEquations(a: readonly Expression[], b: readonly Expression[]): boolean | null {
  const difference = ([left, right]: readonly Expression[]): Expression => ({
    op: 'subtract',
    left: left!,
    right: right!,
  });
  const [f, g] = [difference(a), difference(b)];
  const [first, ...points] = pointsFor(new Set([...variablesOf(f), ...variablesOf(g)]));
  const valueAt = (node: Expression, point: Point) => approximateValue(node, point).value;
  const [f0, g0] = [valueAt(f, first!), valueAt(g, first!)];
  if (![f0, g0].every(isKnown) || f0.abs() === 0 || g0.abs() === 0) return null;
  // f·g₀ = g·f₀ at all points, as f/g = f₀/g₀ would be, without a division.
  return points.every((point) => {
    const [left, right] = [valueAt(f, point).mul(g0), valueAt(g, point).mul(f0)];
    return left.sub(right).abs() <= 1e-8 * Math.max(left.abs(), right.abs(), Number.MIN_VALUE);
  });
}

/** The value that "x = 3" names; null for an equation that does not say what one variable is. */
const named = (sides: readonly Expression[]): Expression | null =>
  sides.length === 1 ? sides[0]! : sides.length === 2 && sides[0]!.op === 'symbol' ? sides[1]! : null;

const ORDERED = ['()', '[]', '[)', '(]'];

function equalLists(
  a: Extract<MathAnswer, { kind: 'list' }>,
  b: Extract<MathAnswer, { kind: 'list' }>,
): boolean | null {
  const ordered = ORDERED.includes(a.brackets);
  if (ordered !== ORDERED.includes(b.brackets) || (ordered && a.brackets !== b.brackets)) return false;
  if (a.items.length !== b.items.length) return false;
  if (ordered) return a.items.every((item, i) => equalExpressions(item, b.items[i]!) === true);
  const left = [...b.items];
  return a.items.every((item) => {
    const at = left.findIndex((other) => equalExpressions(item, other) === true);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** null where equality cannot be decided. */
export function equalAnswers(a: MathAnswer, b: MathAnswer): boolean | null {
  if (a.kind === 'list' || b.kind === 'list')
    return a.kind === 'list' && b.kind === 'list' ? equalLists(a, b) : false;
  if (a.sides.length === 1 || b.sides.length === 1) {
    const [left, right] = [named(a.sides), named(b.sides)];
    return left && right ? equalExpressions(left, right) : false;
  }
  if (a.sides.length !== 2 || b.sides.length !== 2) return false;
  return equalEquations(a.sides, b.sides);
}
