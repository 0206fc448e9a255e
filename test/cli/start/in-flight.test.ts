/** The line about rounds under way, as a person reads it. */
import { expect, test } from 'vitest';
import { inFlightWords } from '../../../cli/start/in-flight.ts';

type Round = Parameters<typeof inFlightWords>[0][number];

const round = (index: number, state: Round['state'], version: number, more: Partial<Round> = {}): Round => ({
  index,
  state,
  expected: 24,
  groups: { rollout: 0, scored: 0, trained: 0, failed: 0 },
  roles: { proposer: { name: 'p', version }, solver: { name: 'p', version } },
  report: null,
  ...more,
});

test('each round under way is told in order, with the version that it samples with', () => {
  const rounds = [
    round(8, 'proposing', 5),
    round(7, 'rollout', 4, { groups: { rollout: 18, scored: 5, trained: 0, failed: 1 } }),
    round(6, 'training', 3),
    round(5, 'done', 2),
  ];
  expect(inFlightWords(rounds)).toBe(
    'round 6 is trained; round 7 is rolled out by version 4, 6 of 24 groups judged; round 8 is proposed by version 5',
  );
});

test('a round that is scored before its turn waits', () => {
  expect(inFlightWords([round(4, 'training', 2), round(3, 'rollout', 1)])).toBe(
    'round 3 is rolled out by version 1, 0 of 24 groups judged; round 4 waits to be trained',
  );
});

test('a frozen role is told by its own version', () => {
  const roles = { solver: { name: 'p', version: 3 }, judge: { name: 'p', version: 0 } };
  expect(inFlightWords([round(4, 'proposing', 3, { roles })])).toBe(
    'round 4 is proposed by versions 0 and 3',
  );
});

test('after the first round the start version is evaluated, until the report says so', () => {
  expect(inFlightWords([round(1, 'done', 0)])).toBe('the start version is evaluated');
  const start = { evaluation: undefined } as unknown as NonNullable<Round['report']>['start'];
  const report = { start: start ?? {} } as NonNullable<Round['report']>;
  expect(inFlightWords([round(1, 'done', 0, { report })])).toBe('');
});
