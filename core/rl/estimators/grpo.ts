/**
 * GRPO compares a reward with its group: A = (r − mean)/(σ + ε) (Shao et al., DeepSeekMath, 2024). Division by σ amplifies groups
 * that are nearly unanimous; the convention `drgrpo` leaves it out.
 */
import { CONVENTIONS, type Convention } from '../conventions.ts';
import { mapGroups } from '../groups.ts';
import { deviation, mean } from '../statistics.ts';
import type { Key, Maybe } from '../types.ts';

/** rewards [n], groups [n] -> advantages [n]; null where missing. A unanimous group gets zeros, a group of one its reward (verl). */
export function grpo(
  rewards: ArrayLike<Maybe>,
  groups: ArrayLike<Key>,
  convention: Convention = CONVENTIONS.verl,
): Maybe[] {
  const { scale, singleton } = convention;
  return mapGroups(rewards, groups, (group) => {
    const alone = group.length === 1 && singleton === 'raw';
    const centre = alone ? 0 : mean(group);
    if (scale === null) return group.map((reward) => reward - centre);
    // Rounding leaves a tiny deviation where all rewards are equal; with ε = 0 it would be amplified.
    const spread = alone ? 1 : unanimous(group) ? 0 : deviation(group, scale.ddof);
    return group.map((reward) => (spread === 0 ? 0 : (reward - centre) / (spread + scale.epsilon)));
  });
}

const unanimous = (group: readonly number[]): boolean => group.every((reward) => reward === group[0]);
