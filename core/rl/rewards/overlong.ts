/** A soft penalty for answers that come close to the length limit, which is added to the reward; lengths are in tokens. */

export interface OverlongOptions {
  /** No answer can be longer than this. */
  readonly maxLength: number;
  /** The penalty grows over this many tokens before the limit. */
  readonly buffer: number;
  /** The size of the penalty at the limit. */
  readonly factor: number;
}

/** DAPO's penalty, as in OpenRLHF: 0 up to maxLength − buffer, then linear to −factor, and no further. */
export const overlongPenalty = (length: number, { maxLength, buffer, factor }: OverlongOptions): number =>
  -(Math.min(Math.max(0, length - (maxLength - buffer)), buffer) / buffer) * factor;

/** AReaL's penalty: the same line, not capped, so that lengths beyond the limit are penalised further. */
export const overlongPenaltyUncapped = (
  length: number,
  { maxLength, buffer, factor }: OverlongOptions,
): number => -(Math.max(0, length - (maxLength - buffer)) / buffer) * factor;
