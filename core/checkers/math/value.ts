/**
 * Values of expressions at given points: exact fractions where only rational arithmetic is asked for, complex numbers of many digits with
 * a bound on their error otherwise. Bounded: fractions that grow too large, or too often, are given up for digits.
 */
import Fraction from 'fraction.js';
import { type Approximate, Arithmetic } from './approximate.ts';
import type { FunctionName } from './names.ts';
import type { BinaryOperation, Expression } from './tree.ts';

/** Largest numerator and denominator of an exact value, in bits: 2004! is below it. */
const MOST_BITS = 20_000;
/** Values above this many bits cost so much that an evaluation may make only some of them. */
const LARGE_BITS = 2048;
const MOST_LARGE = 24;
const LARGEST_EXACT_FACTORIAL = 2_100;
const LARGEST_FACTORIAL = 20_000;

export type Point = ReadonlyMap<string, Fraction>;
export type Value = Fraction | Approximate | null;

export const isExact = (value: Value): value is Fraction => value instanceof Fraction;

const bits = ({ n, d }: Fraction): number => Math.max(n.toString(16).length, d.toString(16).length) * 4;

/** Names that stand for a number and are no variables. Infinity is not among them: read as a variable it equals itself, and not its negative. */
export const isConstant = (name: string): boolean => ['pi', 'e', 'i'].includes(name);

export interface Convention {
  /** Significant digits of values that are not exact. */
  readonly digits: number;
  /** Are odd roots of negative numbers real, as in school, or the principal ones? */
  readonly realRoots: boolean;
}

const arithmetics = new Map<number, Arithmetic>();
function arithmeticOf(digits: number): Arithmetic {
  const known = arithmetics.get(digits) ?? new Arithmetic(digits);
  arithmetics.set(digits, known);
  return known;
}

export class Evaluation {
  readonly #point: Point;
  readonly #realRoots: boolean;
  readonly arithmetic: Arithmetic;
  #large = 0;

  constructor(point: Point, { digits, realRoots }: Convention) {
    this.#point = point;
    this.#realRoots = realRoots;
    this.arithmetic = arithmeticOf(digits);
  }

  /** null where the value is not defined or cannot be known. */
  valueOf(node: Expression): Value {
    switch (node.op) {
      case 'number':
        return node.value;
      case 'symbol':
        return this.#symbol(node.name);
      case 'percent':
        return this.#binary('divide', this.valueOf(node.of), new Fraction(100));
      case 'negate': {
        const of = this.valueOf(node.of);
        return of && (isExact(of) ? of.neg() : this.arithmetic.neg(of));
      }
      case 'call':
        return this.#call(node.name, this.valueOf(node.of));
      default:
        return this.#binary(node.op, this.valueOf(node.left), this.valueOf(node.right));
    }
  }

  approximate(value: Fraction | Approximate): Approximate {
    return isExact(value) ? this.arithmetic.fraction(value) : value;
  }

  #symbol(name: string): Value {
    const given = this.#point.get(name);
    if (given) return given;
    if (name === 'pi') return this.arithmetic.real(this.arithmetic.pi);
    if (name === 'e') return this.arithmetic.exp(this.arithmetic.real(1));
    return name === 'i' ? this.arithmetic.i() : null;
  }

  /** The exact value where it is small enough to be worth it. */
  #kept(value: Fraction | null): Fraction | null {
    if (!value) return null;
    const size = bits(value);
    if (size > LARGE_BITS && ++this.#large > MOST_LARGE) return null;
    return size > MOST_BITS ? null : value;
  }

  #exact(op: BinaryOperation, left: Fraction, right: Fraction): Fraction | null {
    switch (op) {
      case 'add':
        return left.add(right);
      case 'subtract':
        return left.sub(right);
      case 'multiply':
        return left.mul(right);
      case 'divide':
        return right.n === 0n ? null : left.div(right);
      case 'power':
        return exactPower(left, right);
      case 'root':
        return null;
      case 'binomial':
        return exactBinomial(left, right);
    }
  }

  #binary(op: BinaryOperation, left: Value, right: Value): Value {
    if (!left || !right) return null;
    if (isExact(left) && isExact(right)) {
      const exact = this.#kept(this.#exact(op, left, right));
      if (exact) return exact;
      if (op === 'power' && left.n === 0n && right.compare(0) <= 0) return null;
      if (op === 'power' && this.#realRoots) return this.#realPower(left, right);
      if (op === 'root' && right.n !== 0n)
        return this.#realRoots
          ? this.#realPower(left, right.inverse())
          : this.#binary('power', left, right.inverse());
    } else if (op === 'root') {
      const inverse = this.#binary('divide', new Fraction(1), right);
      return this.#realRoots && isExact(right)
        ? this.#rootOfReal(left, right)
        : this.#binary('power', left, inverse);
    }
    if (op === 'binomial' || op === 'root') return null;
    return this.arithmetic[op](this.approximate(left), this.approximate(right));
  }

  /** a^(p/q) with the real root where q is odd. */
  #realPower(base: Fraction, exponent: Fraction): Value {
    const { arithmetic } = this;
    const power = (size: Fraction) =>
      arithmetic.power(arithmetic.fraction(size), arithmetic.fraction(exponent));
    if (base.compare(0) >= 0 || exponent.d % 2n === 0n) return power(base);
    const size = power(base.neg());
    return size && exponent.n % 2n === 1n ? arithmetic.neg(size) : size;
  }

  #rootOfReal(value: Value, degree: Fraction): Value {
    const { arithmetic } = this;
    if (!value || degree.n === 0n) return null;
    const a = this.approximate(value);
    const exponent = arithmetic.fraction(degree.inverse());
    const odd = degree.d === 1n && degree.n % 2n === 1n;
    if (!odd || !a.im.abs().lte(a.error) || !a.re.isNeg()) return arithmetic.power(a, exponent);
    const size = arithmetic.power(arithmetic.neg(a), exponent);
    return size && arithmetic.neg(size);
  }

  #call(name: FunctionName, value: Value): Value {
    if (!value) return null;
    const { arithmetic } = this;
    if (isExact(value)) {
      if (name === 'abs') return value.abs();
      if (name === 'floor') return value.floor();
      if (name === 'ceil') return value.ceil();
      if (name === 'factorial') return this.#factorial(value);
      if (name === 'sqrt') {
        const root = exactRoot(value);
        if (root) return root;
      }
    }
    const a = this.approximate(value);
    switch (name) {
      case 'factorial':
        return null;
      case 'abs': {
        const size = arithmetic.real(arithmetic.abs(a));
        return { ...size, error: size.error.add(a.error) };
      }
      case 'floor':
      case 'ceil':
        return arithmetic.rounded(a, name);
      case 'cot':
        return inverse(arithmetic, arithmetic.tan(a));
      case 'sec':
        return inverse(arithmetic, arithmetic.cos(a));
      case 'csc':
        return inverse(arithmetic, arithmetic.sin(a));
      default:
        return arithmetic[name](a);
    }
  }

  #factorial(value: Fraction): Value {
    const n = value.valueOf();
    if (!Number.isInteger(n) || n < 0 || n > LARGEST_FACTORIAL) return null;
    const exact = this.#kept(n > LARGEST_EXACT_FACTORIAL ? null : exactFactorial(n));
    if (exact) return exact;
    return ++this.#large > MOST_LARGE ? null : this.arithmetic.factorial(n);
  }
}

const inverse = (arithmetic: Arithmetic, value: Approximate | null): Approximate | null =>
  value && arithmetic.divide(arithmetic.real(1), value);

function exactPower(base: Fraction, exponent: Fraction): Fraction | null {
  const power = exponent.valueOf();
  if (!Number.isInteger(power) || (base.n === 0n && power <= 0)) return null;
  return bits(base) * Math.abs(power) > MOST_BITS ? null : base.pow(exponent);
}

function exactFactorial(n: number): Fraction {
  let product = 1n;
  for (let k = 2n; k <= BigInt(n); k++) product *= k;
  return new Fraction(product);
}

/** C(n, k) for whole n and k from 0. */
function exactBinomial(top: Fraction, bottom: Fraction): Fraction | null {
  const [n, k] = [top.valueOf(), bottom.valueOf()];
  if (![n, k].every(Number.isInteger) || k < 0 || n < 0 || n > LARGEST_EXACT_FACTORIAL) return null;
  if (k > n) return new Fraction(0);
  return exactFactorial(n).div(exactFactorial(k).mul(exactFactorial(n - k)));
}

/** The square root of a fraction that is one. */
function exactRoot(value: Fraction): Fraction | null {
  if (value.s < 0n || bits(value) > 1024) return null;
  const [top, bottom] = [wholeRoot(value.n), wholeRoot(value.d)];
  return top !== null && bottom !== null ? new Fraction(top, bottom) : null;
}

/** Newton’s iteration on whole numbers; null where n is no square. */
function wholeRoot(n: bigint): bigint | null {
  if (n < 2n) return n;
  let root = 1n << BigInt(Math.ceil(n.toString(2).length / 2));
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root * root === n ? root : null;
    root = next;
  }
}

/** Variables of an expression, constants left out. */
export function variablesOf(node: Expression): Set<string> {
  switch (node.op) {
    case 'number':
      return new Set();
    case 'symbol':
      return new Set(isConstant(node.name) ? [] : [node.name]);
    case 'call':
    case 'negate':
    case 'percent':
      return variablesOf(node.of);
    default:
      return new Set([...variablesOf(node.left), ...variablesOf(node.right)]);
  }
}
