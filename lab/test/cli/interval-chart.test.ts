import { expect, test } from 'vitest';
import { intervalChart } from '../../cli/interval-chart.ts';

test('an interval is a dot with a line, cut off with an arrow beyond 60 points', () => {
  const svg = intervalChart({
    title: 'Gain',
    xTitle: 'points',
    names: ['one', 'two'],
    series: [{ name: 'skill', intervals: [{ mean: 0.3, low: 0, high: 0.9 }, undefined] }],
  });
  // The axis runs from 190 (-60 points) to 696 (60 points); the first row is 67 px from the top.
  expect(svg).toContain('d="M443.0 67H696.0"');
  expect(svg).toContain('d="M696.0 67m-5 -4l5 4l-5 4"');
  expect(svg).toContain('cx="569.5" cy="67"');
  expect(svg.match(/<circle[^>]*cy="\d+" r="4"/g)).toHaveLength(2);
});
