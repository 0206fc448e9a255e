/** A sweep: runs that differ in a few settings and in their seeds, and what came of them. */
import { wrongInput } from '../errors.ts';
import type { ChangeVerdict, Tally } from '../schema/evaluation.ts';
import type { Summary } from '../schema/summary.ts';
import { changeOf, differenceOf, sumOfTallies } from '../statistics/change.ts';
import type { Interval } from '../statistics/intervals.ts';
import { tInterval } from '../statistics/t-interval.ts';

/** A setting and the values that it takes, as the command line writes them. */
export interface Axis {
  readonly name: string;
  readonly values: readonly string[];
}

/** A value for every axis, in the order of the axes. */
export type Point = readonly string[];

/** Parses `NAME=A,B`. Throws `sweep.over`. */
export function axisOf(text: string): Axis {
  const [, name, list] = /^([A-Za-z][\w.-]*)=(.+)$/s.exec(text) ?? [];
  const values = (list ?? '').split(',').map((value) => value.trim());
  if (name === undefined || values.includes(''))
    throw wrongInput('sweep.over', `--over ${JSON.stringify(text)} cannot be read.`, {
      expected: 'NAME=VALUE,VALUE as in optimizer.learningRate=1e-5,3e-5 or group-size=8,16',
    });
  const twice = values.find((value, i) => values.indexOf(value) < i);
  if (twice !== undefined)
    throw wrongInput('sweep.over', `--over ${name} has the value ${twice} twice.`, {
      next: 'Leave one out.',
    });
  return { name, values };
}

/** Every combination of values, the last axis changing first. Throws `sweep.over` where two axes have the same name. */
export function pointsOf(axes: readonly Axis[]): Point[] {
  const twice = axes.find(({ name }, i) => axes.findIndex((axis) => axis.name === name) < i);
  if (twice)
    throw wrongInput('sweep.over', `--over names ${twice.name} twice.`, {
      next: `List all of its values once: --over ${twice.name}=A,B.`,
    });
  return axes.reduce<Point[]>(
    (points, { values }) => points.flatMap((point) => values.map((value) => [...point, value])),
    [[]],
  );
}

/** The name of a point, for files and charts: the values of its settings. */
export const pointName = (axes: readonly Axis[], point: Point): string =>
  axes.length ? axes.map(({ name }, i) => `${name}=${point[i]}`).join(',') : 'as-it-is';

/** A part of a sweep that stops early: so many points are played to so many rounds. */
export interface Rung {
  readonly points: number;
  readonly rounds: number;
}

/**
 * Successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization", 2016, arXiv:1502.07943), with its rungs as ASHA has
 * them (Li et al., 2020, arXiv:1810.05934): rung k of K plays ⌊n/ηᵏ⌋ points to R/η^(K−k) rounds, K the largest number of which each rung has a point and a round more
 * than the one before. η = 1: one rung of all points.
 */
export function rungsOf(points: number, rounds: number, eta: number): Rung[] {
  const kept = (k: number) => Math.floor(points / eta ** k);
  const least = (k: number) => Math.round(rounds / eta ** k);
  let last = 0;
  while (eta > 1 && kept(last + 1) >= 1 && least(last + 1) >= 1 && least(last + 1) < least(last)) last++;
  return Array.from({ length: last + 1 }, (_, k) => ({ points: kept(k), rounds: least(last - k) }));
}

/** The last evaluation until a round; of a run that was played farther before, and has none but of its start until then, the first one after. */
const evaluatedAt = ({ heldout }: Summary, round: number) => {
  const trained = heldout.filter((point) => point.round > 0);
  return trained.findLast((point) => point.round <= round) ?? trained[0]!;
};

/**
 * The best `keep` of some points after a round, in the order in which they stand: by greedy accuracy, a mean over seeds, of equals by sampled accuracy, of equals those that
 * stand first. `runs`: [points][seeds].
 */
export function bestPoints(runs: readonly (readonly Summary[])[], round: number, keep: number): number[] {
  const scores = runs.map((seeds) => {
    const points = seeds.map((run) => evaluatedAt(run, round));
    return {
      greedy: mean(points.map(({ accuracy }) => accuracy)),
      sampled: mean(points.map(({ sampled }) => sampled ?? 0)),
    };
  });
  const better = (a: number, b: number) =>
    scores[b]!.greedy - scores[a]!.greedy || scores[b]!.sampled - scores[a]!.sampled || a - b;
  return scores
    .map((_, i) => i)
    .sort(better)
    .slice(0, keep)
    .sort((a, b) => a - b);
}

/** What the runs of a point came to; accuracies are shares of held-out tasks. */
export interface PointResult {
  readonly point: Point;
  readonly seeds: number;
  /** Rounds that were played. */
  readonly rounds: number;
  /** Greedy accuracy of the version that the runs began from, its mean over seeds. */
  readonly start: number;
  /** Greedy accuracy of the last version, with the 95 % t-interval over seeds; unbounded for a single seed. */
  readonly greedy: { readonly mean: number; readonly low: number; readonly high: number };
  /** The same when sampled at the recipe's temperature; null where it is not measured. */
  readonly sampled: { readonly mean: number; readonly low: number; readonly high: number } | null;
  /** Tokens generated and trained, a run. */
  readonly tokens: number;
  readonly minutes: number;
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

/** The result of a point's runs, which must have evaluations. */
export function resultOf(point: Point, runs: readonly Summary[]): PointResult {
  const last = runs.map(({ heldout }) => heldout.at(-1)!);
  const sampled = last.map((end) => end.sampled);
  return {
    point,
    seeds: runs.length,
    rounds: Math.max(...runs.map(({ rounds }) => rounds)),
    start: mean(runs.map(({ heldout }) => heldout[0]!.accuracy)),
    greedy: tInterval(last.map(({ accuracy }) => accuracy)),
    sampled: sampled.every((value) => value !== null) ? tInterval(sampled as number[]) : null,
    tokens: mean(runs.map(({ tokens }) => tokens.generated + tokens.trained)),
    minutes: mean(runs.map(({ wallMs }) => wallMs)) / 60_000,
  };
}

/** The results, the best greedy mean first, of equals the best sampled one. */
export const ranked = (results: readonly PointResult[]): PointResult[] =>
  [...results].sort(
    (a, b) => b.greedy.mean - a.greedy.mean || (b.sampled?.mean ?? 0) - (a.sampled?.mean ?? 0),
  );

/** A point as against the best one, question by question. */
export interface AgainstBest {
  /** Point − best, in shares, with its 95 % interval over questions. */
  readonly difference: Interval & { readonly mean: number };
  readonly verdict: ChangeVerdict;
  readonly p: number | null;
}

/**
 * Tests the last versions of points against those of the best, on the same held-out questions, each question's answers summed over seeds. `answers`: [points][seeds], the
 * greedy answers of each run's last version, the best point's first. p is of the exact paired test, times the number of comparisons (Bonferroni). Null where the answers
 * cannot be paired.
 */
export function againstBest(answers: readonly (readonly (Tally | undefined)[])[]): (AgainstBest | null)[] {
  const sums = answers.map(sumOfTallies);
  const [best, ...others] = sums;
  return others.map((other) => {
    const change = changeOf(best, other, others.length);
    if (!best || !other || change.verdict === 'untested') return null;
    return { difference: differenceOf(best, other), ...change };
  });
}
