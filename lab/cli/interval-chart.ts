/** Draws 95 % intervals as an SVG file: one row per name, a dot with its interval for each series, and a line at 0. */
import { framed, inkOf, shape, type Titles, ticks } from 'rollmesh/charts';

interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export interface IntervalChart extends Titles {
  readonly names: readonly string[];
  readonly series: readonly {
    readonly name: string;
    /** In the order of the names; undefined where it was not measured. */
    readonly intervals: readonly (Interval | undefined)[];
  }[];
}

const WIDTH = 720;
const LEFT = 190;
const RIGHT = WIDTH - 24;
const TOP = 52;
const BOTTOM = 40;
const ROW = 30;
/** Between the rows of two series. */
const APART = 10;
/** An interval that goes further is cut off there, with an arrow. */
const MOST = 0.6;

/** Draws the chart. Values are shares; the axis shows points, from -60 to 60. */
export function intervalChart({ title, xTitle, names, series }: IntervalChart): string {
  const bottom = TOP + names.length * ROW;
  const x = (value: number) =>
    LEFT + ((Math.min(MOST, Math.max(-MOST, value)) + MOST) / (2 * MOST)) * (RIGHT - LEFT);
  const middle = (row: number) => TOP + row * ROW + ROW / 2;
  const grid = ticks(-MOST, MOST, 6).flatMap((tick) => [
    shape('line', { x1: x(tick), x2: x(tick), y1: TOP, y2: bottom, class: tick === 0 ? 'zero' : 'grid' }),
    shape('text', { x: x(tick), y: bottom + 16, 'text-anchor': 'middle' }, String(Math.round(100 * tick))),
  ]);
  const rows = names.map((name, row) =>
    shape('text', { x: LEFT - 10, y: middle(row) + 4, 'text-anchor': 'end' }, name),
  );
  const legend = series.map(({ name }, s) =>
    shape(
      'g',
      { class: `legend ink-${inkOf(s)}` },
      shape('circle', { cx: LEFT + 6 + s * 90, cy: 38, r: 4 }),
      shape('text', { x: LEFT + 16 + s * 90, y: 42 }, name),
    ),
  );
  const marks = series.map(({ intervals }, s) =>
    shape(
      'g',
      { class: `series ink-${inkOf(s)}` },
      ...intervals.flatMap((interval, row) =>
        interval ? drawnInterval(interval, x, middle(row) + (s - (series.length - 1) / 2) * APART) : [],
      ),
    ),
  );
  return framed(
    { title, xTitle },
    { width: WIDTH, height: bottom + BOTTOM, from: LEFT, to: RIGHT },
    shape('g', { class: 'axes' }, ...grid, ...rows),
    ...legend,
    ...marks,
  );
}

function drawnInterval({ mean, low, high }: Interval, x: (value: number) => number, y: number) {
  const arrows = [low, high]
    .filter((end) => Math.abs(end) > MOST)
    .map((end) =>
      shape('path', { d: `M${x(end).toFixed(1)} ${y}m${end < 0 ? '5 -4l-5 4l5 4' : '-5 -4l5 4l-5 4'}` }),
    );
  return [
    shape('path', { d: `M${x(low).toFixed(1)} ${y}H${x(high).toFixed(1)}` }),
    ...arrows,
    shape('circle', { cx: x(mean), cy: y, r: 4 }),
  ];
}
