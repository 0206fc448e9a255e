/** Reads everything that a round's state is made of, in two calls of D1, since whoever waits for a round asks often. */
import { eq } from 'drizzle-orm';
import type { UsageByStage } from '../../core/cost/usage.ts';
import type { Database } from './database.ts';
import { countByState, countsOf, type GroupCountsByState, type GroupRow, groupsOf } from './groups.ts';
import { type VersionRow, versionsOfRound } from './policies.ts';
import { openBefore, type RoundRow } from './rounds.ts';
import { rounds, runs } from './schema.ts';
import { usageByRound, usageRows } from './usage.ts';

export interface RoundStateRows {
  readonly row: RoundRow;
  readonly counts: GroupCountsByState | undefined;
  readonly usage: UsageByStage | undefined;
  readonly failed: readonly GroupRow[];
  /** The versions that the round names, as far as they are committed. */
  readonly versions: readonly VersionRow[];
  /** The open round that must be trained before; null = none. */
  readonly before: string | null;
  /** Is its run paused? */
  readonly paused: boolean;
}

export async function readRoundState(db: Database, id: string): Promise<RoundStateRows | undefined> {
  const [[row], counted, used, failed] = await db.batch([
    db.select().from(rounds).where(eq(rounds.id, id)),
    countByState(db, [id]),
    usageRows(db, [id]),
    groupsOf(db, id, ['failed']),
  ]);
  if (!row) return undefined;
  const [versions, before, run] = await db.batch([
    versionsOfRound(db, row.spec),
    openBefore(db, row),
    db.select({ state: runs.state }).from(runs).where(eq(runs.id, row.run)),
  ]);
  return {
    row,
    counts: countsOf([id], counted).get(id),
    usage: usageByRound([id], used).get(id),
    failed,
    versions,
    before: before[0]?.id ?? null,
    paused: run[0]?.state === 'paused',
  };
}
