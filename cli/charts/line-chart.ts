/** Draws curves over rounds as an SVG file, by the page's own chart: one ink per series, the mean of its runs as a line, and their range as a band. */

import { mean } from '../../core/rl/statistics.ts';
import { Geometry, inkOf, picture } from '../../web/dashboard/chart-image.js';
import { shape } from '../../web/dashboard/drawing.js';
import { percent } from '../../web/dashboard/figures.js';
import { framed, type Titles } from './frame.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Series {
  readonly name: string;
  readonly runs: readonly (readonly Point[])[];
}

export interface Chart extends Titles {
  readonly series: readonly Series[];
}

const WIDTH = 640;
const HEIGHT = 300;
/** Above the curves, for the title; right of them, for the names of the series; and below them, for the name of the axis. */
const TOP = 28;
const NAMES = 130;
const BOTTOM = 20;
/** Between the names of two series, px. */
const APART = 14;

/** What all runs of a series have at each of some x: their mean, lowest and highest; undefined where one of them has none. */
function overRuns(runs: Series['runs'], xs: readonly number[]) {
  const found = xs.map((x) => {
    const values = runs.map((run) => run.find((point) => point.x === x)?.y);
    return values.length && values.every((value) => value !== undefined) ? values : undefined;
  });
  return {
    values: found.map((values) => values && mean(values)),
    ...(runs.length > 1 && {
      low: found.map((values) => values && Math.min(...values)),
      high: found.map((values) => values && Math.max(...values)),
    }),
  };
}

/** Draws the chart. y is a share: its axis goes from 0 to 100 %. */
export function lineChart({ title, xTitle, series }: Chart): string {
  const xs = [...new Set(series.flatMap(({ runs }) => runs.flat().map(({ x }) => x)))].sort((a, b) => a - b);
  const plot = {
    xs,
    end: Math.max(1, ...xs),
    least: [0, 1] as const,
    write: percent,
    read: (value: number | null | undefined) => percent(value, 1),
    series: series.map(({ name, runs }, i) => ({ name, ink: inkOf(i), ...overRuns(runs, xs) })),
  };
  const at = new Geometry(plot, WIDTH - NAMES, HEIGHT - TOP - BOTTOM);
  const drawing = picture(plot, at, { id: 'chart', title });
  const ends = plot.series.map(({ values }) => at.y(values.findLast((value) => value !== undefined) ?? 0));
  const places = spreadLabels(ends);
  return framed(
    { title, xTitle },
    { width: WIDTH, height: HEIGHT, from: at.left, to: at.right },
    shape('g', { class: 'lines', transform: `translate(0 ${TOP})` }, drawing),
    ...plot.series.map(({ name, ink }, i) =>
      shape(
        'g',
        { class: `legend ink-${ink}` },
        shape('text', { x: at.right + 8, y: TOP + places[i]! + 4 }, name),
      ),
    ),
  );
}

/** Moves labels apart so that none covers another; the order from top to bottom is kept. */
function spreadLabels(places: readonly number[]): number[] {
  const order = places.map((_, i) => i).sort((a, b) => places[a]! - places[b]!);
  const out = [...places];
  for (const [rank, i] of order.entries())
    if (rank > 0) out[i] = Math.max(out[i]!, out[order[rank - 1]!]! + APART);
  return out;
}
