import { describe, expect, test } from 'vitest';
import { axisOf, pointName, pointsOf, ranked, resultOf } from '../../core/runs/sweep.ts';
import type { Summary } from '../../core/schema/summary.ts';

test('every combination, the last axis changing first', () => {
  const axes = [axisOf('optimizer.learningRate=1e-5, 3e-5'), axisOf('group-size=8,16')];
  expect(pointsOf(axes)).toEqual([
    ['1e-5', '8'],
    ['1e-5', '16'],
    ['3e-5', '8'],
    ['3e-5', '16'],
  ]);
  expect(pointName(axes, ['1e-5', '16'])).toBe('optimizer.learningRate=1e-5,group-size=16');
  expect(pointsOf([])).toEqual([[]]);
});

test.each(['', 'a', 'a=', '=1', 'a=1,', 'a=1,1', '--a=1'])('not %j', (text) => {
  expect(() => axisOf(text)).toThrow(expect.objectContaining({ code: 'sweep.over' }));
});

test('an axis is named once', () => {
  expect(() => pointsOf([axisOf('a=1,2'), axisOf('a=3')])).toThrow('--over names a twice');
});

describe('results', () => {
  const run = (start: number, end: number, sampled: number | null): Summary =>
    ({
      heldout: [
        { round: 0, accuracy: start, sampled },
        { round: 2, accuracy: end, sampled },
      ],
      tokens: { generated: 30, trained: 10 },
      wallMs: 60_000,
    }) as unknown as Summary;

  test('means and intervals over seeds', () => {
    // Two values 0.1 apart: s = 0.1/√2, and with one degree of freedom t = 12.7062, so the half width is 12.7062 · 0.1/√2/√2 = 0.635310.
    const { greedy, start, tokens, minutes, seeds } = resultOf(
      ['x'],
      [run(0.2, 0.4, null), run(0.3, 0.5, null)],
    );
    expect([start, greedy.mean, tokens, minutes, seeds]).toEqual([0.25, 0.45, 40, 1, 2]);
    expect(greedy.high - greedy.mean).toBeCloseTo(0.63531, 5);
    expect(greedy.mean - greedy.low).toBeCloseTo(0.63531, 5);
  });

  test('a single seed has no bounds, and what is not measured in one run is not measured', () => {
    expect(resultOf([], [run(0, 0.5, 0.25)])).toMatchObject({
      greedy: { mean: 0.5, low: Number.NEGATIVE_INFINITY },
      sampled: { mean: 0.25 },
    });
    expect(resultOf([], [run(0, 0.5, 0.25), run(0, 0.5, null)]).sampled).toBeNull();
  });

  test('the best comes first', () => {
    const results = [0.2, 0.6, 0.4].map((end) => resultOf([String(end)], [run(0, end, null)]));
    expect(ranked(results).map(({ point }) => point[0])).toEqual(['0.6', '0.4', '0.2']);
  });
});
