/** What a stage Worker needs, and how it acts as a role: with exactly the version that the round names, unless it was withdrawn. */
import type { R2Bucket } from '@cloudflare/workers-types';
import { RollmeshError } from '../../core/errors.ts';
import type { RoleName, Stage } from '../../core/roles/stage.ts';
import { findRecipe } from '../../recipes/index.ts';
import type { Database } from '../../store/database.ts';
import { getVersion } from '../../store/policies.ts';
import { getRound, type RoundRow } from '../../store/rounds.ts';
import { missingVersion } from '../../store/versions.ts';
import type { PolicySession } from './policy-session.ts';

export interface ActingMesh {
  readonly db: Database;
  readonly bucket: R2Bucket;
  readonly session: PolicySession;
  readonly now: () => number;
}

/** The round's row. Throws `give-up` where there is none: the message is not of this mesh. */
export async function roundOfMessage(db: Database, id: string): Promise<RoundRow> {
  const row = await getRound(db, id);
  if (row) return row;
  throw new RollmeshError('give-up', 'round.unknown', `There is no round ${id}.`, {
    next: 'The message is from another mesh, or the database was replaced.',
  });
}

export async function actAs<T>(
  mesh: ActingMesh,
  { spec }: RoundRow,
  role: RoleName,
  work: (stage: Stage) => Promise<T>,
): Promise<T> {
  const recipe = findRecipe(spec.settings.recipe);
  const ref = spec.roles[role];
  if (!ref)
    throw new RollmeshError('give-up', 'round.role', `Round ${spec.id} has no ${role}.`, {
      expected: `one of ${Object.keys(spec.roles).join(', ')}`,
    });
  const version = await getVersion(mesh.db, ref);
  if (!version) throw missingVersion(ref, 'it is not committed');
  if (version.withdrawn !== null) throw missingVersion(ref, version.withdrawn);
  return mesh.session.use(ref, ({ policy, tokenizer }) => work({ recipe, round: spec, policy, tokenizer }));
}
