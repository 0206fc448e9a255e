/** What people say of runs, and the end of a run that nobody wants any more. */
import type { R2Bucket } from '@cloudflare/workers-types';
import { sql } from 'drizzle-orm';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { RunLabel } from '../../core/schema/answers.ts';
import { keys } from '../../core/schema/round.ts';
import { type Database, openRounds, writeAll } from './database.ts';

/** @returns false if there is no such run, or it was deleted */
export async function labelRun(db: Database, run: string, label: RunLabel): Promise<boolean> {
  const [changed] = await writeAll(db, [
    sql`UPDATE runs SET label = ${JSON.stringify(label)} WHERE id = ${run} AND deleted_at IS NULL`,
  ]);
  return changed === 1;
}

/** The most objects that one call of the object store lists or deletes. */
const AT_ONCE = 1000;
/** Calls of the object store in one request at most: a Worker on the free plan has 50. */
const MOST_CALLS = 40;

/** Marks the run as deleted. @returns false if a round of it is open, or there is no such run */
export async function markDeleted(db: Database, run: string, now: number): Promise<boolean> {
  const [marked] = await writeAll(db, [
    sql`UPDATE runs SET deleted_at = coalesce(deleted_at, ${now}), state = 'stopped' WHERE id = ${run}
      AND NOT EXISTS (SELECT 1 FROM rounds WHERE run = ${run} AND state IN ${openRounds})`,
  ]);
  return marked === 1;
}

/**
 * Removes objects of a run's rounds: proposals, samples and judgments. Rows of rounds stay, since versions name them. It is safe to repeat.
 * @returns how many objects were removed, and whether some may be left for another call
 */
export async function removeSamples(
  db: Database,
  bucket: R2Bucket,
  run: string,
): Promise<{ readonly objects: number; readonly left: boolean }> {
  const rounds = await db.all<{ id: string }>(sql`SELECT id FROM rounds WHERE run = ${run} ORDER BY idx`);
  let objects = 0;
  let calls = 0;
  for (const { id } of rounds) {
    const prefix = `rounds/${id}/`;
    for (let more = true; more; ) {
      if (calls >= MOST_CALLS) return { objects, left: true };
      const { objects: found, truncated } = await bucket.list({ prefix, limit: AT_ONCE });
      calls++;
      if (found.length) {
        await bucket.delete(found.map(({ key }) => key));
        calls++;
      }
      objects += found.length;
      more = truncated;
    }
  }
  return { objects, left: false };
}

/**
 * Removes the tasks and images of a deleted run that lie in the object store, where no run that is left needs them, and none of the mesh's recipes that was
 * never ordered: its objects were stored for its first run. What a run of a recipe needs that the mesh does not know any more nobody can say, so that nothing is
 * removed while there is one. It is safe to repeat.
 */
export async function removeTasks(
  db: Database,
  bucket: R2Bucket,
  run: string,
  recipes: readonly Pick<Recipe, 'name' | 'stored'>[],
): Promise<void> {
  const ordered = await db.all<{ recipe: string; own: 0 | 1; left: 0 | 1 }>(
    sql`SELECT DISTINCT settings->>'recipe' AS recipe, id = ${run} AS own, deleted_at IS NULL AS left FROM runs`,
  );
  const known = new Map(recipes.map(({ name, stored = [] }) => [name, stored]));
  const objectsOf = (some: typeof ordered) => some.map(({ recipe }) => known.get(recipe));
  const left = objectsOf(ordered.filter((one) => one.left));
  if (left.includes(undefined)) return;
  const own = objectsOf(ordered.filter((one) => one.own));
  for (const { recipe } of ordered) known.delete(recipe);
  const needed = new Set([...left, ...known.values()].flatMap((objects) => objects ?? []));
  const gone = [...new Set(own.flatMap((objects) => objects ?? []))].filter((sha256) => !needed.has(sha256));
  for (let at = 0; at < gone.length; at += AT_ONCE)
    await bucket.delete(gone.slice(at, at + AT_ONCE).map(keys.tasks));
}
