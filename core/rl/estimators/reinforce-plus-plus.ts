/**
 * REINFORCE++ (Hu 2025): the KL penalty is part of each token's reward, and the outcome is added to that of the last generated token.
 * Returns to go are whitened over all generated tokens of the batch, or of each key (task-relative).
 */
import { positionsByKey } from '../groups.ts';
import { whiten } from '../statistics.ts';
import { expectSameLength, type Key, type Maybe, type Numbers } from '../types.ts';
import { discountedReturns, type ReturnOptions } from './returns.ts';

export interface ScoredSequence {
  /** Outcome of the whole sequence; null = missing. */
  readonly reward: Maybe;
  /** 1 on generated tokens [T]. */
  readonly mask: Numbers;
  /** KL estimate of each token against the reference, nats [T]; absent = no penalty. */
  readonly kl?: Numbers;
}

/** r_t = −coefficient·kl_t on generated tokens, plus the outcome on the last of them -> [T]. */
export function klShapedRewards(
  { reward, mask, kl }: ScoredSequence & { readonly reward: number },
  coefficient: number,
): number[] {
  if (kl) expectSameLength('mask entries', mask, 'KL estimates', kl);
  const rewards = Array.from(mask, (m, t) => (m === 0 || !kl ? 0 : -coefficient * kl[t]! * m));
  const last = Array.from(mask).findLastIndex((m) => m !== 0);
  if (last >= 0) rewards[last]! += reward;
  return rewards;
}

export interface ReinforcePlusPlusOptions {
  /** Discount per token. Default 1. */
  readonly gamma?: number;
  /** Weight of the KL penalty in the reward. Default 0. */
  readonly klCoefficient?: number;
  readonly masked?: NonNullable<ReturnOptions['masked']>;
}

/** Sequences [n] -> token advantages [n][T]; null for a sequence whose reward is missing. Each of the `keys` [n] is whitened apart. */
export function reinforcePlusPlus(
  sequences: readonly ScoredSequence[],
  { gamma = 1, klCoefficient = 0, masked = 'through' }: ReinforcePlusPlusOptions = {},
  keys: ArrayLike<Key> = sequences.map(() => 0),
): (number[] | null)[] {
  expectSameLength('sequences', sequences, 'keys', keys);
  const returns = sequences.map((sequence) => {
    const { reward, mask } = sequence;
    if (reward === null) return null;
    return discountedReturns(klShapedRewards({ ...sequence, reward }, klCoefficient), {
      gamma,
      mask,
      masked,
    });
  });
  const advantages: (number[] | null)[] = sequences.map(() => null);
  for (const positions of positionsByKey(keys).values()) {
    const there = positions.filter((i) => returns[i] !== null);
    const flat = whiten(
      there.flatMap((i) => returns[i]!),
      there.flatMap((i) => Array.from(sequences[i]!.mask)),
    );
    let at = 0;
    for (const i of there) {
      const length = returns[i]!.length;
      advantages[i] = flat.slice(at, at + length);
      at += length;
    }
  }
  return advantages;
}
