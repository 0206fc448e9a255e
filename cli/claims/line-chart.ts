/** Draws a line chart as SVG text: one colour per series, a thin line for each run and a thick one for their mean. It is not interactive. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Series {
  readonly name: string;
  readonly runs: readonly (readonly Point[])[];
}

export interface Chart {
  readonly title: string;
  readonly xTitle: string;
  readonly series: readonly Series[];
}

const WIDTH = 640;
const HEIGHT = 300;
const LEFT = 44;
const RIGHT = 130;
const TOP = 34;
const BOTTOM = 36;
/** Okabe and Ito's palette, which colour-blind readers can tell apart. */
export const COLOURS = ['#0072b2', '#009e73', '#d55e00', '#7f7f7f', '#cc79a7', '#e69f00', '#56b4e9'];

export const escapeXml = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** The mean of the runs at each x that all of them have. */
function meanRun(runs: readonly (readonly Point[])[]): Point[] {
  const [first, ...rest] = runs;
  return (first ?? []).flatMap(({ x, y }) => {
    const others = rest.map((run) => run.find((point) => point.x === x)?.y);
    if (others.includes(undefined)) return [];
    return [{ x, y: (y + others.reduce<number>((sum, value) => sum + (value ?? 0), 0)) / runs.length }];
  });
}

/** Draws the chart. y is a share: its axis goes from 0 to 1 in steps of 0.2. */
export function lineChart({ title, xTitle, series }: Chart): string {
  const last = Math.max(1, ...series.flatMap(({ runs }) => runs.flat().map((point) => point.x)));
  const x = (value: number) => LEFT + (value / last) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM);
  const path = (points: readonly Point[]) =>
    points.map((point, i) => `${i ? 'L' : 'M'}${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`).join('');
  const grid = [0, 0.2, 0.4, 0.6, 0.8, 1].map(
    (value) =>
      `<path d="M${LEFT} ${y(value)}H${WIDTH - RIGHT}" stroke="#ddd"/><text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${value * 100}</text>`,
  );
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (part) =>
      `<text x="${x(part * last)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${Math.round(part * last)}</text>`,
  );
  const labels = spreadLabels(series.map(({ runs }) => y(meanRun(runs).at(-1)?.y ?? 0)));
  const lines = series.map(({ name, runs }, i) => {
    const colour = COLOURS[i % COLOURS.length];
    const thin = runs.map((run) => `<path d="${path(run)}" stroke="${colour}" stroke-opacity="0.3"/>`);
    return [
      ...thin,
      `<path d="${path(meanRun(runs))}" stroke="${colour}" stroke-width="2.5"/>`,
      `<text x="${WIDTH - RIGHT + 8}" y="${labels[i]! + 4}" fill="${colour}">${escapeXml(name)}</text>`,
    ].join('');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="none" role="img">`,
    `<title>${escapeXml(title)}</title><rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<g fill="#333"><text x="${LEFT}" y="20" font-size="14" font-weight="600">${escapeXml(title)}, %</text>${[...grid, ...ticks].join('')}`,
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 4}" text-anchor="middle">${escapeXml(xTitle)}</text></g>`,
    ...lines,
    '</svg>',
    '',
  ].join('\n');
}

/** Moves labels apart so that none covers another; the order from top to bottom is kept. */
function spreadLabels(places: readonly number[]): number[] {
  const order = places.map((_, i) => i).sort((a, b) => places[a]! - places[b]!);
  const out = [...places];
  for (const [rank, i] of order.entries())
    if (rank > 0) out[i] = Math.max(out[i]!, out[order[rank - 1]!]! + 14);
  return out;
}
