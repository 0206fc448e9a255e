/**
 * Reads the policies of a state folder from its database file, without a mesh: a mesh takes seconds to start, and starting one writes. The
 * queries are those of workers/store/policies.ts in plain SQL, since the library that builds them there takes longer to load than all else here.
 */
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyVersions } from '../../core/schema/answers.ts';
import { databasesIn, openSqlite } from '../../local/mesh/sqlite-files.ts';
import { LISTED_VERSIONS, policyVersionsView } from '../../workers/gateway/views.ts';
import type { PolicyRow, VersionRow } from '../../workers/store/policies.ts';

const POLICIES = 'SELECT name, current, updated_at AS updatedAt FROM policies ORDER BY name LIMIT 1000';
const VERSIONS = `SELECT policy, version, parent, round, bytes, elsewhere, manifest_sha256 AS manifestSha256,
  weights_sha256 AS weightsSha256, created_at AS createdAt,
  withdrawn, withdrawn_at AS withdrawnAt, pruned_at AS prunedAt
  FROM versions WHERE policy = ? ORDER BY version DESC LIMIT ?`;

const hasPolicies = (file: DatabaseSync): boolean =>
  file.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'policies'").get() !== undefined;

/**
 * Every policy with its newest versions, as the gateway answers them; none where no mesh has run on the folder.
 *
 * @throws RollmeshError `state.release` where another release wrote the database, `database.damaged` where it cannot be read.
 */
export async function storedPolicies(stateDir: string): Promise<PolicyVersions[]> {
  for (const path of databasesIn(join(stateDir, 'v3', 'd1'))) {
    const file = await openSqlite(path);
    try {
      if (!hasPolicies(file)) continue;
      const versions = file.prepare(VERSIONS);
      return (file.prepare(POLICIES).all() as unknown as PolicyRow[]).map((policy) =>
        policyVersionsView(policy, versions.all(policy.name, LISTED_VERSIONS) as unknown as VersionRow[]),
      );
    } catch (error) {
      throw unreadable(path, error);
    } finally {
      file.close();
    }
  }
  return [];
}

function unreadable(path: string, cause: unknown): RollmeshError {
  return /no such (?:table|column)/.test(String(cause))
    ? new RollmeshError('wrong-input', 'state.release', 'Another release wrote this state folder.', {
        expected: 'the tables of this release',
        next: 'Start a mesh on it once, with `npx rollmesh start --serve`: it brings the tables up to date.',
        cause,
      })
    : new RollmeshError('give-up', 'database.damaged', `The database cannot be read: ${path}.`, {
        expected: 'the file as the mesh wrote it',
        next: 'Restore the state folder from a copy, or begin anew with `npx rollmesh start --fresh`.',
        cause,
      });
}
