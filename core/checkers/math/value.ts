/**
 * Values of expressions at given points: exact fractions where only rational arithmetic is asked for, complex numbers in double
 * precision otherwise. Bounded: fractions that grow too large are given up for doubles.
 */
import Complex from 'complex.js';
import Fraction from 'fraction.js';
import type { Expression, FunctionName } from './parse.ts';

/** Largest numerator and denominator of an exact value, in bits. */
const MOST_BITS = 2048;
const LARGEST = 1n << BigInt(MOST_BITS);
const LARGEST_FACTORIAL = 170;

export type Point = ReadonlyMap<string, Fraction>;

const bounded = (value: Fraction): Fraction | null => (value.n < LARGEST && value.d < LARGEST ? value : null);
const bits = (value: Fraction) => Math.max(value.n.toString(16).length, value.d.toString(16).length) * 4;

function exactPower(base: Fraction, exponent: Fraction): Fraction | null {
  const power = exponent.valueOf();
  if (!Number.isInteger(power) || (base.n === 0n && power <= 0)) return null;
  return bits(base) * Math.abs(power) > MOST_BITS ? null : base.pow(exponent);
}

function exactFactorial(value: Fraction): Fraction | null {
  const n = value.valueOf();
  if (!Number.isInteger(n) || n < 0 || n > LARGEST_FACTORIAL) return null;
  let product = 1n;
  for (let i = 2n; i <= BigInt(n); i++) product *= i;
  return new Fraction(product);
}

/** C(n, k) for whole 0 ≤ k ≤ n. */
function exactBinomial(top: Fraction, bottom: Fraction): Fraction | null {
  const rest = top.sub(bottom);
  const [a, b, c] = [exactFactorial(top), exactFactorial(bottom), exactFactorial(rest)];
  return a && b && c && a.div(b).div(c);
}

/** null where the value is no fraction, is not defined, or would be too large. */
export function exactValue(node: Expression, point: Point): Fraction | null {
  switch (node.op) {
    case 'number':
      return bounded(node.value);
    case 'symbol':
      return point.get(node.name) ?? null;
    case 'call': {
      const value = exactValue(node.of, point);
      if (!value) return null;
      if (node.name === 'abs') return value.abs();
      if (node.name === 'floor') return value.floor();
      if (node.name === 'ceil') return value.ceil();
      return node.name === 'factorial' ? exactFactorial(value) : null;
    }
  }
  const [left, right] = [exactValue(node.left, point), exactValue(node.right, point)];
  if (!left || !right) return null;
  switch (node.op) {
    case 'add':
      return bounded(left.add(right));
    case 'subtract':
      return bounded(left.sub(right));
    case 'multiply':
      return bounded(left.mul(right));
    case 'divide':
      return right.n === 0n ? null : bounded(left.div(right));
    case 'power':
      return exactPower(left, right);
    case 'binomial':
      return exactBinomial(left, right);
  }
}

/** Infinity is not among them: read as a variable it equals itself, and not its negative. */
const CONSTANTS: Readonly<Record<string, Complex>> = {
  pi: new Complex(Math.PI),
  e: new Complex(Math.E),
  i: new Complex(0, 1),
};
const NOT_DEFINED = new Complex(Number.NaN);

/** Names that stand for a number and are no variables. */
export const isConstant = (name: string): boolean => name in CONSTANTS;

function call(name: FunctionName, value: Complex): Complex {
  switch (name) {
    case 'ln':
      return value.log();
    case 'arcsin':
      return value.asin();
    case 'arccos':
      return value.acos();
    case 'arctan':
      return value.atan();
    case 'abs':
      return new Complex(value.abs());
    case 'factorial':
    case 'floor':
    case 'ceil':
      // Whole numbers have an exact value; what is left has no factorial here.
      return name === 'factorial' || value.im !== 0 ? NOT_DEFINED : new Complex(Math[name](value.re));
    default:
      return value[name]();
  }
}

/** A value with the largest magnitude that came up on the way: rounding errors are in proportion to it. */
export interface Approximate {
  readonly value: Complex;
  readonly scale: number;
}

export function approximateValue(node: Expression, point: Point): Approximate {
  let scale = 0;
  const seen = (value: Complex): Complex => {
    const size = value.abs();
    if (Number.isFinite(size)) scale = Math.max(scale, size);
    return value;
  };
  const compute = (at: Expression): Complex => {
    const exact = exactValue(at, point);
    if (exact) return seen(new Complex(exact.valueOf()));
    if (at.op === 'number') return NOT_DEFINED;
    if (at.op === 'symbol') return seen(CONSTANTS[at.name] ?? NOT_DEFINED);
    if (at.op === 'call') return seen(call(at.name, compute(at.of)));
    const [left, right] = [compute(at.left), compute(at.right)];
    switch (at.op) {
      case 'add':
        return seen(left.add(right));
      case 'subtract':
        return seen(left.sub(right));
      case 'multiply':
        return seen(left.mul(right));
      case 'divide':
        return seen(left.div(right));
      case 'power':
        return seen(left.pow(right));
      case 'binomial':
        return NOT_DEFINED;
    }
  };
  const value = compute(node);
  return { value, scale };
}

/** Variables of an expression, constants left out. */
export function variablesOf(node: Expression): Set<string> {
  switch (node.op) {
    case 'number':
      return new Set();
    case 'symbol':
      return new Set(isConstant(node.name) ? [] : [node.name]);
    case 'call':
      return variablesOf(node.of);
    default:
      return new Set([...variablesOf(node.left), ...variablesOf(node.right)]);
  }
}
