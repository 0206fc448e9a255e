/** A group that is delivered more than once counts once, and all of its deliveries are acknowledged. */
import { expect, test } from 'vitest';
import type { ScoredMessage } from '../../core/schema/round.ts';
import { Collector } from '../../learner/loop/collect.ts';

const delivery = (round: string, group: string, lease: string) => ({
  lease,
  body: { round, group, sha256: lease } as unknown as ScoredMessage,
});

test('ten deliveries of a group are one message, the newest, and nine duplicates', () => {
  const collector = new Collector();
  for (let i = 0; i < 10; i++) collector.add(delivery('r', 'a', `a${i}`));
  collector.add(delivery('r', 'b', 'b0'));
  collector.add(delivery('other', 'a', 'o0'));
  expect(collector.messages('r')).toEqual([delivery('r', 'a', 'a9').body, delivery('r', 'b', 'b0').body]);
  expect(collector.duplicates('r')).toBe(9);
  expect(collector.duplicates('other')).toBe(0);
  expect(collector.take('r')).toEqual([...Array.from({ length: 10 }, (_, i) => `a${i}`), 'b0']);
  expect(collector.rounds).toEqual(['other']);
});
