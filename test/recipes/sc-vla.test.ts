import { expect, test } from 'vitest';
import { denseRewards, progressItems, returnsOf } from '../../recipes/sc-vla/progress.ts';

test('before turn t of T the head is drawn to t/T', () => {
  const turns = [
    { prompt: [1, 2], ids: [5, 6] },
    { prompt: [1, 2, 5, 6, 7, 8, 9], ids: [5, 4] },
  ];
  expect(progressItems(turns)).toEqual([
    { prompt: [1, 2], ids: [5], targets: [0] },
    { prompt: [1, 2, 5, 6, 7, 8, 9], ids: [5], targets: [0.5] },
  ]);
});

test('a turn is paid for how far the forecast moves, and the last one for success', () => {
  const rewards = denseRewards([0.1, 0.4, 0.3], 1);
  expect(rewards).toEqual([0.3, -0.1, 1].map((value) => expect.closeTo(value, 9)));
  // 1; −.1 + .95; .3 + .95 · .85.
  expect(returnsOf(rewards)).toEqual([1.1075, 0.85, 1].map((value) => expect.closeTo(value, 5)));
  expect(denseRewards([0.5], 0)).toEqual([0]);
});
