import { expect, test } from 'vitest';
import { claim } from '../../claims/llama-rl.ts';
import type { ArmResults } from '../../rule/claim.ts';

test('what a delay costs is the end with fresh samples minus the end with old ones, compared with AIPO’s', () => {
  const ends = {
    'aipo-0': 0.6,
    'aipo-16': 0.58,
    'none-0': 0.61,
    'none-16': 0.5,
    'ppo-clip-0': 0.62,
    'ppo-clip-16': 0.55,
  };
  const results: ArmResults = Object.fromEntries(
    Object.entries(ends).map(([arm, sampled]) => [arm, [{ heldout: [{ sampled }] }]]),
  ) as unknown as ArmResults;
  const measured = (description: string) =>
    claim.conditions.find((condition) => condition.description.includes(description))!.measure(results, 0);
  // AIPO loses .02; the uncorrected gradient .11, PPO's clip .07.
  expect(measured('sampled accuracy that 16 versions of delay cost, none above aipo')).toBeCloseTo(0.09, 9);
  expect(measured('sampled accuracy that 16 versions of delay cost, ppo-clip above aipo')).toBeCloseTo(
    0.05,
    9,
  );
});
