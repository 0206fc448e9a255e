/** The report of a held-out evaluation. A figure that a recipe cannot have is null: not measured is not zero. */
import * as v from 'valibot';
import { count, figures, measured } from './numbers.ts';

export const heldOut = v.object({
  n: count,
  /** Share of exact greedy answers, or the recipe's main score from 0 to 1. */
  accuracy: v.number(),
  /** Shares of exact answers when sampled at the recipe's temperature, and greedy with the steps forced. */
  sampled: measured,
  forcedWorked: measured,
  /** Shares of greedy answers that write their steps, and that keep to the grammar. */
  worked: measured,
  formatRate: measured,
});
export type HeldOut = Readonly<v.InferOutput<typeof heldOut>>;

export const judgeAccuracy = v.object({
  /** Balanced accuracy of greedy verdicts on a fixed set: the answers that version 0 samples on the held-out tasks. */
  fixed: measured,
  /** The same on the answers that the evaluated policy itself samples. */
  own: measured,
});
export type JudgeAccuracy = Readonly<v.InferOutput<typeof judgeAccuracy>>;

export const evaluationResult = v.object({
  heldOut,
  judge: judgeAccuracy,
  /** Further figures by name: what the recipe's claim is about. */
  figures: v.exactOptional(figures),
});
export type Evaluation = Readonly<v.InferOutput<typeof evaluationResult>>;

/** Makes an evaluation in which only the named figures were measured. */
export const evaluation = (
  measuredHere: Pick<HeldOut, 'n' | 'accuracy'> & Partial<HeldOut>,
  figuresHere: Readonly<Record<string, number>> = {},
  judge: Partial<JudgeAccuracy> = {},
): Evaluation => ({
  heldOut: { sampled: null, forcedWorked: null, worked: null, formatRate: null, ...measuredHere },
  judge: { fixed: null, own: null, ...judge },
  figures: figuresHere,
});
