/** How fast an arm learns beside another: how far into the run it has most of what the other gains. */
import { type ArmResults, curveOf } from './claim.ts';

/**
 * Evaluations until a curve reaches a level, between two of them where the line crosses it; as many as there are after the first where
 * it never does.
 */
export function timeTo(curve: readonly number[], level: number): number {
  const at = curve.findIndex((value) => value >= level);
  if (at < 0) return curve.length - 1;
  return at === 0 ? 0 : at - (curve[at]! - level) / (curve[at]! - curve[at - 1]!);
}

/**
 * Time to nine tenths of what the other arm gains in held-out sampled accuracy, as a share of the time that it takes itself. `from`: the
 * evaluation at which both begin to learn, so that rounds in which their partners learn alone count for neither.
 */
export function speed(results: ArmResults, arm: string, other: string, seed: number, from = 0): number {
  const learning = (name: string) => curveOf(results, name, seed, 'sampled').slice(from);
  const theirs = learning(other);
  const level = theirs[0]! + 0.9 * (theirs.at(-1)! - theirs[0]!);
  return timeTo(learning(arm), level) / timeTo(theirs, level);
}
