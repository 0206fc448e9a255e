import { expect, test } from 'vitest';
import { claim, collapses, reaches } from '../../claims/ragen.ts';
import type { ArmResults } from '../../rule/claim.ts';

test('a sign comes where a curve first reaches a multiple of its first value', () => {
  expect(reaches([4, 3, 2, 5, 1], 0.5)).toBe(2);
  expect(reaches([1, 3, 1], 2)).toBe(1);
  expect(reaches([1, 1.5, 1.9], 2)).toBeNaN();
});

/** Rounds by which the signs lead without the filter, in a run with these monitors. */
function leadOf(figures: Readonly<Record<'gradientNorm' | 'entropy' | 'returnSpread', readonly number[]>>) {
  const monitors = figures.entropy.map((_, i) => ({
    figures: Object.fromEntries(Object.entries(figures).map(([name, values]) => [name, values[i]])),
  }));
  const results = { 'filter 100': [{ monitors }] } as unknown as ArmResults;
  return claim.conditions
    .find(({ description }) => description.includes('gradient norm'))!
    .measure(results, 0);
}

test('signs lead a gradient norm that doubles, and nothing where it does not', () => {
  const level = Array.from({ length: 20 }, () => 1);
  // Halves from round 6 on: all of rounds 6 to 10 do so first, the sixth window of five. Triples from round 11 on: rounds 9 to 13 hold three of those, mean 11/5.
  const entropy = level.map((_, i) => (i < 5 ? 1 : 0.5));
  const gradientNorm = level.map((_, i) => (i < 10 ? 1 : 3));
  expect(leadOf({ entropy, returnSpread: level, gradientNorm })).toBe(8 - 5);
  expect(leadOf({ entropy, returnSpread: level, gradientNorm: level })).toBeNaN();
  // There are 16 windows: a sign that never comes is taken to come after them.
  expect(leadOf({ entropy: level, returnSpread: level, gradientNorm })).toBe(8 - 16);
});

test('a collapse is a fall below the best so far, not below the start', () => {
  expect(collapses([0.4, 0.6, 0.55, 0.5, 0.6], 0.1)).toBe(3);
  expect(collapses([0.4, 0.35, 0.6, 0.55], 0.1)).toBe(4);
});
