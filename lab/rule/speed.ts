/** The speed at which an arm learns, compared with another arm: the time that each takes to make most of the other's gain. */
import type { ArmResults } from './claim.ts';
import { curveOf } from './curves.ts';

/**
 * The number of evaluations until a curve reaches a level, interpolated linearly between the two where it crosses the level. Infinity where
 * it never does: how long it would have taken is not known.
 */
export function timeTo(curve: readonly number[], level: number): number {
  const at = curve.findIndex((value) => value >= level);
  if (at < 0) return Number.POSITIVE_INFINITY;
  return at === 0 ? 0 : at - (curve[at]! - level) / (curve[at]! - curve[at - 1]!);
}

/**
 * The time that `arm` takes to make nine tenths of the gain of `other` in held-out sampled accuracy, divided by the time that `other`
 * takes. Infinity where `arm` never arrives, NaN where `other` gains nothing. `from`: the evaluation at which both begin to learn, so that
 * rounds in which only their partners learn count for neither.
 */
export function speed(results: ArmResults, arm: string, other: string, seed: number, from = 0): number {
  const learning = (name: string) => curveOf(results, name, seed, 'sampled').slice(from);
  const theirs = learning(other);
  const gain = theirs.at(-1)! - theirs[0]!;
  if (!(gain > 0)) return Number.NaN;
  const level = theirs[0]! + 0.9 * gain;
  return timeTo(learning(arm), level) / timeTo(theirs, level);
}
