/** A round of a paused run waits: the page says so, in place of a time that goes on. */
import { expect, test } from 'vitest';
import { isPlayed, roundTime } from '../../web/dashboard/overview.js';

const open = { endedAt: null, createdAt: 1_000 };
const ended = { endedAt: 61_000, createdAt: 1_000 };

test.each([
  ['open', open, true, '2:00 min'],
  ['paused', open, false, 'paused'],
  ['stopped', open, false, 'stopped'],
  ['open', ended, false, '1:00 min'],
  ['paused', ended, false, '1:00 min'],
] as const)('a run that is %s', (state, round, played, time) => {
  expect(isPlayed({ state }, round)).toBe(played);
  expect(roundTime({ state }, round, 121_000).replace(/\s/g, ' ')).toBe(time);
});
