/** Soft punishment of answers that come close to the length limit, added to the reward; lengths in tokens. */

export interface OverlongOptions {
  /** No answer can be longer than this. */
  readonly maxLength: number;
  /** The punishment grows over this many last tokens. */
  readonly buffer: number;
  /** Punishment at the limit. */
  readonly factor: number;
}

/** DAPO, as in OpenRLHF: 0 up to maxLength − buffer, then linear to −factor, and no further. */
export const overlongPenalty = (length: number, { maxLength, buffer, factor }: OverlongOptions): number =>
  -(Math.min(Math.max(0, length - (maxLength - buffer)), buffer) / buffer) * factor;

/** AReaL's: the same line, not capped, so that what lies beyond the limit is punished further. */
export const overlongPenaltyUncapped = (
  length: number,
  { maxLength, buffer, factor }: OverlongOptions,
): number => -(Math.max(0, length - (maxLength - buffer)) / buffer) * factor;
