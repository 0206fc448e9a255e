/** The report of a held-out evaluation. A figure that a recipe cannot have is null: not measured is not zero. */
import * as v from 'valibot';
import { count, figures, finite, hash, measured, positive } from './numbers.ts';

/** The points of each question behind a share, one base-36 digit a question, each from 0 to `of`: "0110" of 1 are four answers, two of them right. */
export const tally = v.object({
  of: v.pipe(positive, v.maxValue(35)),
  points: v.pipe(v.string(), v.regex(/^[0-9a-z]*$/)),
});
export type Tally = Readonly<v.InferOutput<typeof tally>>;

/** The figures of which two versions may be compared question by question. */
export const COMPARED_FIGURES = ['accuracy', 'sampled', 'worked', 'forcedWorked', 'judge'] as const;
export type ComparedFigure = (typeof COMPARED_FIGURES)[number];

const byFigure = <S extends v.GenericSchema>(schema: S) =>
  v.partial(v.object(v.entriesFromList(COMPARED_FIGURES, schema)));

/** What may be said of a change: it rose or fell beyond chance, is within chance, there are too few questions to tell, or it cannot be tested. */
export const CHANGE_VERDICTS = ['rose', 'fell', 'chance', 'few', 'untested'] as const;
export type ChangeVerdict = (typeof CHANGE_VERDICTS)[number];

/** The change of each figure since the version that the run began from; `p` of the exact paired test, null where it could not be made. */
export const changes = byFigure(v.object({ verdict: v.picklist(CHANGE_VERDICTS), p: measured }));
export type Changes = Readonly<v.InferOutput<typeof changes>>;

export const heldOut = v.object({
  n: count,
  /** `questionsHash` of the questions; absent where the recipe does not say which they are. */
  questions: v.exactOptional(hash),
  /** Share of exact greedy answers, or the recipe's main score from 0 to 1. */
  accuracy: finite,
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
  /** Further figures by name: what the recipe is about. */
  figures: v.exactOptional(figures),
  /** What each question gave, for the figures where a question gives points: what versions are compared by. `judge`: a hit for each of the fixed set. */
  tallies: v.exactOptional(byFigure(tally)),
});
export type Evaluation = Readonly<v.InferOutput<typeof evaluationResult>>;
export type Tallies = NonNullable<Evaluation['tallies']>;

/** Held-out figures with what each question gave. */
export type TalliedHeldOut = HeldOut & { readonly tallies?: Tallies };

/** Makes an evaluation in which only the named figures were measured. */
export const evaluation = (
  { tallies, ...measuredHere }: Pick<HeldOut, 'n' | 'accuracy'> & Partial<TalliedHeldOut>,
  figuresHere: Readonly<Record<string, number>> = {},
  judge: Partial<JudgeAccuracy> = {},
): Evaluation => ({
  heldOut: { sampled: null, forcedWorked: null, worked: null, formatRate: null, ...measuredHere },
  judge: { fixed: null, own: null, ...judge },
  figures: figuresHere,
  ...(tallies ? { tallies } : {}),
});
