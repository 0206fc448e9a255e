/** The usage of rounds, one row for each stage: a stage's Worker adds to its row once a batch; the learner's reports set the learner's row. */
import { type SQL, sql } from 'drizzle-orm';
import {
  addUsage,
  NOTHING_USED,
  USAGE_FIELDS,
  type Usage,
  type UsageByStage,
} from '../../core/cost/usage.ts';
import type { UsageStage } from '../../core/round/stages.ts';
import { type Database, runOnce, type Statement } from './database.ts';
import { usage } from './schema.ts';

/** What recording usage costs by itself: one row written and two rows read. */
const BOOKKEEPING: Usage = { ...NOTHING_USED, d1RowsRead: 2, d1RowsWritten: 1 };

const column = (field: keyof Usage) => sql.raw(usage[field].name);
const list = (parts: SQL[]) => sql.join(parts, sql.raw(', '));

function upsert(
  round: string,
  stage: UsageStage,
  used: Usage,
  onConflict: (field: keyof Usage) => SQL,
  provided: SQL = sql`true`,
): SQL {
  const values = USAGE_FIELDS.map((field) => sql`${Math.round(used[field])}`);
  return sql`INSERT INTO usage (round, stage, ${list(USAGE_FIELDS.map((field) => column(field)))})
    SELECT ${round}, ${stage}, ${list(values)} WHERE EXISTS (SELECT 1 FROM rounds WHERE id = ${round}) AND ${provided}
    ON CONFLICT (round, stage) DO UPDATE SET ${list(USAGE_FIELDS.map(onConflict))}`;
}

/** A statement that adds to a stage's row, provided that a condition holds; without one it must not be repeated. */
export const addToUsage = (round: string, stage: UsageStage, used: Usage, provided?: SQL): SQL =>
  upsert(
    round,
    stage,
    addUsage(used, BOOKKEEPING),
    (field) => sql`${column(field)} = usage.${column(field)} + excluded.${column(field)}`,
    provided,
  );

/**
 * Adds to a stage's row, and runs with it statements that change one row each. The write is not retried: it is better that a part is lost
 * with D1's answer than that it counts twice.
 */
export async function addUsed(
  db: Database,
  round: string,
  stage: UsageStage,
  used: Usage,
  left: readonly Statement[] = [],
): Promise<void> {
  const rows = { ...NOTHING_USED, d1RowsRead: left.length, d1RowsWritten: left.length };
  await runOnce(db, [addToUsage(round, stage, addUsage(used, rows)), ...left]);
}

/** A statement that replaces a stage's row, for a caller that itself counts from the round's beginning. It is run in a batch with others. */
export const setUsed = (round: string, stage: UsageStage, used: Usage): SQL =>
  upsert(round, stage, used, (field) => sql`${column(field)} = excluded.${column(field)}`);

export const usageRows = (db: Database, rounds: readonly string[]) =>
  db
    .select()
    .from(usage)
    .where(sql`${usage.round} IN (SELECT value FROM json_each(${JSON.stringify(rounds)}))`);

/** Usage by round and stage. A round without recorded usage has no stages. */
export function usageByRound(
  rounds: readonly string[],
  rows: Awaited<ReturnType<typeof usageRows>>,
): ReadonlyMap<string, UsageByStage> {
  const found = new Map<string, UsageByStage>(rounds.map((round) => [round, {}]));
  for (const { round, stage, ...used } of rows) found.set(round, { ...found.get(round), [stage]: used });
  return found;
}

export const usageOf = async (db: Database, rounds: readonly string[]) =>
  usageByRound(rounds, await usageRows(db, rounds));
