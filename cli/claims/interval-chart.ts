/** Draws 95 % intervals as SVG text: one row per name, a dot with its interval for each series, and a line at 0. It is not interactive. */
import { COLOURS, escapeXml } from './line-chart.ts';

interface IntervalSeries {
  readonly name: string;
  /** In the order of the names; undefined where it was not measured. */
  readonly intervals: readonly (
    | { readonly mean: number; readonly low: number; readonly high: number }
    | undefined
  )[];
}

export interface IntervalChart {
  readonly title: string;
  readonly xTitle: string;
  readonly names: readonly string[];
  readonly series: readonly IntervalSeries[];
}

const WIDTH = 720;
const LEFT = 190;
const RIGHT = 24;
const TOP = 52;
const BOTTOM = 40;
const ROW = 30;
/** Between the rows of two series. */
const APART = 10;
/** An interval that goes further is cut off there, with an arrow. */
const MOST = 0.6;
const TICKS = [-0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6];

/** Draws the chart. Values are shares; the axis shows points, from -60 to 60. */
export function intervalChart({ title, xTitle, names, series }: IntervalChart): string {
  const height = TOP + names.length * ROW + BOTTOM;
  const x = (value: number) =>
    LEFT + ((Math.min(MOST, Math.max(-MOST, value)) + MOST) / (2 * MOST)) * (WIDTH - LEFT - RIGHT);
  const y = (row: number, s: number) => TOP + row * ROW + ROW / 2 + (s - (series.length - 1) / 2) * APART;
  const grid = TICKS.map(
    (tick) =>
      `<path d="M${x(tick).toFixed(1)} ${TOP}V${height - BOTTOM}" stroke="${tick === 0 ? '#333' : '#ddd'}"/>` +
      `<text x="${x(tick).toFixed(1)}" y="${height - BOTTOM + 16}" text-anchor="middle">${Math.round(100 * tick)}</text>`,
  );
  const labels = names.map(
    (name, row) =>
      `<text x="${LEFT - 10}" y="${TOP + row * ROW + ROW / 2 + 4}" text-anchor="end">${escapeXml(name)}</text>`,
  );
  const legend = series.map(
    ({ name }, s) =>
      `<circle cx="${LEFT + 6 + s * 90}" cy="38" r="4" fill="${COLOURS[s]}"/><text x="${LEFT + 16 + s * 90}" y="42" fill="${COLOURS[s]}">${escapeXml(name)}</text>`,
  );
  const marks = series.flatMap(({ intervals }, s) =>
    intervals.flatMap((interval, row) => {
      if (!interval) return [];
      const [colour, at] = [COLOURS[s], y(row, s).toFixed(1)];
      const ends = [interval.low, interval.high].map((end) =>
        Math.abs(end) > MOST
          ? `<path d="M${x(end).toFixed(1)} ${at}m${end < 0 ? '5 -4l-5 4l5 4' : '-5 -4l5 4l-5 4'}" stroke="${colour}"/>`
          : '',
      );
      return `<path d="M${x(interval.low).toFixed(1)} ${at}H${x(interval.high).toFixed(1)}" stroke="${colour}" stroke-width="2"/>${ends.join('')}<circle cx="${x(interval.mean).toFixed(1)}" cy="${at}" r="4" fill="${colour}"/>`;
    }),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="none" role="img">`,
    `<title>${escapeXml(title)}</title><rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<g fill="#333"><text x="12" y="22" font-size="14" font-weight="600">${escapeXml(title)}</text>${[...grid, ...labels].join('')}`,
    `<text x="${((LEFT + WIDTH - RIGHT) / 2).toFixed(1)}" y="${height - 6}" text-anchor="middle">${escapeXml(xTitle)}</text></g>`,
    ...legend,
    ...marks,
    '</svg>',
    '',
  ].join('\n');
}
