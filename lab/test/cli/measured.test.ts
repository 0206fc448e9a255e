/** What `rollmesh recipe show` says was measured is what the records hold. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { measuredTable, TABLE } from '../../cli/measured.ts';

test('the table that the product prints from is that of the records', () => {
  expect(readFileSync(TABLE, 'utf8')).toBe(measuredTable());
});

test('the numbers of trio are the means of its record, worked out here', () => {
  const { arms, rounds } = JSON.parse(readFileSync('records/trio.json', 'utf8'));
  const runs = arms[0].runs as { heldout: { accuracy: number[] } }[];
  const last = runs.map(({ heldout }) => heldout.accuracy.at(-1)!);
  const { trio } = JSON.parse(measuredTable());
  expect(trio).toMatchObject({ start: 'arithmetic-base', rounds, seeds: last.length });
  expect(trio.greedy[1]).toBeCloseTo(last.reduce((sum, value) => sum + value, 0) / last.length, 3);
});

test('an arm that is no default says by which flags it is played', () => {
  const table = JSON.parse(measuredTable());
  // As the claims have it: trio pays by its default, which is named, and the flagship's tasks are bounded.
  expect(table['trio-in-composition'].flags).toBe('--variant to-four');
  expect(table.trio.flags).toBe('--reward mix');
  expect(table.dapo.flags).toBe('');
});
