/** The synthesizer's part of TTCS: it is shown a test question and writes variants of it, which are paid by how the solver answers them. */
import { learnability } from '../../core/rl/rewards/index.ts';
import { charBleu } from '../../core/text/bleu.ts';

export const SYNTHESIZER = 'synthesizer';

/** The exponent of the reward for difficulty. */
const EXPONENT = 1.2;
/** A variant whose text is more like its source than this is too close to it. */
const CLOSE = 0.5;

/** What is left of a chain without its digits: '3+4-9' -> '+-'. */
const skeletonOf = (task: string): string => task.replace(/\d/g, '');

/** Whether a variant is too close to its source: its text is nearly the same, or all of its operators are. */
export const isClose = (variant: string, source: string): boolean =>
  skeletonOf(variant) === skeletonOf(source) || charBleu(variant, source) > CLOSE;

/**
 * What a variant earns. `share`: that of the solver's most frequent answer among all attempts; `likeness`: the similarity to its source that is
 * discounted, in [0, 1], 0 for none; `repeated`: the share of the batch in the variant's cluster. (4s(1 − s))^1.2 · (1 − likeness) − repeated, and
 * never less than 0.
 */
export const variantReward = (share: number, likeness: number, repeated: number): number =>
  Math.max(0, learnability(share) ** EXPONENT * (1 - likeness) - repeated);
