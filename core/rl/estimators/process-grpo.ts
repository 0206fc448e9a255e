/**
 * GRPO with process supervision: every step reward is standardised over all steps of its group, and a step's advantage is the sum
 * of its own and all later ones (DeepSeekMath 2024 §4.1.3; atropos has the discount, RL Tango calls it step rewards to go).
 */
import { positionsByKey } from '../groups.ts';
import { deviation, mean } from '../statistics.ts';
import { expectSameLength, type Key, type Numbers } from '../types.ts';
import { discountedReturns } from './returns.ts';

export interface ProcessOptions {
  /** Discount per step. Default 1. */
  readonly gamma?: number;
  /** Default 0, as in atropos. */
  readonly ddof?: 0 | 1;
  readonly epsilon?: number;
}

/**
 * stepRewards [n][steps], groups [n] -> step advantages [n][steps]; null where a sequence's step rewards are missing. A group
 * whose step rewards are all equal gets zeros (atropos raises instead: no use in a training loop).
 */
export function processGrpo(
  stepRewards: readonly (Numbers | null)[],
  groups: ArrayLike<Key>,
  { gamma = 1, ddof = 0, epsilon = 0 }: ProcessOptions = {},
): (number[] | null)[] {
  expectSameLength('sequences', stepRewards, 'group keys', groups);
  const out: (number[] | null)[] = stepRewards.map(() => null);
  for (const positions of positionsByKey(groups).values()) {
    const all = positions.flatMap((i) => Array.from(stepRewards[i] ?? []));
    const centre = mean(all);
    const spread = deviation(all, ddof);
    const scale = spread < 1e-8 ? 0 : 1 / (spread + epsilon);
    for (const i of positions) {
      const rewards = stepRewards[i];
      if (!rewards) continue;
      const standard = Array.from(rewards, (reward) => (reward - centre) * scale);
      out[i] = discountedReturns(standard, { gamma });
    }
  }
  return out;
}

/** Step advantages [steps] and the step of each token [T] (−1 = in no step) -> token advantages [T], 0 outside steps. */
export const spreadSteps = (stepAdvantages: Numbers, stepOfToken: Numbers): number[] =>
  Array.from(stepOfToken, (step) => (step < 0 ? 0 : stepAdvantages[step]!));
