/**
 * Complex numbers of many digits, each with a bound on its error, so that two values can be told apart wherever rounding cannot be what
 * separates them, however small they are or however much of them cancelled. Operations give null where a value is not defined or its
 * error has no bound. Bounds follow the first-order propagation of errors, with the rounding of each operation added.
 */
import Decimal from 'decimal.js';
import type Fraction from 'fraction.js';

type Real = Decimal;

/** re + i·im, which is at most `error` from the true value. */
export interface Approximate {
  readonly re: Real;
  readonly im: Real;
  readonly error: Real;
}

/** Arguments of exp and of the circular functions beyond these have no value here: reducing them costs too much. */
const LARGEST_EXPONENT = 1e9;
const LARGEST_ANGLE = 1e15;
const LARGEST_WHOLE_POWER = 4096;

export class Arithmetic {
  readonly #D: typeof Decimal;
  /** Relative rounding of one operation, generously. */
  readonly #unit: Real;
  readonly #zero: Real;
  readonly pi: Real;

  /** `digits`: significant digits of every operation. */
  constructor(digits: number) {
    this.#D = Decimal.clone({ precision: digits, defaults: true });
    this.#unit = new this.#D(10).pow(4 - digits);
    this.#zero = new this.#D(0);
    this.pi = this.#D.acos(-1);
  }

  #of(re: Real, im: Real, error: Real): Approximate | null {
    if (!re.isFinite() || !im.isFinite() || !error.isFinite()) return null;
    return { re, im, error: error.add(this.#size(re, im).mul(this.#unit)) };
  }

  #size(re: Real, im: Real): Real {
    return im.isZero() ? re.abs() : this.#D.hypot(re, im);
  }

  real(value: Real | number): Approximate {
    const re = new this.#D(value);
    return { re, im: this.#zero, error: re.abs().mul(this.#unit) };
  }

  readonly i = (): Approximate => ({ re: this.#zero, im: new this.#D(1), error: this.#zero });

  fraction(value: Fraction): Approximate {
    const size = new this.#D(value.n.toString()).div(value.d.toString());
    return this.real(value.s < 0n ? size.neg() : size);
  }

  abs(a: Approximate): Real {
    return this.#size(a.re, a.im);
  }

  add(a: Approximate, b: Approximate): Approximate | null {
    return this.#of(a.re.add(b.re), a.im.add(b.im), a.error.add(b.error));
  }

  neg(a: Approximate): Approximate {
    return { re: a.re.neg(), im: a.im.neg(), error: a.error };
  }

  subtract(a: Approximate, b: Approximate): Approximate | null {
    return this.add(a, this.neg(b));
  }

  multiply(a: Approximate, b: Approximate): Approximate | null {
    const error = this.abs(a).mul(b.error).add(this.abs(b).mul(a.error)).add(a.error.mul(b.error));
    if (a.im.isZero() && b.im.isZero()) return this.#of(a.re.mul(b.re), this.#zero, error);
    const [re, im] = [a.re.mul(b.re).sub(a.im.mul(b.im)), a.re.mul(b.im).add(a.im.mul(b.re))];
    // The two products may cancel: their rounding is in proportion to the product of the sizes.
    return this.#of(re, im, error.add(this.abs(a).mul(this.abs(b)).mul(this.#unit)));
  }

  divide(a: Approximate, b: Approximate): Approximate | null {
    const size = this.abs(b);
    if (size.lte(b.error)) return null;
    const square = size.mul(size);
    const inverse = this.#of(
      b.re.div(square),
      b.im.neg().div(square),
      b.error.div(size.mul(size.sub(b.error))),
    );
    if (b.im.isZero() && a.im.isZero()) {
      const quotient = a.re.div(b.re);
      const error = a.error.add(quotient.abs().mul(b.error)).div(size.sub(b.error));
      return this.#of(quotient, this.#zero, error);
    }
    return inverse && this.multiply(a, inverse);
  }

  exp(a: Approximate): Approximate | null {
    if (a.re.abs().gt(LARGEST_EXPONENT) || a.im.abs().gt(LARGEST_ANGLE) || a.error.gt(1)) return null;
    const size = a.re.exp();
    const error = size.mul(a.error).mul(2);
    if (a.im.isZero()) return this.#of(size, this.#zero, error);
    return this.#of(size.mul(a.im.cos()), size.mul(a.im.sin()), error.add(size.mul(this.#unit)));
  }

  /** Parts that are no larger than the error are 0: which side of the cut they are on cannot be known. */
  #snapped({ re, im, error }: Approximate): Approximate {
    return {
      re: re.abs().lte(error) ? this.#zero : re,
      im: im.abs().lte(error) ? this.#zero : im,
      error: error.mul(2),
    };
  }

  ln(given: Approximate): Approximate | null {
    const a = this.#snapped(given);
    const size = this.abs(a);
    if (size.lte(a.error)) return null;
    const error = a.error.div(size.sub(a.error)).add(this.#unit);
    return this.#of(size.ln(), this.#D.atan2(a.im, a.re), error);
  }

  sqrt(given: Approximate): Approximate | null {
    const a = this.#snapped(given);
    const size = this.abs(a);
    if (size.lte(a.error)) return this.#of(this.#zero, this.#zero, a.error.add(size).sqrt());
    const root = size.sqrt();
    const error = a.error.div(root);
    if (a.im.isZero())
      return this.#of(
        ...(a.re.isNeg() ? ([this.#zero, root] as const) : ([root, this.#zero] as const)),
        error,
      );
    const re = size.add(a.re).div(2).sqrt();
    const im = size.sub(a.re).div(2).sqrt();
    return this.#of(re, a.im.isNeg() ? im.neg() : im, error.add(root.mul(this.#unit)));
  }

  #wholePower(base: Approximate, exponent: number): Approximate | null {
    let result: Approximate | null = this.real(1);
    let square: Approximate | null = base;
    for (let rest = Math.abs(exponent); rest > 0 && result && square; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) result = this.multiply(result, square);
      if (rest > 1) square = this.multiply(square, square);
    }
    return result && exponent < 0 ? this.divide(this.real(1), result) : result;
  }

  /** The principal value. */
  power(given: Approximate, b: Approximate): Approximate | null {
    const a = this.#snapped(given);
    const whole = b.im.isZero() && b.re.isInteger() && b.re.abs().lte(LARGEST_WHOLE_POWER);
    if (whole && !b.re.isZero()) return this.#wholePower(given, b.re.toNumber());
    if (this.abs(a).lte(a.error)) {
      if (b.re.lte(b.error)) return null;
      const error = a.error.isZero() ? this.#zero : a.error.pow(b.re);
      return this.#of(this.#zero, this.#zero, error);
    }
    const logarithm = this.ln(a);
    const exponent = logarithm && this.multiply(logarithm, b);
    return exponent && this.exp(exponent);
  }

  #circular(a: Approximate, real: 'sin' | 'cos'): Approximate | null {
    if (a.re.abs().gt(LARGEST_ANGLE) || a.im.abs().gt(1e4) || a.error.gt(1)) return null;
    const growth = a.im.isZero() ? new this.#D(1) : a.im.cosh();
    const error = a.error
      .mul(growth)
      .mul(2)
      .add(growth.mul(a.re.abs().add(1)).mul(this.#unit));
    if (a.im.isZero()) return this.#of(a.re[real](), this.#zero, error);
    return real === 'sin'
      ? this.#of(a.re.sin().mul(a.im.cosh()), a.re.cos().mul(a.im.sinh()), error)
      : this.#of(a.re.cos().mul(a.im.cosh()), a.re.sin().mul(a.im.sinh()).neg(), error);
  }

  sin = (a: Approximate): Approximate | null => this.#circular(a, 'sin');
  cos = (a: Approximate): Approximate | null => this.#circular(a, 'cos');

  tan(a: Approximate): Approximate | null {
    const [sin, cos] = [this.sin(a), this.cos(a)];
    return sin && cos && this.divide(sin, cos);
  }

  /** i·a */
  #turned({ re, im, error }: Approximate): Approximate {
    return { re: im.neg(), im: re, error };
  }

  sinh(a: Approximate): Approximate | null {
    // sinh a = −i·sin(i·a)
    const turned = a.im.isZero() ? null : this.sin(this.#turned(a));
    if (turned) return this.neg(this.#turned(turned));
    return this.#halved(a, (up, down) => this.subtract(up, down));
  }

  cosh(a: Approximate): Approximate | null {
    return a.im.isZero() ? this.#halved(a, (up, down) => this.add(up, down)) : this.cos(this.#turned(a));
  }

  #halved(
    a: Approximate,
    join: (up: Approximate, down: Approximate) => Approximate | null,
  ): Approximate | null {
    const [up, down] = [this.exp(a), this.exp(this.neg(a))];
    const both = up && down && join(up, down);
    return both && this.divide(both, this.real(2));
  }

  tanh(a: Approximate): Approximate | null {
    const [sinh, cosh] = [this.sinh(a), this.cosh(a)];
    return sinh && cosh && this.divide(sinh, cosh);
  }

  /** The derivative of arcsin and arccos is unbounded at ±1: there the error is a root of the argument’s. */
  #arcError(a: Approximate): Real {
    const room = new this.#D(1).sub(a.re.mul(a.re)).abs();
    return room.lte(a.error.mul(4)) ? a.error.mul(4).sqrt() : a.error.mul(2).div(room.sqrt());
  }

  arcsin(a: Approximate): Approximate | null {
    if (a.im.isZero() && a.re.abs().lte(1)) return this.#of(a.re.asin(), this.#zero, this.#arcError(a));
    // −i·ln(i·a + √(1 − a²))
    const square = this.multiply(a, a);
    const rest = square && this.subtract(this.real(1), square);
    const root = rest && this.sqrt(rest);
    const sum = root && this.add(this.#turned(a), root);
    const logarithm = sum && this.ln(sum);
    return logarithm && this.neg(this.#turned(logarithm));
  }

  arccos(a: Approximate): Approximate | null {
    if (a.im.isZero() && a.re.abs().lte(1)) return this.#of(a.re.acos(), this.#zero, this.#arcError(a));
    const other = this.arcsin(a);
    return other && this.subtract(this.real(this.pi.div(2)), other);
  }

  arctan(a: Approximate): Approximate | null {
    if (a.im.isZero()) return this.#of(a.re.atan(), this.#zero, a.error);
    // (i/2)·(ln(1 − i·a) − ln(1 + i·a))
    const turned = this.#turned(a);
    const [below, above] = [this.subtract(this.real(1), turned), this.add(this.real(1), turned)];
    const [low, high] = [below && this.ln(below), above && this.ln(above)];
    const difference = low && high && this.subtract(low, high);
    return difference && this.divide(this.#turned(difference), this.real(2));
  }

  arcsinh(a: Approximate): Approximate | null {
    // −i·arcsin(i·a)
    const turned = this.arcsin(this.#turned(a));
    return turned && this.neg(this.#turned(turned));
  }

  arccosh(a: Approximate): Approximate | null {
    // ln(a + √(a − 1)·√(a + 1))
    const [below, above] = [this.subtract(a, this.real(1)), this.add(a, this.real(1))];
    const [low, high] = [below && this.sqrt(below), above && this.sqrt(above)];
    const product = low && high && this.multiply(low, high);
    const sum = product && this.add(a, product);
    return sum && this.ln(sum);
  }

  arctanh(a: Approximate): Approximate | null {
    // −i·arctan(i·a)
    const turned = this.arctan(this.#turned(a));
    return turned && this.neg(this.#turned(turned));
  }

  /** floor and ceil of a real value that is not too near to a whole one to say; one within its error of a whole number counts as that. */
  rounded(a: Approximate, to: 'floor' | 'ceil'): Approximate | null {
    if (a.im.abs().gt(a.error)) return null;
    const near = a.re.round();
    return this.real(near.sub(a.re).abs().lte(a.error) ? near : a.re[to]());
  }

  factorial(n: number): Approximate | null {
    let product: Approximate | null = this.real(1);
    for (let k = 2; k <= n && product; k++) product = this.multiply(product, this.real(k));
    return product;
  }
}
