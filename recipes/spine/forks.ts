/** Which tokens of an answer are forks, and the band in which their entropy is to stay. Pure functions over entropies in nats. */
import type { EntropyBounds } from '../../core/plan/training-plan.ts';
import type { Numbers } from '../../core/rl/types.ts';

/** The number of tokens in a share of so many, at least one. */
export const countOf = (share: number, tokens: number): number =>
  Math.min(tokens, Math.max(1, Math.ceil(share * tokens)));

/** A mask [tokens]: 1 at the given places, 0 at the others. */
export function maskOf(places: readonly number[], tokens: number): number[] {
  const chosen = new Set(places);
  return Array.from({ length: tokens }, (_, t) => Number(chosen.has(t)));
}

/** A mask [tokens]: 1 on the share of tokens with the highest entropies, the earlier of equal ones first; 0 elsewhere. entropies [tokens] */
export function forkMask(entropies: Numbers, share: number): number[] {
  const places = Array.from(entropies, (_, t) => t).sort((a, b) => entropies[b]! - entropies[a]! || a - b);
  return maskOf(places.slice(0, countOf(share, entropies.length)), entropies.length);
}

/** The quantile of some values at a share, interpolated linearly. values [n]; NaN without values. */
export function quantile(values: Numbers, share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Array.from(values).sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (at - below) * (sorted[above]! - sorted[below]!);
}

/** The band between two quantiles of some entropies. */
export const bandBetween = (entropies: Numbers, low: number, high: number): EntropyBounds => ({
  low: quantile(entropies, low),
  high: quantile(entropies, high),
});
