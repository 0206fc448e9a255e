/**
 * Estimates of KL(π‖ref) from sampled tokens, with Δ = log π − log ref (Schulman, "Approximating KL divergence", 2020): k1 = Δ is
 * unbiased, k2 = Δ²/2 has the right gradient, k3 = e^−Δ − 1 + Δ is unbiased and never negative; abs = |Δ|.
 */
import type { Convention } from '../conventions.ts';
import { expectSameLength, type Numbers } from '../types.ts';

export type KlEstimator = 'k1' | 'k2' | 'k3' | 'abs';

export type KlClamp = Convention['klClamp'];

const clamp = (value: number, bound: number | null): number =>
  bound === null ? value : Math.max(-bound, Math.min(bound, value));

/** One token's estimate (nats) from Δ = log π − log ref. */
export function klOfLogRatio(estimator: KlEstimator, logRatio: number, bounds?: KlClamp): number {
  const delta = clamp(logRatio, bounds?.input ?? null);
  return clamp(estimate(estimator, delta), bounds?.output ?? null);
}

function estimate(estimator: KlEstimator, delta: number): number {
  switch (estimator) {
    case 'k1':
      return delta;
    case 'k2':
      return (delta * delta) / 2;
    case 'k3':
      // expm1 keeps the digits that exp(−Δ) − 1 loses for small Δ
      return Math.expm1(-delta) + delta;
    case 'abs':
      return Math.abs(delta);
  }
}

/**
 * Estimates [T] (nats) times mask. logprobs [T] of π, reference [T]; mask [T]: fractions scale, and whatever stands at a masked
 * place, NaN included, gives 0.
 */
export function klTokens(
  estimator: KlEstimator,
  logprobs: Numbers,
  reference: Numbers,
  mask: Numbers,
  bounds?: KlClamp,
): number[] {
  expectSameLength('log-probabilities', logprobs, 'reference log-probabilities', reference);
  expectSameLength('log-probabilities', logprobs, 'mask entries', mask);
  return Array.from(logprobs, (logprob, t) =>
    mask[t] === 0 ? 0 : klOfLogRatio(estimator, logprob - reference[t]!, bounds) * mask[t]!,
  );
}
