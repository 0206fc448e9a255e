/** What the charts of the documentation have in common: a title, the name of the lower axis, and the page's inks written into the picture, so that it stands alone. */
import { markup, type Shape, shape } from '../../web/dashboard/drawing.js';

/** The page's inks on paper (web/dashboard/style.css), told apart by their dashes as well (web/dashboard/charts.css). */
const INKS: readonly (readonly [colour: string, dashes: string])[] = [
  ['#1f4f8f', 'none'],
  ['#b5481d', '7 3'],
  ['#2a7a57', '2 2.5'],
  ['#86691a', '9 3 2 3'],
  ['#625d55', '5 2 1 2 1 2'],
  ['#7a4a9e', '12 4'],
  ['#a3366b', '4 2 4 6'],
  ['#20717d', '1 4 6 4'],
];

const STYLE = [
  'svg{font:12px system-ui,sans-serif}',
  'text{fill:#625d55}.axes text{font-size:11px}',
  '.title{font-size:14px;font-weight:600;fill:#1d1c1a}',
  '.axes line{stroke:#dedacf}.axes .base,.axes .zero{stroke:#625d55}',
  '.series path{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}',
  '.series circle{fill:currentColor}.series text,.legend text{fill:currentColor}.legend circle{fill:currentColor}',
  '.seeds{fill:currentColor;opacity:.12}',
  ...INKS.map(
    ([colour, dashes], i) =>
      `.ink-${i + 1}{color:${colour}}.lines .ink-${i + 1} path{stroke-dasharray:${dashes}}`,
  ),
].join('');

export interface Titles {
  readonly title: string;
  readonly xTitle: string;
}

/** The picture as an SVG file of `width` × `height` pixels. `xTitle` stands under the middle of `from` to `to`. */
export const framed = (
  { title, xTitle }: Titles,
  { width, height, from, to }: Readonly<Record<'width' | 'height' | 'from' | 'to', number>>,
  ...children: readonly Shape[]
): string =>
  `${markup(
    shape(
      'svg',
      { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, role: 'img' },
      shape('title', {}, title),
      shape('style', {}, STYLE),
      shape('rect', { width, height, fill: '#fff' }),
      shape('text', { x: 12, y: 20, class: 'title' }, title),
      ...children,
      shape('text', { x: (from + to) / 2, y: height - 5, 'text-anchor': 'middle' }, xTitle),
    ),
  )}\n`;
