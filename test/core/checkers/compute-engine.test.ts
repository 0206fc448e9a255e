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

const leaf = fc.oneof(
  fc.integer({ min: 1, max: 30 }).map(String),
  fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
    .map(([a, b]) => String.raw`\frac{${a}}{${b}}`),
  fc.constantFrom(String.raw`\pi`, 'e', '0.25', String.raw`\sqrt{2}`, '1.5'),
);
const { latex } = fc.letrec<{ latex: string }>((tie) => ({
  latex: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.tuple(tie('latex'), tie('latex')).map(([a, b]) => `(${a})+(${b})`),
    fc.tuple(tie('latex'), tie('latex')).map(([a, b]) => `(${a})-(${b})`),
    fc.tuple(tie('latex'), tie('latex')).map(([a, b]) => String.raw`\left(${a}\right)\cdot\left(${b}\right)`),
    fc.tuple(tie('latex'), tie('latex')).map(([a, b]) => String.raw`\frac{${a}}{${b}}`),
    tie('latex').map((a) => String.raw`\sqrt{${a}}`),
    tie('latex').map((a) => String.raw`\sin\left(${a}\right)`),
    tie('latex').map((a) => String.raw`\ln\left(${a}\right)`),
    tie('latex').map((a) => String.raw`\left(${a}\right)^{2}`),
    tie('latex').map((a) => String.raw`\left|${a}\right|`),
  ),
}));

test('both agree on which constants are equal', () => {
  fc.assert(
    fc.property(latex, latex, (a, b) => {
      fc.pre(a.length < 120 && b.length < 120);
      const [x, y] = [engineValue(a), engineValue(b)];
      fc.pre(x !== null && y !== null && Math.abs(x) < 1e6 && Math.abs(y) < 1e6);
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
      // The engine's own digits are this value.
      if (x !== 0 && !/[.]\d{13}/.test(String(x))) expect(verdict(String(x)), `${a} is ${x}`).toBe(true);
    }),
    { numRuns: 50 },
  );
});
