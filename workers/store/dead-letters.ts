/** Dead letters: messages that were given up. They are stored with their cause until someone replays them. */
import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import { deriveId } from '../../core/random.ts';
import { type Database, writeAll } from './database.ts';
import { deadLetters } from './schema.ts';

export type DeadLetter = typeof deadLetters.$inferSelect;

/** The code of a message that the queue itself gave up. Only the consumer could have known the cause. */
export const UNKNOWN_CAUSE = 'queue.exhausted';

/** The id of a dead letter, derived from queue and body: the same message has the same id, however often it is given up and redelivered. */
export const letterId = (queue: string, body: unknown) =>
  deriveId('dead-letter', queue, JSON.stringify(body));

/** Inserts or updates a dead letter. A cause that a consumer recorded is not overwritten by the queue, which does not know the cause. */
export async function storeDeadLetter(db: Database, letter: Omit<DeadLetter, 'replayedAt'>): Promise<void> {
  const known = (column: 'kind' | 'code' | 'cause') =>
    sql.raw(
      `CASE WHEN excluded.code = '${UNKNOWN_CAUSE}' THEN dead_letters.${column} ELSE excluded.${column} END`,
    );
  await writeAll(db, [
    db
      .insert(deadLetters)
      .values(letter)
      .onConflictDoUpdate({
        target: deadLetters.id,
        set: {
          attempts: sql`max(attempts, excluded.attempts)`,
          kind: known('kind'),
          code: known('code'),
          cause: known('cause'),
          at: letter.at,
          replayedAt: null,
        },
      }),
  ]);
}

export const getDeadLetter = async (db: Database, id: string): Promise<DeadLetter | undefined> =>
  (await db.select().from(deadLetters).where(eq(deadLetters.id, id)))[0];

/** A place in the list of dead letters. */
export type LetterPlace = Pick<DeadLetter, 'at' | 'id'>;

/** Lists dead letters, newest first. Replayed ones are left out unless `replayed` is true. `before`: only those that come after this one in the list. */
export const listDeadLetters = (
  db: Database,
  {
    replayed,
    limit,
    before,
  }: { readonly replayed: boolean; readonly limit: number; readonly before?: LetterPlace | undefined },
): Promise<DeadLetter[]> =>
  db
    .select()
    .from(deadLetters)
    .where(
      and(
        replayed ? undefined : isNull(deadLetters.replayedAt),
        before && sql`(${deadLetters.at}, ${deadLetters.id}) < (${before.at}, ${before.id})`,
      ),
    )
    .orderBy(desc(deadLetters.at), desc(deadLetters.id))
    .limit(limit);

/** Marks a dead letter as replayed. @returns false if it was replayed before */
export async function claimReplay(db: Database, id: string, now: number): Promise<boolean> {
  const { meta } = await db
    .update(deadLetters)
    .set({ replayedAt: now })
    .where(and(eq(deadLetters.id, id), isNull(deadLetters.replayedAt)));
  return meta.changes === 1;
}
