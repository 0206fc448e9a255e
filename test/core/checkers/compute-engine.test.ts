/** The checker `math` beside Cortex's compute engine, an independent reader and evaluator of LaTeX. */
import { ComputeEngine } from '@cortex-js/compute-engine';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { math } from '../../../core/checkers/math/checker.ts';

const engine = new ComputeEngine();

/** The engine's value of an expression; null where it is no finite real number. */
function engineValue(latex: string): number | null {
  const value = engine.parse(latex).N();
  const { re, im } = { re: value.re, im: value.im };
  return Number.isFinite(re) && Math.abs(im) < 1e-12 ? re : null;
}

/** An expression, and its value by doubles; NaN where a part of it has none that is real, or is so near to 0 that doubles cannot tell it from 0. */
interface Made {
  readonly latex: string;
  readonly value: number;
}
const made = (latex: string, value: number): Made => ({
  latex,
  value: value === 0 || (Math.abs(value) > 1e-6 && Math.abs(value) < 1e6) ? value : Number.NaN,
});

const leaf = fc.oneof(
  fc.integer({ min: 1, max: 30 }).map((n) => made(String(n), n)),
  fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
    .map(([a, b]) => made(String.raw`\frac{${a}}{${b}}`, a / b)),
  fc.constantFrom(
    made(String.raw`\pi`, Math.PI),
    made('e', Math.E),
    made('0.25', 0.25),
    made(String.raw`\sqrt{2}`, Math.SQRT2),
    made('1.5', 1.5),
  ),
);
const { any } = fc.letrec<{ any: Made }>((tie) => {
  const one = (form: (a: string) => string, of: (a: number) => number) =>
    tie('any').map(({ latex, value }) => made(form(latex), of(value)));
  const two = (form: (a: string, b: string) => string, of: (a: number, b: number) => number) =>
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => made(form(a.latex, b.latex), of(a.value, b.value)));
  return {
    any: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      two(
        (a, b) => `(${a})+(${b})`,
        (a, b) => a + b,
      ),
      two(
        (a, b) => `(${a})-(${b})`,
        (a, b) => a - b,
      ),
      two(
        (a, b) => String.raw`\left(${a}\right)\cdot\left(${b}\right)`,
        (a, b) => a * b,
      ),
      two(
        (a, b) => String.raw`\frac{${a}}{${b}}`,
        (a, b) => a / b,
      ),
      one((a) => String.raw`\sqrt{${a}}`, Math.sqrt),
      one((a) => String.raw`\sin\left(${a}\right)`, Math.sin),
      one((a) => String.raw`\ln\left(${a}\right)`, Math.log),
      one(
        (a) => String.raw`\left(${a}\right)^{2}`,
        (a) => a ** 2,
      ),
      one((a) => String.raw`\left|${a}\right|`, Math.abs),
    ),
  };
});

/** A number with its third digit that counts changed. */
const changed = (value: number): string => {
  const [mantissa = '', exponent = '0'] = value.toExponential(14).split('e');
  const at = mantissa.indexOf('.') + 2;
  const digit = (Number(mantissa[at]) + 5) % 10;
  return `${mantissa.slice(0, at)}${digit}${mantissa.slice(at + 1)}e${exponent}`;
};

test('both agree on which constants are equal', () => {
  fc.assert(
    fc.property(any, any, ({ latex: a, value: v }, { latex: b, value: w }) => {
      fc.pre(a.length < 120 && b.length < 120 && !Number.isNaN(v) && !Number.isNaN(w));
      const [x, y] = [engineValue(a), engineValue(b)];
      fc.pre(x !== null && y !== null);
      const check = math.prepare({ answer: a, metadata: {} });
      const verdict = (answer: string) => {
        const said = check(answer);
        return said.ok && said.value;
      };
      const apart = Math.abs(x! - y!) > 1e-9 * Math.max(1, Math.abs(x!));
      if (apart) expect(verdict(b), `${a} and ${b}`).toBe(false);
      // Another form of the same value, and one beside it.
      expect(verdict(String.raw`\frac{2\left(${a}\right)+6}{2}-3`), a).toBe(true);
      expect(verdict(String.raw`\left(${a}\right)+10^{-30}`), a).toBe(false);
      // What is not this value by a digit that is shown is not right: the digits of its double, with the third of them changed.
      expect(verdict(changed(x!)), `${a} is not ${changed(x!)}`).toBe(false);
    }),
    { numRuns: 50 },
  );
});
