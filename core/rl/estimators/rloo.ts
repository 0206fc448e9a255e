/** RLOO: a reward minus the mean of the others in its group (Ahmadian et al., "Back to basics", 2024). */
import { mapGroups } from '../groups.ts';
import { mean } from '../statistics.ts';
import type { Key, Maybe } from '../types.ts';

/** A = r − mean of the others = (r − mean)·G/(G − 1); rewards [n], groups [n] -> [n], null where missing. Alone: 0. */
export const rloo = (rewards: ArrayLike<Maybe>, groups: ArrayLike<Key>): Maybe[] =>
  mapGroups(rewards, groups, (group) => {
    const centre = mean(group);
    const scale = group.length > 1 ? group.length / (group.length - 1) : 0;
    return group.map((reward) => (reward - centre) * scale);
  });
