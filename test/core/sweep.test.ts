import { describe, expect, test } from 'vitest';
import {
  againstBest,
  axisOf,
  bestPoints,
  pointName,
  pointsOf,
  ranked,
  resultOf,
  rungsOf,
} from '../../core/runs/sweep.ts';
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
      rounds: 2,
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

describe('successive halving', () => {
  test.each([
    // 9 of 27 rounds by thirds: all for 27/9, a third for 27/3, one for all.
    [
      9,
      27,
      3,
      [
        [9, 3],
        [3, 9],
        [1, 27],
      ],
    ],
    [
      4,
      20,
      2,
      [
        [4, 5],
        [2, 10],
        [1, 20],
      ],
    ],
    // 5/2 and 5/4 rounded down, 10/4 = 2.5 rounded up.
    [
      5,
      10,
      2,
      [
        [5, 3],
        [2, 5],
        [1, 10],
      ],
    ],
    // No third part of fewer points, or of a round.
    [3, 27, 4, [[3, 27]]],
    [
      9,
      2,
      3,
      [
        [9, 1],
        [3, 2],
      ],
    ],
    [8, 1, 2, [[8, 1]]],
    [8, 40, 1, [[8, 40]]],
  ])('%i points, %i rounds, by %i', (points, rounds, eta, wanted) => {
    expect(rungsOf(points, rounds, eta).map((rung) => [rung.points, rung.rounds])).toEqual(wanted);
  });

  /** Evaluated after rounds 0, 5 and 10; `sampled` is .5 but for what is said. */
  const curve = (accuracies: readonly number[], sampled = 0.5): Summary =>
    ({
      heldout: accuracies.map((accuracy, i) => ({ round: 5 * i, accuracy, sampled })),
    }) as unknown as Summary;

  test('the best by their mean over seeds after that round, in their order; of equals by samples, then the first', () => {
    const runs = [
      [curve([0.1, 0.25, 0.9]), curve([0.1, 0.25, 0.9])],
      [curve([0.1, 0.5, 0]), curve([0.1, 0.125, 0])],
      [curve([0.1, 0.5, 0]), curve([0.1, 0.5, 0])],
      [curve([0.1, 0.25, 0]), curve([0.1, 0.375, 0], 0.75)],
    ];
    expect(bestPoints(runs, 5, 1)).toEqual([2]);
    expect(bestPoints(runs, 7, 2)).toEqual([2, 3]);
    expect(bestPoints(runs, 5, 3)).toEqual([1, 2, 3]);
    expect(bestPoints(runs, 10, 1)).toEqual([0]);
    expect(bestPoints(runs.slice(1, 3), 10, 1)).toEqual([0]);
    // Played to the end by another sweep, which evaluated nothing between start and end: not by what its start answered.
    expect(bestPoints([[curve([0.1, 0.3])], [curve([0.1, 0.4])]], 3, 1)).toEqual([1]);
  });
});

describe('points against the best', () => {
  const tally = (points: string) => ({ of: 1, points });

  test('exact and paired over the questions, for all comparisons together', () => {
    // 40 questions, two seeds. The second point misses 8 of the best's in one seed and gains none: p = 2 · 2⁻⁸, for two comparisons twice that.
    const best = [tally('1'.repeat(40)), tally('1'.repeat(40))];
    const below = [tally(`${'0'.repeat(8)}${'1'.repeat(32)}`), tally('1'.repeat(40))];
    const [first, second] = againstBest([best, below, best]);
    expect(first).toMatchObject({ verdict: 'fell', p: 4 * 2 ** -8 });
    // 8 of 80 answers.
    expect(first!.difference.mean).toBeCloseTo(-0.1, 12);
    expect(second).toMatchObject({ verdict: 'chance', p: 1 });
  });

  test('what cannot be paired is not tested, and few questions tell nothing', () => {
    const best = [tally('1'.repeat(40))];
    expect(
      againstBest([best, [undefined], [tally('1'.repeat(39))], [{ of: 4, points: '1'.repeat(40) }]]),
    ).toEqual([null, null, null]);
    expect(againstBest([[tally('1'.repeat(12))], [tally('0'.repeat(12))]])[0]).toMatchObject({
      verdict: 'few',
    });
  });
});
