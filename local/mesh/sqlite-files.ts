/** The SQLite files of a local mesh's state folder while no mesh runs on it: D1, the index of R2's objects, and the pull queue. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { RollmeshError } from '../../core/errors.ts';

/** What a folder of Miniflare's holds, by its name. */
const HOLDS: Readonly<Record<string, string>> = {
  d1: 'The database (D1)',
  r2: 'The index of the objects (R2)',
  do: 'The queue that the learner pulls from',
};

/** Opens a file to read from it. Node 22 says at the first use that its SQLite is an experiment; that is not the user's concern. */
export async function openSqlite(path: string): Promise<DatabaseSync> {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    const { DatabaseSync } = await import('node:sqlite');
    return new DatabaseSync(path, { readOnly: true });
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The databases in a folder of Miniflare's, such as `d1`. */
export function databasesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sqlite'))
    .map((name) => join(folder, name));
}

/** What SQLite says of a file that is damaged; undefined where its pages fit together. */
async function damageOf(path: string): Promise<string | undefined> {
  let file: DatabaseSync | undefined;
  try {
    file = await openSqlite(path);
    const [row] = file.prepare('PRAGMA quick_check(1)').all();
    const said = String(Object.values(row ?? {})[0]);
    return said === 'ok' ? undefined : said.split('\n').at(-1);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    file?.close();
  }
}

/**
 * Checks the databases before workerd opens them: it would answer every request with an internal error and tell the reason to its log alone.
 *
 * @throws RollmeshError `database.damaged` where one is no database any more, or its pages do not fit together.
 */
export async function refuseDamaged(stateDir: string): Promise<void> {
  for (const [folder, what] of Object.entries(HOLDS))
    for (const path of databasesIn(join(stateDir, 'v3', folder))) {
      const damage = await damageOf(path);
      if (damage === undefined) continue;
      throw new RollmeshError('give-up', 'database.damaged', `${what} is damaged: ${damage} (${path}).`, {
        expected: 'the file as the mesh wrote it',
        next: 'Restore the state folder from a copy, or begin anew with `npx rollmesh start --fresh`.',
      });
    }
}
