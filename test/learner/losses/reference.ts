/**
 * A second implementation of the policy objectives in float64, token by token. `x0` are the log-probabilities with the gradient
 * stopped: the value of a loss is at x0 = x, its gradient the derivative by x alone.
 */
import type { Batch } from './batch.ts';

export type Reference = (x: readonly number[], x0: readonly number[], batch: Batch) => number[];

const clip = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));

/** ℓ_t from the token's log π, detached log π, old log-probability and advantage. */
const perToken =
  (f: (x: number, x0: number, old: number, advantage: number) => number): Reference =>
  (x, x0, { old, advantages, mask }) =>
    x.map((value, t) => (mask[t] === 0 ? 0 : f(value, x0[t]!, old[t]!, advantages[t]!)));

/** Mean over the counted tokens of the sequence of token t. */
export function sequenceMean(values: readonly number[], t: number, { mask, sequence }: Batch): number {
  const mine = values.filter((_, i) => mask[i] !== 0 && sequence[i] === sequence[t]);
  return mine.reduce((a, b) => a + b, 0) / mine.length;
}

const clippedSurrogate = (ratio: number, a: number, low: number, high: number): number =>
  Math.max(-ratio * a, -clip(ratio, 1 - low, 1 + high) * a);

export const references = {
  ppo: perToken((x, _, old, a) => clippedSurrogate(Math.exp(x - old), a, 0.2, 0.28)),
  dual: perToken((x, _, old, a) => {
    const loss = clippedSurrogate(Math.exp(x - old), a, 0.2, 0.28);
    return a < 0 ? Math.min(loss, -1.5 * a) : loss;
  }),
  cispo: perToken((x, x0, old, a) => -clip(Math.exp(x0 - old), 0.8, 1.28) * a * x),
  aipo: perToken((x, x0, old, a) => -Math.min(Math.exp(x0 - old), 1.3) * a * x),
  reinforce: perToken((x, _, __, a) => -a * x),
  sapo: perToken((x, _, old, a) => {
    const tau = a > 0 ? 1 : 1.05;
    return (-4 / tau / (1 + Math.exp(-tau * (Math.exp(x - old) - 1)))) * a;
  }),
  dppo: perToken((x, x0, old, a) => {
    const moved = Math.exp(x0) - Math.exp(old);
    const dropped = a > 0 ? moved > 0.05 : moved < -0.05;
    return (dropped ? 0 : -a * Math.exp(x - old)) + 0.1 * (x - old) ** 2;
  }),
  gspo: (x, x0, batch) =>
    x.map((value, t) => {
      if (batch.mask[t] === 0) return 0;
      const log = sequenceMean(
        x0.map((v, i) => v - batch.old[i]!),
        t,
        batch,
      );
      return clippedSurrogate(Math.exp(log + value - x0[t]!), batch.advantages[t]!, 0.2, 0.28);
    }),
  gmpo: (x, _, batch) =>
    x.map((__, t) => {
      if (batch.mask[t] === 0) return 0;
      const kept = x.map((v, i) => {
        const log = v - batch.old[i]!;
        return batch.advantages[i]! >= 0 ? Math.min(log, 0.4) : Math.max(log, -0.3);
      });
      return -batch.advantages[t]! * Math.exp(sequenceMean(kept, t, batch));
    }),
} satisfies Record<string, Reference>;

/** Σ w·ℓ and its derivative by x, by central differences in float64. */
export function valueAndGradient(reference: Reference, batch: Batch): { value: number; gradient: number[] } {
  const x0 = batch.logprobs;
  const total = (x: readonly number[]): number =>
    reference(x, x0, batch).reduce((sum, loss, t) => sum + loss * batch.weights[t]!, 0);
  const step = 1e-5;
  const gradient = x0.map((_, t) => {
    const at = (delta: number): number => total(x0.map((value, i) => (i === t ? value + delta : value)));
    return (at(step) - at(-step)) / (2 * step);
  });
  return { value: total(x0), gradient };
}
