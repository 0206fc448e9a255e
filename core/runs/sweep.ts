/** A sweep: runs that differ in a few settings and in their seeds, and what came of them. */
import { wrongInput } from '../errors.ts';
import type { Summary } from '../schema/summary.ts';
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

/** What the runs of a point came to; accuracies are shares of held-out tasks. */
export interface PointResult {
  readonly point: Point;
  readonly seeds: number;
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
    start: mean(runs.map(({ heldout }) => heldout[0]!.accuracy)),
    greedy: tInterval(last.map(({ accuracy }) => accuracy)),
    sampled: sampled.every((value) => value !== null) ? tInterval(sampled as number[]) : null,
    tokens: mean(runs.map(({ tokens }) => tokens.generated + tokens.trained)),
    minutes: mean(runs.map(({ wallMs }) => wallMs)) / 60_000,
  };
}

/** The results, the best greedy mean first. */
export const ranked = (results: readonly PointResult[]): PointResult[] =>
  [...results].sort((a, b) => b.greedy.mean - a.greedy.mean);
