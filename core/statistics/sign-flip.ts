/**
 * The exact test of paired differences by their signs (Fisher, "The Design of Experiments", 1935, § 21; Pitman, 1937): if two versions were equally
 * good, each question's difference would be as likely to have the other sign. For answers that are right or wrong it is McNemar's exact test.
 */
import { wrongInput } from '../errors.ts';

/**
 * The two-sided probability of a sum at least as far from 0 as that of `differences`, over all 2ⁿ choices of their signs. `differences`: [questions], whole
 * numbers. The distribution of the sum is built up question by question, so the time is O(n·Σ|dᵢ|).
 */
export function signFlipTest(differences: readonly number[]): number {
  if (!differences.every(Number.isSafeInteger))
    throw wrongInput('statistics.sign-flip', 'A difference is not a whole number.', {
      expected: 'differences of counts, one a question',
    });
  const sizes = differences.map(Math.abs).filter((size) => size > 0);
  const most = sizes.reduce((sum, size) => sum + size, 0);
  const seen = Math.abs(differences.reduce((sum, difference) => sum + difference, 0));
  // chance[s]: the probability that the flipped differences so far, each counted as 0 or as its size, sum to s. The signed sum is 2s − Σ|dᵢ|.
  const chance = new Float64Array(most + 1);
  chance[0] = 1;
  let top = 0;
  for (const size of sizes) {
    top += size;
    for (let sum = top; sum >= 0; sum--)
      chance[sum] = 0.5 * (chance[sum]! + (sum >= size ? chance[sum - size]! : 0));
  }
  let p = 0;
  for (let sum = 0; sum <= most; sum++) if (Math.abs(2 * sum - most) >= seen) p += chance[sum]!;
  return Math.min(1, p);
}
