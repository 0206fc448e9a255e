import { expect, test } from 'vitest';
import { withstood } from '../../claims/verifier-training.ts';
import type { ArmResults } from '../../rule/claim.ts';

test('a verifier has withstood as many rounds of attack as came before a tenth of the lines passed', () => {
  const run = (breached: readonly number[]) => ({
    arm: [
      {
        monitors: [...Array(16).fill(0.9), ...breached].map((share, i) => ({
          round: i + 1,
          figures: { breached: share },
        })),
      },
    ],
  });
  const rounds = (breached: readonly number[]) => withstood('arm')(run(breached) as unknown as ArmResults, 0);
  // Means over three rounds: 0.06, 0.09, 0.11.
  expect(rounds([0.05, 0.05, 0.08, 0.14, 0.11])).toBe(2);
  expect(rounds([0.31, 0, 0])).toBe(0);
  // One round does not make it, and what comes after the end is not known.
  expect(rounds([0.2, 0.02, 0.02, 0.02, 0.2])).toBe(20);
  expect(rounds(Array(20).fill(0.09))).toBe(20);
});
