/**
 * AReaL's configurable normalisation: mean over the group or the batch, with or without the item itself, and optionally a
 * deviation over the group or the batch, biased or not. With the leave-one-out mean alone it equals RLOO.
 */
import { mapGroups } from '../groups.ts';
import { deviation, mean } from '../statistics.ts';
import type { Key, Maybe } from '../types.ts';

export interface LeaveOneOutOptions {
  /** Is the mean taken over the other items only? Default true. */
  readonly leaveOneOut?: boolean;
  /** The items that the deviation is taken over. Default `none`: no division. */
  readonly scale?: 'none' | 'group' | 'batch';
  /** 1 = unbiased, 0 = biased deviation. Default 1. */
  readonly ddof?: 0 | 1;
  readonly epsilon?: number;
}

/** (r − mean)/(σ + ε); rewards [n], groups [n] -> [n], null where missing. Alone in its group: 0. */
export function leaveOneOut(
  rewards: ArrayLike<Maybe>,
  groups: ArrayLike<Key>,
  { leaveOneOut: without = true, scale = 'none', ddof = 1, epsilon = 1e-5 }: LeaveOneOutOptions = {},
): Maybe[] {
  const centre = (group: number[]): number[] => {
    const centred = group.map((reward) => reward - mean(group));
    if (!without) return centred;
    return centred.map((value) => (group.length > 1 ? (value * group.length) / (group.length - 1) : 0));
  };
  // a shift does not change a deviation, so that of the raw rewards serves
  const divide = (values: number[], reference: number[]): number[] => {
    const spread = deviation(reference, ddof) + epsilon;
    return values.map((value) => value / spread);
  };
  if (scale === 'group') return mapGroups(rewards, groups, (group) => divide(centre(group), group));
  const centred = mapGroups(rewards, groups, centre);
  if (scale === 'none') return centred;
  const all = Array.from(rewards).filter((reward): reward is number => reward !== null);
  const spread = deviation(all, ddof) + epsilon;
  return centred.map((value) => (value === null ? null : value / spread));
}
