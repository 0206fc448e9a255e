import { expect, test } from 'vitest';
import type { ArmResults } from '../../rule/claim.ts';
import { speed } from '../../rule/speed.ts';

test('evaluations at which nobody has begun to learn count for neither arm', () => {
  const run = (sampled: readonly number[]) => [{ heldout: sampled.map((value) => ({ sampled: value })) }];
  const results = {
    fast: run([0.5, 0.5, 0.7, 0.7]),
    slow: run([0.5, 0.5, 0.6, 0.7]),
  } as unknown as ArmResults;
  // The level is .5 + .9 · .2 = .68: reached .9 of the way from .5 to .7, and .8 of that from .6 to .7.
  expect(speed(results, 'fast', 'slow', 0, 1)).toBeCloseTo(0.9 / 1.8);
  expect(speed(results, 'fast', 'slow', 0)).toBeCloseTo(1.9 / 2.8);
});
