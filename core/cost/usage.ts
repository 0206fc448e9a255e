/** What the mesh uses of the platform for a round: counted where a binding is called, and summed by the stage that called it. */
import * as v from 'valibot';
import { USAGE_STAGES } from '../round/stages.ts';

const count = v.pipe(v.number(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER));

export const usageCounts = v.object({
  /** Requests to a Worker; a batch that a queue delivers counts as one. */
  requests: count,
  /** Time in which a Worker was not waiting for anything, ms. */
  cpuMs: count,
  /** Blocks of 64 kB that are written to, read from or deleted from a queue. */
  queueOperations: count,
  d1RowsRead: count,
  d1RowsWritten: count,
  /** Objects written or listed. */
  r2ClassA: count,
  /** Objects read, or looked up. */
  r2ClassB: count,
  r2BytesWritten: count,
  r2BytesRead: count,
});
export type Usage = v.InferOutput<typeof usageCounts>;
/** Stages that used nothing are absent. */
export const usageByStage = v.object(v.entriesFromList(USAGE_STAGES, v.exactOptional(usageCounts)));
export type UsageByStage = Readonly<v.InferOutput<typeof usageByStage>>;

export const NOTHING_USED: Usage = {
  requests: 0,
  cpuMs: 0,
  queueOperations: 0,
  d1RowsRead: 0,
  d1RowsWritten: 0,
  r2ClassA: 0,
  r2ClassB: 0,
  r2BytesWritten: 0,
  r2BytesRead: 0,
};

export const USAGE_FIELDS = Object.keys(NOTHING_USED) as (keyof Usage)[];

const combine = (a: Usage, b: Usage, by: (a: number, b: number) => number): Usage =>
  Object.fromEntries(USAGE_FIELDS.map((field) => [field, by(a[field], b[field])])) as Usage;

export const addUsage = (a: Usage, b: Usage): Usage => combine(a, b, (x, y) => x + y);

/** What was used between two readings of one count. */
export const usageSince = (now: Usage, before: Usage): Usage => combine(now, before, (x, y) => x - y);

export const totalUsage = (parts: Iterable<Usage>): Usage => [...parts].reduce(addUsage, NOTHING_USED);
