import { expect, test } from 'vitest';
import { claim } from '../../claims/sd-zero.ts';
import type { ArmResults } from '../../rule/claim.ts';

test('the claim compares revisions with attempts in rounds 6 to 8, and the fault with exact attempts in rounds 9 to 11', () => {
  const monitors = Array.from({ length: 24 }, (_, i) => ({
    // Rounds 6, 7 and 8 are numbers 5, 6 and 7.
    figures: { revisionsExact: i / 10, attemptsExact: 0.1, atFault: i, inExact: 1 },
  }));
  const results = { 'sd-zero': [{ heldout: [], monitors }] } as unknown as ArmResults;
  const [revising, localised] = claim.conditions;
  expect(revising!.measure(results, 0)).toBeCloseTo(0.6 - 0.1, 9);
  expect(localised!.measure(results, 0)).toBeCloseTo(9 - 1, 9);
});
