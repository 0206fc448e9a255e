/** What a held-out evaluation says. A figure that a recipe cannot have is null: not measured is not zero. */

export interface HeldOut {
  readonly n: number;
  /** Share of exact greedy answers, or the recipe's main score from 0 to 1. */
  readonly accuracy: number;
  /** Shares of exact answers when sampled at the recipe's temperature, and greedy with the steps forced. */
  readonly sampled: number | null;
  readonly forcedWorked: number | null;
  /** Share of greedy answers that write their steps, and that keep to the grammar. */
  readonly worked: number | null;
  readonly formatRate: number | null;
}

export interface JudgeAccuracy {
  /** Balanced accuracy of greedy verdicts on a fixed set: what version 0 samples on the held-out tasks. */
  readonly fixed: number | null;
  /** The same on what the evaluated policy itself samples. */
  readonly own: number | null;
}

export interface Evaluation {
  readonly heldOut: HeldOut;
  readonly judge: JudgeAccuracy;
  /** Further figures by name: what the recipe's claim is about. */
  readonly figures?: Readonly<Record<string, number>>;
}

/** An evaluation of which only the named figures were measured. */
export const evaluation = (
  heldOut: Pick<HeldOut, 'n' | 'accuracy'> & Partial<HeldOut>,
  figures: Readonly<Record<string, number>> = {},
  judge: Partial<JudgeAccuracy> = {},
): Evaluation => ({
  heldOut: { sampled: null, forcedWorked: null, worked: null, formatRate: null, ...heldOut },
  judge: { fixed: null, own: null, ...judge },
  figures,
});
