/** The files of charts, read as the text that they are. */
import { expect, test } from 'vitest';
import { lineChart } from '../../cli/charts/line-chart.ts';

/** 436 pixels from round 0 to the last, 230 from 0 to 100 %: the geometry of a curve 510 by 252 with the page's margins. */
const lineOf = (svg: string, ink: number) =>
  new RegExp(`class="series ink-${ink}"><path d="([^"]*)"`).exec(svg)?.[1];

test('a line is the mean of its runs, where all of them have a point; their range is a band', () => {
  const svg = lineChart({
    title: 'Accuracy',
    xTitle: 'round',
    series: [
      {
        name: 'a',
        runs: [
          [
            { x: 0, y: 0 },
            { x: 4, y: 1 },
          ],
          [
            { x: 0, y: 0.5 },
            { x: 4, y: 0.5 },
            { x: 8, y: 1 },
          ],
        ],
      },
    ],
  });
  // The axis of rounds begins at 44 and ends at 500; that of values runs from 230 (0 %) up to 10 (100 %).
  expect(lineOf(svg, 1)).toBe('M44.0 175.0L272.0 65.0');
  expect(/class="seeds ink-1" d="([^"]*)"/.exec(svg)?.[1]).toBe(
    'M44.0 120.0L272.0 10.0L272.0 120.0L44.0 230.0Z',
  );
  expect(svg).toContain('a: from 25.0');
});

test('what a name holds is text, and a single run has no band', () => {
  const runs = [[{ x: 0, y: 0.5 }]];
  const svg = lineChart({ title: '<b> & "c"', xTitle: 'round', series: [{ name: '<script>', runs }] });
  expect(svg).toContain('&#60;script&#62;');
  expect(svg).toContain('&#60;b&#62; &#38; "c"'.replaceAll('"', '&#34;'));
  expect(svg).not.toMatch(/<script|<b>/);
  expect(svg).not.toContain('class="seeds');
});
