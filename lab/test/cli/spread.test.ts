/** The rule at the spread that the records measured. */

import { quantile } from 'rollmesh';
import { expect, test } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { judgedRecords } from '../../cli/files.ts';
import { ofAccuracy, spreads, spreadTable } from '../../cli/spread.ts';
import { POINTS } from '../../rule/conditions.ts';
import { tPower } from '../../rule/t-power.ts';
import { shareThatHolds } from '../rule/simulation.ts';

const records = await judgedRecords(claimed);
const all = spreads(claimed, records);
const deviations = ofAccuracy(all).map(({ deviation }) => deviation);
const [median, upper] = [quantile(deviations, 0.5), quantile(deviations, 0.75)];

/** Decision 12 chose POINTS for this spread. */
const CHOSEN_FOR = 0.04;

test('at the records’ median spread and at that of decision 12 noise passes in at most 5 % of cases, and twice the bound is found in 80 %', () => {
  expect(deviations.length).toBeGreaterThan(100);
  for (const spread of [median, CHOSEN_FOR, upper]) {
    expect(shareThatHolds(0, spread, POINTS)).toBeLessThanOrEqual(0.05);
    expect(shareThatHolds(POINTS, spread, POINTS)).toBeLessThanOrEqual(0.05);
    expect(shareThatHolds(2 * POINTS, spread, POINTS)).toBeCloseTo(tPower(POINTS, spread, 8), 1);
  }
  for (const spread of [median, CHOSEN_FOR]) {
    expect(tPower(POINTS, spread, 8)).toBeGreaterThanOrEqual(0.8);
    // 4,000 trials do not tell 80.3 % from 80 %.
    expect(shareThatHolds(2 * POINTS, spread, POINTS)).toBeGreaterThanOrEqual(0.78);
  }
  expect(median).toBeLessThan(0.03);
  // It was .047 on 2026-12-01: in a quarter of the conditions eight seeds find twice the bound more rarely than decision 12 wanted, in some 70 %.
  expect(upper).toBeGreaterThan(0.03);
  expect(upper).toBeLessThan(0.05);
});

test('the table counts each condition that measured finite numbers once, and many controls of four seeds or fewer could not hold', () => {
  const rows = spreadTable(claimed, records).slice(2);
  const counted = rows.slice(1).map((row) => Number(row.split(' | ')[1]));
  expect(counted.reduce((a, b) => a + b)).toBe(all.length);
  const few = all.filter(({ control, seeds }) => control && seeds < 8);
  const hopeless = few.filter(({ half, bound }) => half > bound);
  expect(rows.at(-1)!.split(' | ')[1]).toBe(String(few.length));
  expect(rows.at(-1)).toMatch(new RegExp(`\\| ${hopeless.length} \\|$`));
  expect(hopeless.length / few.length).toBeGreaterThan(0.4);
});
