/**
 * Contrastive evidence: how much likelier a token of an attempt is where the prompt tells a right answer than where it tells a rejected one. Pure
 * functions over log-probabilities in nats.
 */
import type { TokenIds } from '../../core/policy/policy.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Numbers } from '../../core/rl/types.ts';

/** Between which factors a token's weight stays. */
const CLIP = { low: 0.8, high: 1.2 } as const;
/** The share of the advantage that is weighted in the first round, and after how many rounds it is 0. */
const LAMBDA = { first: 0.5, rounds: 25 } as const;

/** λ of a round, the first of which has number 1: it falls by the same amount each round. */
export const lambdaOf = (round: number): number =>
  LAMBDA.first * Math.max(0, 1 - (round - 1) / LAMBDA.rounds);

/** Δ = log P(token | right) - log P(token | other) [tokens]. */
export const evidenceOf = (right: Numbers, other: Numbers): number[] =>
  Array.from(right, (logprob, t) => logprob - other[t]!);

/**
 * A·((1 - λ) + λ·w) for each token, with w = exp(sign(A)·Δ) within [0.8, 1.2]: tokens that speak for the outcome of their attempt get more of its
 * advantage. The sign of an advantage never changes. evidence [tokens], nats -> [tokens]
 */
export const weighted = (advantage: number, evidence: Numbers, lambda: number): number[] =>
  Array.from(evidence, (delta) => {
    const weight = Math.min(CLIP.high, Math.max(CLIP.low, Math.exp(Math.sign(advantage) * delta)));
    return advantage * (1 - lambda + lambda * weight);
  });

/** The first token at which an attempt parts from another text; null where it never does. */
export function partsAt(ids: TokenIds, other: TokenIds): number | null {
  const at = ids.findIndex((id, t) => id !== other[t]);
  return at < 0 ? null : at;
}

/** An attempt with the evidence at its tokens, and where it is decided. */
export interface Decided {
  readonly exact: boolean;
  /** Δ [tokens], nats. */
  readonly evidence: Numbers;
  /** The token at which it parts from what it is told apart from. */
  readonly decisive: number;
}

/**
 * Means in nats of the evidence for the outcome of its attempt, which is Δ in an exact attempt and -Δ in another: at decisive tokens, at those before
 * them and at those behind. A mean over no tokens is left out.
 */
export function evidenceFigures(attempts: readonly Decided[]): Record<string, number> {
  const over = (chosen: (token: number, decisive: number) => boolean) =>
    attempts.flatMap(({ exact, evidence, decisive }) =>
      Array.from(evidence, (delta) => (exact ? delta : -delta)).filter((_, t) => chosen(t, decisive)),
    );
  const figures = {
    atDecisive: over((t, decisive) => t === decisive),
    before: over((t, decisive) => t < decisive),
    behind: over((t, decisive) => t > decisive),
  };
  return Object.fromEntries(
    Object.entries(figures).flatMap(([name, values]) => (values.length ? [[name, mean(values)]] : [])),
  );
}
