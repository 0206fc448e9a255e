import { expect, test } from 'vitest';
import { claim } from '../../claims/srpo-route.ts';
import type { ArmResults } from '../../rule/claim.ts';

test('the envelope is the better of rewards and teacher at each evaluation after the first', () => {
  const curves = { 'srpo-route': [0.3, 0.5, 0.6], grpo: [0.9, 0.45, 0.65], sdpo: [0.3, 0.52, 0.5] };
  const results = Object.fromEntries(
    Object.entries(curves).map(([arm, curve]) => [arm, [{ heldout: curve.map((sampled) => ({ sampled })) }]]),
  ) as unknown as ArmResults;
  // 0.02 below the teacher, then 0.05 below rewards
  expect(claim.conditions[0]!.measure(results, 0)).toBeCloseTo(-0.035, 9);
});
