/** Reads the policies of a state folder from its database file, without a mesh: a mesh takes seconds to start, and starting one writes. */
import { join } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { D1Database } from '@cloudflare/workers-types';
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyVersions } from '../../core/schema/answers.ts';
import { databasesIn, openSqlite } from '../../mesh/sqlite-files.ts';
import { causesOf, openDatabase } from '../../store/database.ts';
import { listPolicies, versionsOf } from '../../store/policies.ts';
import { LISTED_VERSIONS, policyVersionsView } from '../../workers/gateway/views.ts';

/** As much of D1 over a SQLite file as drizzle needs to select from one table. */
const readingD1 = (file: DatabaseSync): D1Database =>
  ({
    prepare: (text: string) => ({
      bind: (...values: SQLInputValue[]) => ({
        raw: async () =>
          file
            .prepare(text)
            .all(...values)
            .map((row) => Object.values(row)),
      }),
    }),
  }) as unknown as D1Database;

const hasPolicies = (file: DatabaseSync): boolean =>
  file.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'policies'").get() !== undefined;

/**
 * Every policy with its newest versions, as the gateway answers them; none where no mesh has run on the folder.
 *
 * @throws RollmeshError `state.former` where an earlier release wrote the database, `database.damaged` where it cannot be read.
 */
export async function storedPolicies(stateDir: string): Promise<PolicyVersions[]> {
  for (const path of databasesIn(join(stateDir, 'v3', 'd1'))) {
    const file = await openSqlite(path);
    try {
      if (!hasPolicies(file)) continue;
      const db = openDatabase(readingD1(file));
      const found: PolicyVersions[] = [];
      for (const policy of await listPolicies(db))
        found.push(policyVersionsView(policy, await versionsOf(db, policy.name, LISTED_VERSIONS)));
      return found;
    } catch (error) {
      throw unreadable(path, error);
    } finally {
      file.close();
    }
  }
  return [];
}

function unreadable(path: string, cause: unknown): RollmeshError {
  const causes = causesOf(cause);
  return /no such (?:table|column)/.test(causes)
    ? new RollmeshError('wrong-input', 'state.former', 'An earlier release wrote this state folder.', {
        expected: 'the tables of this release',
        next: 'Start a mesh on it once, with `npm start -- --serve`: it brings the tables up to date.',
        cause,
      })
    : new RollmeshError('give-up', 'database.damaged', `The database cannot be read: ${path}.`, {
        expected: 'the file as the mesh wrote it',
        next: 'Restore the state folder from a copy, or begin anew with `npm start -- --fresh`.',
        cause,
      });
}
