import { expect, test } from 'vitest';
import { sameExp, softmax } from '../../core/same-exp.ts';

test('e^x is that of the platform but for the last bits, over the whole range', () => {
  for (let i = -7400; i <= 7090; i++) {
    const x = i / 10 + 0.0123;
    const [ours, theirs] = [sameExp(x), Math.exp(x)];
    if (theirs > 1e-300) expect(Math.abs(ours / theirs - 1)).toBeLessThan(5e-16);
  }
  expect(sameExp(1) / Math.E).toBeCloseTo(1, 15);
  expect([0, -1e9, 1e9, Number.NaN].map(sameExp)).toEqual([1, 0, Number.POSITIVE_INFINITY, Number.NaN]);
});

test('probabilities of logits, also of large ones', () => {
  expect(softmax([0, 0])).toEqual([0.5, 0.5]);
  // 1 / (1 + e^-1) = 0.7310585786…
  expect(softmax([1000, 1001])[1]).toBeCloseTo(0.7310585786300049, 14);
});
