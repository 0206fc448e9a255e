/**
 * Rewards centred by group and divided by the deviation of the whole batch. Every group's signal keeps its size relative to the others,
 * so nearly unanimous groups are not amplified as in GRPO (TRL's scale_rewards="batch" divides by the raw rewards' deviation).
 */
import { mapGroups } from '../groups.ts';
import { deviation, mean, present } from '../statistics.ts';
import type { Key, Maybe } from '../types.ts';

/** A = (r − mean of group)/(σ₀ of all centred rewards + ε); rewards [n], groups [n] -> [n], null where missing. */
export function groupCentredBatchScaled(
  rewards: ArrayLike<Maybe>,
  groups: ArrayLike<Key>,
  epsilon = 1e-6,
): Maybe[] {
  const centred = mapGroups(rewards, groups, (group) => {
    const centre = mean(group);
    return group.map((reward) => reward - centre);
  });
  const scale = 1 / (deviation(present(centred), 0) + epsilon);
  return centred.map((value) => (value === null ? null : value * scale));
}
