/**
 * Dense credit from an implicit process reward (PRIME, Cui et al. 2025): token rewards q = log ψ − log ref are rescaled, compared with
 * their siblings' mean, and summed to go. The rewards must be those of the reward model before its own update.
 */
import { positionsByKey } from '../groups.ts';
import { mean } from '../statistics.ts';
import { expectSameLength, type Key, type Numbers } from '../types.ts';
import { discountedReturns } from './returns.ts';

/** Divides all token rewards [n][T] by the batch's largest |reward to go|, so that the stream has a known size. */
export function rescaleByLargestReturn(tokenRewards: readonly Numbers[]): number[][] {
  // Not by spreading into Math.max: a large round has more tokens than a call may have arguments.
  const largest = tokenRewards
    .flatMap((rewards) => discountedReturns(rewards, { gamma: 1 }))
    .reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return tokenRewards.map((rewards) => Array.from(rewards, (q) => (largest === 0 ? 0 : q / largest)));
}

/**
 * G_t = Σ_{t' ≥ t} n/(n − 1)·(q_t' − m), m = mean over the n siblings (the sequence included) of their mean token reward; summed
 * over a sequence of mean q̄ this is its leave-one-out advantage times its length, token by token.
 * tokenRewards [n][T] of generated tokens, groups [n] -> [n][T]; alone in its group: zeros.
 */
export function implicitProcess(tokenRewards: readonly Numbers[], groups: ArrayLike<Key>): number[][] {
  expectSameLength('sequences', tokenRewards, 'group keys', groups);
  const out = tokenRewards.map((rewards) => new Array<number>(rewards.length).fill(0));
  for (const positions of positionsByKey(groups).values()) {
    const n = positions.length;
    if (n < 2) continue;
    const centre = mean(positions.map((i) => mean(tokenRewards[i]!)));
    for (const i of positions) {
      const centred = Array.from(tokenRewards[i]!, (q) => ((q - centre) * n) / (n - 1));
      out[i] = discountedReturns(centred, { gamma: 1 });
    }
  }
  return out;
}
