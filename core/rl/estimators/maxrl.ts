/** MaxRL: a reward minus its group's mean, divided by that mean, so that rare successes weigh most (SkyRL, prime-rl). */
import { mapGroups } from '../groups.ts';
import { mean } from '../statistics.ts';
import type { Key, Maybe } from '../types.ts';

/**
 * A = (r − mean)/(mean + ε) for rewards ≥ 0; rewards [n], groups [n] -> [n], null where missing. ε = 1e-6 in SkyRL, 0 in
 * prime-rl. A group without any reward gets zeros.
 */
export const maxRl = (rewards: ArrayLike<Maybe>, groups: ArrayLike<Key>, epsilon = 0): Maybe[] =>
  mapGroups(rewards, groups, (group) => {
    const centre = mean(group);
    return group.map((reward) => (reward === centre ? 0 : (reward - centre) / (centre + epsilon)));
  });
