/** Which rounds begin, and with which versions they sample: round r with version r - 1 - k, whatever the order of events. */
import { expect, test } from 'vitest';
import { nextRounds, roundsDue } from '../../core/round/rounds-ahead.ts';
import type { RunSettings } from '../../core/schema/round.ts';

const settings = (ahead: number): RunSettings => ({
  recipe: 'trio',
  seed: 1,
  policy: 'p',
  rewardFunction: 'mix',
  freeze: [],
  tasks: 4,
  groupSize: 2,
  ...(ahead ? { ahead } : {}),
});
const roles = { solver: {} };

/** The policy's versions from the current one back to 0. */
const chainFrom = (current: number) => Array.from({ length: current + 1 }, (_, i) => current - i);

/** Trains a run to its end, and begins rounds only where `begins` says so; gives the version that each round samples with. */
function played(ahead: number, target: number, begins: (event: number) => boolean): number[] {
  const sampled: number[] = [];
  let trained = 0;
  for (let event = 0; trained < target; event++) {
    const open = sampled.length - trained;
    const run = { settings: settings(ahead), roles, target, last: sampled.length, open };
    if (begins(event) || open === 0)
      sampled.push(...nextRounds(run, chainFrom(trained)).map((round) => round.roles.solver!.version));
    trained++;
  }
  return sampled;
}

test.each([
  [0, [0, 1, 2, 3, 4, 5]],
  [1, [0, 0, 1, 2, 3, 4]],
  [2, [0, 0, 0, 1, 2, 3]],
])('%i ahead, the rounds sample with the versions %j', (ahead, versions) => {
  expect(played(ahead, 6, () => true)).toEqual(versions);
});

test('the versions do not depend on when rounds begin', () => {
  for (const ahead of [1, 2, 3])
    for (let pattern = 0; pattern < 256; pattern++)
      expect(played(ahead, 8, (event) => Boolean((pattern >> event) & 1))).toEqual(
        played(ahead, 8, () => true),
      );
});

test.each([
  { ahead: 0, last: 0, open: 0, target: 9, due: 1 },
  { ahead: 0, last: 1, open: 1, target: 9, due: 0 },
  { ahead: 2, last: 0, open: 0, target: 9, due: 3 },
  { ahead: 2, last: 3, open: 2, target: 9, due: 1 },
  { ahead: 2, last: 0, open: 0, target: 2, due: 2 },
  { ahead: 2, last: 9, open: 1, target: 9, due: 0 },
  // Rounds that were ordered with a greater number are still open.
  { ahead: 1, last: 5, open: 4, target: 9, due: 0 },
])('$ahead ahead with $open open after round $last of $target: $due may begin', ({ ahead, due, ...run }) => {
  expect(roundsDue({ settings: settings(ahead), roles, ...run })).toBe(due);
});

test('a role that lags by itself lags behind the version that its round samples with', () => {
  const run = { settings: settings(1), roles: { solver: { lag: 2 } }, target: 9, last: 5, open: 1 };
  const [round] = nextRounds(run, [5]);
  expect(round).toMatchObject({ index: 6, roles: { solver: { version: 3 } } });
});
