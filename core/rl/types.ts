/** The types of this folder, whose functions take and return plain arrays. Log-probabilities and KL are in nats, lengths in tokens. */
import { wrongInput } from '../errors.ts';

/** Numbers in any kind of array. */
export type Numbers = ArrayLike<number>;

/** null = missing: there is no value. Missing is not zero: it enters no statistic and gets no advantage. */
export type Maybe = number | null;

/** The key of the group, task type, role or class that an item belongs to. */
export type Key = string | number | boolean;

/** Throws unless both lists have the same length. */
export function expectSameLength(
  left: string,
  a: { readonly length: number },
  right: string,
  b: { readonly length: number },
): void {
  if (a.length === b.length) return;
  throw wrongInput('rl.length', `${a.length} ${left} came with ${b.length} ${right}.`, {
    expected: `one of the ${right} for each of the ${left}`,
    next: 'Pass arrays of equal length.',
  });
}
