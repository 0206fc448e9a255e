/**
 * Task-relative whitening: statistics are kept apart for each key (role × task type), so that an easy stream does not become
 * another's baseline (Absolute Zero Reasoner's task-relative REINFORCE++, 2025; with one key: plain whitening).
 */
import { mapGroups } from '../groups.ts';
import { deviation, mean } from '../statistics.ts';
import type { Key, Maybe } from '../types.ts';

/** A = (r − mean)/(σ + ε) within each key; rewards [n], keys [n] -> [n], null where missing. */
export function taskRelative(
  rewards: ArrayLike<Maybe>,
  keys: ArrayLike<Key>,
  { ddof = 0, epsilon = 1e-6 }: { ddof?: 0 | 1; epsilon?: number } = {},
): Maybe[] {
  return mapGroups(rewards, keys, (stream) => {
    const centre = mean(stream);
    const scale = 1 / (deviation(stream, ddof) + epsilon);
    return stream.map((reward) => (reward - centre) * scale);
  });
}

/** A = (r − mean)/(σ₀ + ε) over the whole batch; null where missing. */
export const whitenBatch = (rewards: ArrayLike<Maybe>, epsilon = 1e-6): Maybe[] =>
  taskRelative(
    rewards,
    Array.from(rewards, () => 0),
    { epsilon },
  );
