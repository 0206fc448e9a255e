/** The usage of rounds, one row for each stage: a stage's Worker adds to its row once a batch; the learner's reports set the learner's row. */
import { type SQL, sql } from 'drizzle-orm';
import { addUsage, NOTHING_USED, USAGE_FIELDS, type Usage, type UsageByStage } from '../core/cost/usage.ts';
import type { UsageStage } from '../core/stages.ts';
import type { Database } from './database.ts';
import { usage } from './schema.ts';

/** What recording usage costs by itself: one row written and two rows read. */
const BOOKKEEPING: Usage = { ...NOTHING_USED, d1RowsRead: 2, d1RowsWritten: 1 };

const column = (field: keyof Usage) => sql.raw(usage[field].name);
const list = (parts: SQL[]) => sql.join(parts, sql.raw(', '));

function upsert(round: string, stage: UsageStage, used: Usage, onConflict: (field: keyof Usage) => SQL): SQL {
  const values = USAGE_FIELDS.map((field) => sql`${Math.round(used[field])}`);
  return sql`INSERT INTO usage (round, stage, ${list(USAGE_FIELDS.map((field) => column(field)))})
    SELECT ${round}, ${stage}, ${list(values)} WHERE EXISTS (SELECT 1 FROM rounds WHERE id = ${round})
    ON CONFLICT (round, stage) DO UPDATE SET ${list(USAGE_FIELDS.map(onConflict))}`;
}

/** Adds to a stage's row. The write is not retried: it is better that a part is lost with D1's answer than that it counts twice. */
export async function addUsed(db: Database, round: string, stage: UsageStage, used: Usage): Promise<void> {
  const sum = (field: keyof Usage) =>
    sql`${column(field)} = usage.${column(field)} + excluded.${column(field)}`;
  await db.run(upsert(round, stage, addUsage(used, BOOKKEEPING), sum));
}

/** A statement that replaces a stage's row, for a caller that itself counts from the round's beginning. It is run in a batch with others. */
export const setUsed = (round: string, stage: UsageStage, used: Usage): SQL =>
  upsert(round, stage, used, (field) => sql`${column(field)} = excluded.${column(field)}`);

/** Usage by round and stage. A round without recorded usage has no stages. */
export async function usageOf(
  db: Database,
  rounds: readonly string[],
): Promise<ReadonlyMap<string, UsageByStage>> {
  const rows = await db
    .select()
    .from(usage)
    .where(sql`${usage.round} IN (SELECT value FROM json_each(${JSON.stringify(rounds)}))`);
  const found = new Map<string, UsageByStage>(rounds.map((round) => [round, {}]));
  for (const { round, stage, ...used } of rows) found.set(round, { ...found.get(round), [stage]: used });
  return found;
}
