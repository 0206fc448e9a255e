/**
 * A running mean as baseline, for roles that get one sample per task. `roleAdvantages` is SPIRAL's role-conditioned advantage
 * estimation (RAE), with one baseline for each game and agent; `batchBaseline` is EvoLMM's, which is updated once per batch.
 */
import { mean, present } from '../statistics.ts';
import { expectSameLength, type Key, type Maybe } from '../types.ts';

/** The baseline of each key; that of a key that was not seen yet is 0. */
export type Baselines = ReadonlyMap<Key, number>;

/** In order: A = r − b with the baseline b before the update, then b ← decay·b + (1 − decay)·r. A missing reward changes nothing. */
export function roleAdvantages(
  rewards: ArrayLike<Maybe>,
  keys: ArrayLike<Key>,
  { decay = 0.95, baselines = new Map<Key, number>() }: { decay?: number; baselines?: Baselines } = {},
): { advantages: Maybe[]; baselines: Map<Key, number> } {
  expectSameLength('rewards', rewards, 'keys', keys);
  const after = new Map(baselines);
  const advantages = Array.from(rewards, (reward, i) => {
    if (reward === null) return null;
    const baseline = after.get(keys[i]!) ?? 0;
    after.set(keys[i]!, decay * baseline + (1 - decay) * reward);
    return reward - baseline;
  });
  return { advantages, baselines: after };
}

/** A = r − b for the whole batch, then b ← momentum·b + (1 − momentum)·mean of the batch. */
export function batchBaseline(
  rewards: ArrayLike<Maybe>,
  baseline: number,
  momentum = 0.9,
): { advantages: Maybe[]; baseline: number } {
  const there = present(rewards);
  return {
    advantages: Array.from(rewards, (reward) => (reward === null ? null : reward - baseline)),
    baseline: there.length === 0 ? baseline : momentum * baseline + (1 - momentum) * mean(there),
  };
}
