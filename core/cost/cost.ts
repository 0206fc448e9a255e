/** Converts what was used of the platform to its cost at the published prices. Amounts are in dollars; what is not known stays null. */
import * as v from 'valibot';
import { finite } from '../schema/numbers.ts';
import { PRICES } from './prices.ts';
import { totalUsage, type Usage, type UsageByStage, usageCounts } from './usage.ts';

/** The parts of the bill; `stored` is one month of the objects that were written. */
export const cost = v.object({
  requests: finite,
  cpu: finite,
  queues: finite,
  d1: finite,
  r2: finite,
  stored: finite,
  total: finite,
});
export type Cost = Readonly<v.InferOutput<typeof cost>>;

export function costOf(used: Usage): Cost {
  const price = (field: keyof typeof PRICES.perMillion) => (used[field] * PRICES.perMillion[field]) / 1e6;
  const parts = {
    requests: price('requests'),
    cpu: price('cpuMs'),
    queues: price('queueOperations'),
    d1: price('d1RowsRead') + price('d1RowsWritten'),
    r2: price('r2ClassA') + price('r2ClassB'),
    stored: (used.r2BytesWritten * PRICES.storedGigabyteMonth) / 1e9,
  };
  return { ...parts, total: Object.values(parts).reduce((sum, part) => sum + part, 0) };
}

/** A run's bill. */
export const bill = v.object({
  pricesOf: v.string(),
  used: usageCounts,
  cost,
  perRound: finite,
  /** Cost per million generated tokens; null where none were generated. */
  perMillionTokens: v.nullable(finite),
  /** Cost per percentage point of held-out accuracy gained since version 0; null without two evaluations, or without a gain. */
  perPoint: v.nullable(finite),
});
export type RunCost = Readonly<v.InferOutput<typeof bill>>;

/** null where no round reports usage: a run in one process uses nothing of the platform. */
export function runCost(
  rounds: readonly (UsageByStage | null | undefined)[],
  tokens: number,
  /** The gain of held-out accuracy, as a share. */
  gain: number | null,
): RunCost | null {
  const known = rounds.filter((round): round is UsageByStage => !!round && Object.keys(round).length > 0);
  if (!known.length) return null;
  const used = totalUsage(known.flatMap((round) => Object.values(round)));
  const paid = costOf(used);
  return {
    pricesOf: PRICES.asOf,
    used,
    cost: paid,
    perRound: paid.total / known.length,
    perMillionTokens: tokens > 0 ? (paid.total * 1e6) / tokens : null,
    perPoint: gain !== null && gain > 0 ? paid.total / (100 * gain) : null,
  };
}
