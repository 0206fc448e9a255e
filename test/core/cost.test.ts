/** Prices and bills against sums worked by hand from Cloudflare's published prices. */
import { expect, test } from 'vitest';
import { costOf, runCost } from '../../core/cost/cost.ts';
import { queueOperations } from '../../core/cost/prices.ts';
import { addUsage, NOTHING_USED, totalUsage, usageSince } from '../../core/cost/usage.ts';

const used = (more: object) => ({ ...NOTHING_USED, ...more });

test('a bill by hand', () => {
  // 2 M requests at 0.30 a million; 10 M ms at 0.02; 3 M operations at 0.40; 5 M rows read at 0.001 and 250 k written at 1.00;
  // 100 k class A at 4.50 and 1 M class B at 0.36; 40 GB for a month at 0.015.
  const cost = costOf(
    used({
      requests: 2_000_000,
      cpuMs: 10_000_000,
      queueOperations: 3_000_000,
      d1RowsRead: 5_000_000,
      d1RowsWritten: 250_000,
      r2ClassA: 100_000,
      r2ClassB: 1_000_000,
      r2BytesWritten: 40e9,
      r2BytesRead: 7e12,
    }),
  );
  expect(cost.requests).toBeCloseTo(0.6, 12);
  expect(cost.cpu).toBeCloseTo(0.2, 12);
  expect(cost.queues).toBeCloseTo(1.2, 12);
  expect(cost.d1).toBeCloseTo(0.255, 12);
  expect(cost.r2).toBeCloseTo(0.81, 12);
  expect(cost.stored).toBeCloseTo(0.6, 12);
  expect(cost.total).toBeCloseTo(3.665, 12);
});

test('the round of 4096 rollouts of 2 s each, a message for each: nearly all of it is CPU time', () => {
  // 4096 × 2000 ms = 8.192 M ms; three queues × three operations; one object and two rows each.
  const cost = costOf(
    used({ cpuMs: 8_192_000, queueOperations: 36_864, r2ClassA: 4096, d1RowsWritten: 8192 }),
  );
  expect(cost.cpu).toBeCloseTo(0.16384, 12);
  expect(cost.queues).toBeCloseTo(0.0147456, 12);
  expect(cost.r2).toBeCloseTo(0.018432, 12);
  expect(cost.d1).toBeCloseTo(0.008192, 12);
  expect(cost.cpu / cost.total).toBeGreaterThan(0.79);
});

test('operations of a queue: 64 kB each, the hundred bytes of the queue included', () => {
  expect([0, 63_900, 63_901, 127_900, 127_901].map(queueOperations)).toEqual([1, 1, 2, 2, 3]);
});

test('a run: by round, by million tokens, by point', () => {
  const stage = used({ requests: 1_000_000 });
  const cost = runCost([{ rollout: stage, judge: stage }, { learner: stage }], 500_000, 0.045);
  // 3 M requests = 0.90 dollars: 0.45 a round, 1.80 a million tokens, 0.20 a point of 4.5.
  expect(cost?.used.requests).toBe(3_000_000);
  expect(cost?.perRound).toBeCloseTo(0.45, 12);
  expect(cost?.perMillionTokens).toBeCloseTo(1.8, 12);
  expect(cost?.perPoint).toBeCloseTo(0.2, 12);
});

test('what is not known is not zero: no stages, no gain, no tokens', () => {
  expect(runCost([undefined, null, {}], 10, 0.1)).toBeNull();
  const cost = runCost([undefined, { judge: used({ requests: 1_000_000 }) }], 0, -0.02);
  expect(cost).toMatchObject({ perMillionTokens: null, perPoint: null });
  // The round that said nothing does not make the others cheaper.
  expect(cost?.perRound).toBeCloseTo(0.3, 12);
});

test('sums and differences go field by field', () => {
  const [a, b] = [used({ requests: 1, cpuMs: 2.5 }), used({ cpuMs: 4, r2BytesRead: 7 })];
  expect(addUsage(a, b)).toEqual(used({ requests: 1, cpuMs: 6.5, r2BytesRead: 7 }));
  expect(usageSince(addUsage(a, b), a)).toEqual(b);
  expect(totalUsage([])).toEqual(NOTHING_USED);
});
