import { expect, test } from 'vitest';
import { averageLinkage, clusterShares } from '../../../core/rl/measures/average-linkage.ts';

const line = (points: readonly number[]) => points.map((a) => points.map((b) => Math.abs(a - b)));
/** Labels by which items are together, whatever the labels are. */
const partition = (labels: readonly number[]) => labels.map((label) => labels.indexOf(label));

test('clusters are as far apart as their members are on average', () => {
  const points = line([0, 1, 20, 5, 6]);
  // {0, 1} and {5, 6}: (5 + 6 + 4 + 5)/4 = 5, neither the nearest pair's 4 nor the farthest's 6.
  expect(partition(averageLinkage(points, 5))).toEqual([0, 0, 2, 3, 3]);
  expect(partition(averageLinkage(points, 5.01))).toEqual([0, 0, 2, 0, 0]);
  // 20 to the four: (20 + 19 + 15 + 14)/4 = 17.
  expect(partition(averageLinkage(points, 17))).toEqual([0, 0, 2, 0, 0]);
  expect(partition(averageLinkage(points, 17.01))).toEqual([0, 0, 0, 0, 0]);
});

test('the mean over all pairs survives merges of unequal clusters', () => {
  // {0, 1, 2} grows first; 9 is (9 + 8 + 7)/3 = 8 away from it.
  const points = line([0, 1, 2, 9]);
  expect(partition(averageLinkage(points, 8))).toEqual([0, 0, 0, 3]);
  expect(partition(averageLinkage(points, 8.01))).toEqual([0, 0, 0, 0]);
});

test('nothing, one, and no pair below the threshold', () => {
  expect(averageLinkage([], 1)).toEqual([]);
  expect(averageLinkage([[0]], 1)).toHaveLength(1);
  expect(partition(averageLinkage(line([0, 3, 6]), 3))).toEqual([0, 1, 2]);
});

test('an item is charged the share of the batch that resembles it', () => {
  const same = (a: string, b: string) => Number(a === b);
  expect(clusterShares(['x', 'y', 'x', 'z', 'x'], same)).toEqual([3 / 5, 1 / 5, 3 / 5, 1 / 5, 3 / 5]);
});
