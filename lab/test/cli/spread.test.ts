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

test('at the records’ median spread and upper quartile noise passes in at most 5 % of cases, and twice the bound is found in 80 %', () => {
  expect(deviations.length).toBeGreaterThan(100);
  for (const spread of [median, upper]) {
    expect(shareThatHolds(0, spread, POINTS)).toBeLessThanOrEqual(0.05);
    expect(shareThatHolds(POINTS, spread, POINTS)).toBeLessThanOrEqual(0.05);
    const found = shareThatHolds(2 * POINTS, spread, POINTS);
    expect(found).toBeCloseTo(tPower(POINTS, spread, 8), 1);
    // At the upper quartile it is 80.3 %, which 4,000 trials do not tell from 80 %.
    expect(found).toBeGreaterThanOrEqual(0.78);
  }
  expect(tPower(POINTS, upper, 8)).toBeGreaterThanOrEqual(0.8);
  // Decision 12: POINTS was chosen for 0.04, which is nearly their upper quartile.
  expect(median).toBeLessThan(0.03);
  expect(upper).toBeCloseTo(0.04, 2);
});

test('the table counts each condition that measured finite numbers once, and many controls of four seeds could not hold', () => {
  const rows = spreadTable(claimed, records).slice(2);
  const counted = rows.slice(1).map((row) => Number(row.split(' | ')[1]));
  expect(counted.reduce((a, b) => a + b)).toBe(all.length);
  const few = all.filter(({ control, seeds }) => control && seeds === 4);
  const hopeless = few.filter(({ half, bound }) => half > bound);
  expect(rows.at(-1)!.split(' | ')[1]).toBe(String(few.length));
  expect(rows.at(-1)).toMatch(new RegExp(`\\| ${hopeless.length} \\|$`));
  expect(hopeless.length / few.length).toBeGreaterThan(0.4);
});
