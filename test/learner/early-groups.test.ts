/** Groups that are fetched early stay within a bound, also where many messages arrive at once. */
import { expect, test } from 'vitest';
import { sha256Hex } from '../../core/random.ts';
import { keys } from '../../core/schema/round.ts';
import { EarlyGroups } from '../../learner/loop/early-groups.ts';

test('messages that arrive at once fetch no more than the bound and what was under way', async () => {
  const bytes = new Uint8Array(16 << 20);
  const sha256 = sha256Hex(bytes);
  let fetched = 0;
  const early = new EarlyGroups({
    getObject: async () => {
      fetched++;
      return bytes;
    },
  });
  const round = 'a'.repeat(32);
  for (let index = 0; index < 20; index++) {
    const group = index.toString(16).padStart(32, '0');
    early.begin({
      v: 1,
      round,
      group,
      index,
      key: keys.scored(round, group),
      sha256,
      mac: '0'.repeat(64),
    });
  }
  await early.forgetRound(round);
  // 64 MiB are four of them; eight are fetched at a time.
  expect(fetched).toBeGreaterThanOrEqual(4);
  expect(fetched).toBeLessThanOrEqual(4 + 8);
});
