/** Draws a chart's axes, lines and shading at a given size, for the page and for the documentation. The caller decides what it shows. Pure. */
import { shape } from './drawing.js';
import { MISSING } from './figures.js';
import { bounds, thin, ticks } from './scales.js';

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {number} ink Which of the page's inks, 1 to 8; also decides the dashes.
 * @property {readonly (number | null | undefined)[]} values By place on the axis; undefined = not measured there (the line
 *   goes on), null = measured and missing (the line breaks).
 * @property {Series['values']} [measured] The values before they were smoothed, drawn faintly behind the line.
 * @property {readonly (number | null | undefined)[]} [low] Lower edge of a band around the line, as long as `values`.
 * @property {readonly (number | null | undefined)[]} [high] Upper edge of the band.
 */

/**
 * @typedef {object} Plot
 * @property {readonly number[]} xs Places on the axis, rounds or sampled tokens; ascending, as long as every series.
 * @property {number} [from] Where that axis begins; 0 where nothing is said.
 * @property {number} end Where it ends.
 * @property {{ readonly name: string, readonly write: (x: number) => string, readonly read: (x: number) => string }} [axis] Its name, and how a place on it is
 *   written below it and read at the cursor; rounds where nothing is said.
 * @property {readonly Series[]} series
 * @property {readonly [number, number]} least The bounds that the value axis has at least.
 * @property {(value: number | null | undefined) => string} write For the axis.
 * @property {(value: number | null | undefined) => string} read For single values.
 * @property {{ readonly value: number, readonly name: string }} [reference]
 * @property {boolean} [between] Shade what lies between the first two series.
 * @property {readonly number[]} [marks] Places marked on the axis, those of rounds with warnings.
 */

/** @typedef {import('./scales.js').Point} Point */

const INKS = 8;

/** The ink of a series by its place, 1 to 8. @param {number} place */
export const inkOf = (place) => (place % INKS) + 1;

export const MARGIN = { top: 10, right: 10, bottom: 22, left: 44 };

/** Where places on the axis and values lie in the picture, in pixels. */
export class Geometry {
  /**
   * @param {Plot} plot
   * @param {number} width
   * @param {number} height
   */
  constructor(plot, width, height) {
    this.width = width;
    this.height = height;
    this.left = MARGIN.left;
    this.right = width - MARGIN.right;
    this.bottom = height - MARGIN.bottom;
    this.from = plot.from ?? 0;
    this.end = plot.end;
    const values = plot.series
      .flatMap(({ values, measured = [], low = [], high = [] }) => [...values, ...measured, ...low, ...high])
      .filter((value) => typeof value === 'number');
    const [low, high] = bounds(values, plot.least);
    this.low = low;
    this.high = high;
  }

  /** @param {number} place */
  x(place) {
    return this.left + ((this.right - this.left) * (place - this.from)) / (this.end - this.from);
  }

  /** @param {number} value */
  y(value) {
    return this.bottom - ((this.bottom - MARGIN.top) * (value - this.low)) / (this.high - this.low);
  }

  /** The place on the axis at a pixel. @param {number} x */
  placeAt(x) {
    return this.from + ((x - this.left) / (this.right - this.left)) * (this.end - this.from);
  }
}

/** @param {readonly Point[]} stretch */
const path = (stretch) =>
  stretch.map(({ x, y }, i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

/** Half the width of a digit at the size of the axes' text, px. */
const HALF_DIGIT = 3.3;

/** Under its tick, but not over the edge. @param {number} place @param {string} label @param {Geometry} at */
const tickLabel = (place, label, at) => {
  const over = at.x(place) + HALF_DIGIT * label.length > at.width;
  const x = over ? at.width : at.x(place);
  return shape('text', { x, y: at.height - 5, 'text-anchor': over ? 'end' : 'middle' }, label);
};

/**
 * @param {Plot} plot
 * @param {Geometry} at
 */
function axes(plot, at) {
  const { left, right, bottom, height, width } = at;
  const { reference } = plot;
  return shape(
    'g',
    { class: 'axes' },
    ...ticks(at.low, at.high, height > 200 ? 5 : 3).flatMap((value) => {
      const y = at.y(value);
      return [
        shape('line', { x1: left, x2: right, y1: y, y2: y, class: 'grid' }),
        shape('text', { x: left - 7, y: y + 3.5, 'text-anchor': 'end' }, plot.write(value)),
      ];
    }),
    ...ticks(at.from, plot.end, Math.max(2, Math.min(10, width / 70)))
      .filter(Number.isInteger)
      .map((place) => tickLabel(place, plot.axis?.write(place) ?? String(place), at)),
    shape('line', { x1: left, x2: right, y1: bottom, y2: bottom, class: 'base' }),
    ...(plot.marks ?? []).map((place) =>
      shape('path', { d: `M${at.x(place) - 3.5} ${bottom + 6}h7l-3.5-6z`, class: 'mark' }),
    ),
    ...(reference ? referenceLine(reference, at) : []),
  );
}

/** Its name stands above it, and below it where there is no room. @param {NonNullable<Plot['reference']>} reference @param {Geometry} at */
function referenceLine({ value, name }, at) {
  const y = at.y(value);
  const below = y < MARGIN.top + 22;
  return [
    shape('line', { x1: at.left, x2: at.right, y1: y, y2: y, class: 'reference' }),
    shape('text', { x: at.right, y: below ? y + 14 : y - 4, 'text-anchor': 'end', class: 'reference' }, name),
  ];
}

/**
 * The unbroken stretches of a series, thinned to the picture's width.
 * @param {readonly number[]} xs
 * @param {Series['values']} values
 * @param {Geometry} at
 * @returns {Point[][]}
 */
function stretches(xs, values, at) {
  /** @type {Point[][]} */
  const found = [[]];
  for (const [i, place] of xs.entries()) {
    const value = values[i];
    if (typeof value === 'number') found.at(-1)?.push({ x: at.x(place), y: at.y(value) });
    else if (value === null) found.push([]);
  }
  return found.filter((stretch) => stretch.length > 0).map((stretch) => thin(stretch, at.width / 2));
}

/**
 * @param {Plot} plot
 * @param {Series} series
 * @param {Geometry} at
 */
function line(plot, { ink, values, measured }, at) {
  const parts = stretches(plot.xs, values, at);
  const count = parts.reduce((sum, part) => sum + part.length, 0);
  const few = count <= at.width / 16;
  return shape(
    'g',
    { class: `series ink-${ink}${count > at.width / 2 ? ' dense' : ''}` },
    measured
      ? shape('path', { class: 'measured', d: stretches(plot.xs, measured, at).map(path).join('') })
      : null,
    shape('path', { d: parts.map(path).join('') }),
    ...parts
      .filter((part) => few || part.length === 1)
      .flatMap((part) => part.map(({ x, y }) => shape('circle', { cx: x, cy: y, r: 1.8 }))),
  );
}

/**
 * @param {Plot} plot
 * @param {Geometry} at
 */
function band({ xs, series: [upper, lower] }, at) {
  return upper && lower ? area(xs, upper.values, lower.values, at, 'between') : null;
}

/**
 * What lies between two lines, where both are known.
 * @param {readonly number[]} xs
 * @param {Series['values']} upper
 * @param {Series['values']} lower
 * @param {Geometry} at
 * @param {string} className
 */
function area(xs, upper, lower, at, className) {
  const both = xs
    .map((_, i) => i)
    .filter((i) => typeof upper[i] === 'number' && typeof lower[i] === 'number');
  const [above = [], below = []] = [upper, lower].map(
    (values) =>
      stretches(
        both.map((i) => xs[i] ?? 0),
        both.map((i) => values[i]),
        at,
      )[0] ?? [],
  );
  return above.length
    ? shape('path', { class: className, d: `${path([...above, ...below.toReversed()])}Z` })
    : null;
}

/**
 * A description of the picture in words, for screen readers.
 * @param {Plot} plot
 */
export const describe = (plot) =>
  plot.series
    .map(({ name, values }) => {
      const known = values.filter((value) => typeof value === 'number');
      if (!known.length) return `${name}: ${MISSING}`;
      const [low, high] = known.reduce(
        ([a, b], value) => [Math.min(a, value), Math.max(b, value)],
        [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
      );
      const span = `from ${plot.read(known[0])} to ${plot.read(known.at(-1))}`;
      return `${name}: ${span}, lowest ${plot.read(low)}, highest ${plot.read(high)}`;
    })
    .join('. ');

/**
 * @param {Plot} plot
 * @param {Geometry} at
 * @param {{ id: string, title: string }} parts
 */
export const picture = (plot, at, { id, title }) =>
  shape(
    'svg',
    {
      width: at.width,
      height: at.height,
      viewBox: `0 0 ${at.width} ${at.height}`,
      role: 'img',
      'aria-labelledby': `${id}-t ${id}-d`,
    },
    shape('title', { id: `${id}-t` }, title),
    shape('desc', { id: `${id}-d` }, describe(plot)),
    axes(plot, at),
    plot.between ? band(plot, at) : null,
    ...plot.series.map(({ ink, low, high }) =>
      low && high ? area(plot.xs, high, low, at, `seeds ink-${ink}`) : null,
    ),
    ...plot.series.map((series) => line(plot, series, at)),
  );
