/** Waiting for the rounds that a bench has ordered. */
import { expect, test } from 'vitest';
import type { RoundState } from '../../core/schema/answers.ts';
import { endedRounds, roundsOfBlock } from './rounds.ts';

type Gateway = Parameters<typeof endedRounds>[0];

/** A gateway whose run goes through these listings, and stays at the last one. */
function gateway(...listings: readonly (readonly string[])[]): Gateway {
  let asked = 0;
  return {
    listRounds: async () =>
      listings[Math.min(asked++, listings.length - 1)]!.map((state, index) => ({
        id: `round-${index}`,
        index,
        state,
      })) as Awaited<ReturnType<Gateway['listRounds']>>,
    getRound: async (id) => ({ id }) as unknown as RoundState,
  };
}

test('a run whose rounds stand still is given up, one that goes on is not', async () => {
  await expect(endedRounds(gateway(['done', 'training']), 'one', 2, 300)).rejects.toThrow(
    'run one stands still: 1 of 2 rounds',
  );
  // Three changes, each sooner than the time after which a run stands still, and together later.
  const slow = gateway(['rolling'], ['training'], ['done', 'rolling'], ['done', 'done']);
  expect(await endedRounds(slow, 'one', 2, 600)).toEqual([{ id: 'round-0' }, { id: 'round-1' }]);
});

test.each(['', '0', '-4', '2.5', 'many', 'Infinity'])('--rounds %j is refused', (asked) => {
  expect(() => roundsOfBlock(asked, 4, 1)).toThrow(/--rounds is ".*"\. Expected a whole number from 1/);
});

test('rounds are shared by the blocks', () => {
  expect(roundsOfBlock('40', 4, 1)).toBe(10);
  expect(roundsOfBlock('1', 4, 1)).toBe(1);
  expect(roundsOfBlock('1', 4, 2)).toBe(2);
});
