/** Controllers that move the weight of the KL penalty towards a target KL. */

/**
 * Ziegler et al. 2019: β·(1 + clip(KL/target − 1, ±0.2)·n/horizon). n = samples since the last update, horizon in samples,
 * KL and target in nats.
 */
export const proportionalKlWeight = (
  weight: number,
  { kl, target, samples, horizon }: { kl: number; target: number; samples: number; horizon: number },
): number => weight * (1 + (Math.max(-0.2, Math.min(0.2, kl / target - 1)) * samples) / horizon);

/** EvoLMM: β·exp(rate·(KL − target)/target), rate 0.1. */
export const exponentialKlWeight = (
  weight: number,
  { kl, target, rate = 0.1 }: { kl: number; target: number; rate?: number },
): number => weight * Math.exp((rate * (kl - target)) / target);
