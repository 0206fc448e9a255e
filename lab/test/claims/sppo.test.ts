import { expect, test } from 'vitest';
import { lateOf, outplays } from '../../claims/sppo.ts';

test('a mixture beats another by the win matrix; one that stays as it is beats nobody', () => {
  const win = 1 / (1 + Math.exp(-2));
  expect(
    outplays([
      [0.4, 0.3, 0.3],
      [0.4, 0.3, 0.3],
    ]),
  ).toBeCloseTo(0, 12);
  // All medium, then all short, which beats it; then half of it long, which beats short.
  expect(
    outplays([
      [0, 1, 0],
      [1, 0, 0],
      [0.5, 0, 0.5],
    ]),
  ).toBeCloseTo((win - 0.5 + 0.5 * (win - 0.5)) / 2, 12);
});

test('the second half of a curve, its middle left out', () => {
  expect(lateOf([9, 9, 9, 1, 3])).toBe(2);
  expect(lateOf([9, 9, 1, 3])).toBe(2);
});
