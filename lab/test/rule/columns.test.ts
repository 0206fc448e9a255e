import { expect, test } from 'vitest';
import { columnsOf, sharpeningOf, skillOf } from '../../rule/columns.ts';
import { runOf } from './runs.ts';

const gaps = (...values: readonly number[]) => ({
  monitors: values.map((gap, i) => ({ round: i + 1, figures: { gap } })),
});
const runs = [
  { ...runOf(0.2, 0.4, 0.6), ...gaps(0, 0.1, 0.2, 0.3, 0.4, 0.5) },
  { ...runOf(0.2, 0.4, 0.8), ...gaps(0, 0.1, 0.2, 0.3, 0.4, 0.5) },
];

test('the columns of a claim: accuracy, gap over time, tokens in millions', () => {
  const { greedy, forced, sampled, gap, generated, trained } = columnsOf(runs);
  expect(greedy.start).toBeCloseTo(0.2);
  expect(greedy.end).toBeCloseTo(0.7);
  // Changes 0.4 and 0.6: mean 0.5, t(1) · 0.1414 / √2 = 12.706 · 0.1 = 1.2706.
  expect(greedy.change.mean).toBeCloseTo(0.5);
  expect(greedy.change.high).toBeCloseTo(0.5 + 1.2706, 3);
  expect(forced?.change.mean).toBeCloseTo(0);
  expect(sampled?.end).toBeCloseTo(0.35);
  // The first three rounds, and the last five.
  expect(gap?.start).toBeCloseTo(0.1);
  expect(gap?.end).toBeCloseTo(0.3);
  expect([generated, trained]).toEqual([1, 0.5]);
});

test('skill is measured with steps forced where it can be, and sharpening is what sampled accuracy rose beyond it', () => {
  expect(skillOf(columnsOf(runs)).end).toBeCloseTo(0.7);
  // Sampled accuracy rises by 0.2 and 0.3, skill by nothing.
  expect(sharpeningOf(runs)?.mean).toBeCloseTo(0.25);
  const stepless = runs.map((run) => ({
    ...run,
    heldout: run.heldout.map((point) => ({ ...point, forcedWorked: null })),
  }));
  expect(skillOf(columnsOf(stepless)).change.mean).toBeCloseTo(0.5);
  expect(sharpeningOf(stepless)?.mean).toBeCloseTo(-0.25);
});

test('what a run did not measure is absent', () => {
  const blind = runs.map((run) => ({
    ...run,
    monitors: [],
    heldout: run.heldout.map((point) => ({ ...point, sampled: null })),
  }));
  const { sampled, gap } = columnsOf(blind);
  expect([sampled, gap, sharpeningOf(blind)]).toEqual([undefined, undefined, undefined]);
});

test('a claim may name what stands for the gap: one monitor, the difference of two, or nothing', () => {
  const rounds = [0, 1, 2, 3, 4, 5];
  const paid = runs.map((run) => ({
    ...run,
    monitors: rounds.map((i) => ({
      round: i + 1,
      figures: { reward: 0.5 + 0.1 * i, points: 0.5, overrated: 0.2 },
    })),
  }));
  expect(columnsOf(paid, { figures: ['reward', 'points'] }).gap?.start).toBeCloseTo(0.1);
  expect(columnsOf(paid, { figures: ['reward', 'points'] }).gap?.end).toBeCloseTo(0.3);
  expect(columnsOf(paid, { figures: ['overrated'] }).gap?.change.mean).toBeCloseTo(0);
  expect(columnsOf(paid, { figures: [] }).gap).toBeUndefined();
});

test('the gap begins with the first round that pays the solver', () => {
  const late = runs.map((run) => ({
    ...run,
    monitors: [null, null, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6].map((gap, i) => ({
      round: i + 1,
      figures: { gap },
    })),
  }));
  expect(columnsOf(late).gap?.start).toBeCloseTo(0.2);
  expect(columnsOf(late).gap?.end).toBeCloseTo(0.4);
});
