/**
 * What may be said of the change from one version to another on the same questions. Terminal, page and summary take it from here, so that none says
 * more than another. A change counts where the exact paired test of `policy eval --compare` finds it, and never on fewer than 30 questions.
 */
import { sha256Hex } from '../random.ts';
import {
  type Changes,
  type ChangeVerdict,
  COMPARED_FIGURES,
  type ComparedFigure,
  type Evaluation,
  type Tallies,
  type Tally,
} from '../schema/evaluation.ts';
import type { Interval } from './intervals.ts';
import { pairedDifference } from './paired.ts';
import { signFlipTest } from './sign-flip.ts';

/** On fewer questions nothing is said to have changed, whatever the test says: a few questions stand for no others. */
export const FEWEST_QUESTIONS = 30;
/** A change is said to be none by chance where chance alone would make one as large this rarely. */
export const LEVEL = 0.05;

/** `p` of the exact test; null where it could not be made. */
export interface Change {
  readonly verdict: ChangeVerdict;
  readonly p: number | null;
}

/** The most points of a question: a tally has one base-36 digit for each. */
const MOST_POINTS = 35;

/** Points of each question as the tally of a figure: `points` [questions], whole numbers from 0 to `of`, which is at most 35. */
export const tallyOf = (points: readonly (number | boolean)[], of = 1): Tally => ({
  of,
  points: points.map((value) => Number(value).toString(36)).join(''),
});

/** Shares in [0, 1], one a question, as a tally: to the nearest of 36 steps. */
export const tallyOfShares = (shares: readonly number[]): Tally =>
  tallyOf(
    shares.map((share) => Math.round(MOST_POINTS * share)),
    MOST_POINTS,
  );

/** Adds up the points of several answers to each of `n` questions, which are asked in turn, over and over: answer i is to question i mod n. */
export function tallyOfDraws(hits: readonly (number | boolean)[], n: number): Tally {
  const points = Array.from({ length: n }, () => 0);
  for (const [i, hit] of hits.entries()) points[i % n]! += Number(hit);
  return tallyOf(points, Math.max(1, Math.ceil(hits.length / Math.max(1, n))));
}

const pointsOf = ({ points }: Tally): number[] => Array.from(points, (digit) => Number.parseInt(digit, 36));

/** The mean of a tally, in [0, 1]; 0 of no questions. */
export const shareOf = (tally: Tally): number => {
  const points = pointsOf(tally);
  return points.length ? points.reduce((sum, value) => sum + value, 0) / (points.length * tally.of) : 0;
};

/** The points of each question summed over tallies of the same questions; undefined where they are not of the same, or one question could have more than 35. */
export function sumOfTallies(tallies: readonly (Tally | undefined)[]): Tally | undefined {
  const [first] = tallies;
  if (!first || tallies.length * first.of > MOST_POINTS) return undefined;
  const points = pointsOf(first).map(() => 0);
  for (const tally of tallies) {
    if (tally?.of !== first.of || tally.points.length !== points.length) return undefined;
    for (const [i, value] of pointsOf(tally).entries()) points[i]! += value;
  }
  return tallyOf(points, tallies.length * first.of);
}

/** Tells one list of held-out questions from another: sha256 of their texts in order. */
export const questionsHash = (tasks: readonly string[]): string =>
  sha256Hex(new Uint8Array(new TextEncoder().encode(JSON.stringify(tasks))));

/** after − before in shares, with its 95 % interval over questions. Both tallies are of the same questions. */
export function differenceOf(before: Tally, after: Tally): Interval & { readonly mean: number } {
  const shares = (tally: Tally) => pointsOf(tally).map((points) => points / tally.of);
  return pairedDifference(shares(before), shares(after));
}

/**
 * Compares two tallies of the same questions. `looks`: how many such comparisons were made of which this one was picked, as when the best of several
 * versions is compared with the last (Bonferroni).
 */
export function changeOf(before: Tally | undefined, after: Tally | undefined, looks = 1): Change {
  if (!before || !after || before.of !== after.of || before.points.length !== after.points.length)
    return { verdict: 'untested', p: null };
  const [first, second] = [pointsOf(before), pointsOf(after)];
  const differences = first.map((value, i) => second[i]! - value);
  const p = Math.min(1, looks * signFlipTest(differences));
  if (differences.length < FEWEST_QUESTIONS) return { verdict: 'few', p };
  const sum = differences.reduce((total, difference) => total + difference, 0);
  return { verdict: p >= LEVEL || sum === 0 ? 'chance' : sum > 0 ? 'rose' : 'fell', p };
}

/** A figure as it is shown; null where it was not measured. */
const shown = ({ heldOut, judge }: Evaluation, figure: ComparedFigure): number | null =>
  figure === 'judge' ? judge.fixed : heldOut[figure];

/**
 * The changes of all figures that either version has points of. A figure need not be the mean of its points, as balanced accuracies are not: where the
 * points of the questions and the figure move apart, the change counts as untested. `looks` as for `changeOf`.
 */
export function changesOf(before: Evaluation, after: Evaluation, looks = 1): Changes {
  const known = COMPARED_FIGURES.filter((figure) => before.tallies?.[figure] || after.tallies?.[figure]);
  return Object.fromEntries(
    known.map((figure) => {
      const change = changeOf(before.tallies?.[figure], after.tallies?.[figure], looks);
      const moved = (shown(after, figure) ?? 0) - (shown(before, figure) ?? 0);
      const apart = (change.verdict === 'rose' && moved <= 0) || (change.verdict === 'fell' && moved >= 0);
      return [figure, apart ? { verdict: 'untested', p: null } : change];
    }),
  );
}

/** The change of a figure from the best of several versions to the last of them; undefined where fewer than two have its points. */
export function sinceBest(
  versions: readonly (Tallies | undefined)[],
  figure: ComparedFigure,
): Change | undefined {
  const tallies = versions.flatMap((version) => version?.[figure] ?? []);
  const last = tallies.at(-1);
  if (!last || tallies.length < 2) return undefined;
  const best = tallies.reduce((a, b) => (shareOf(b) > shareOf(a) ? b : a));
  return changeOf(best, last, tallies.length - 1);
}

/** A probability as sentences give it: "p = 0.031", "p < 0.001". */
export const pWords = (p: number): string => (p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`);

/** What is said of so few questions, before and after a run. */
export const fewWords = (n: number): string =>
  `${n} held-out ${n === 1 ? 'question is' : 'questions are'} too few to tell a change from chance (${FEWEST_QUESTIONS} are needed)`;
