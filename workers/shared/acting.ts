/** What a stage Worker needs, and how it acts: with exactly the versions that the round names, unless one was withdrawn or removed. */
import type { R2Bucket } from '@cloudflare/workers-types';
import { RollmeshError } from '../../core/errors.ts';
import type { Policy, PolicyRef } from '../../core/policy.ts';
import type { Recipe } from '../../core/recipe.ts';
import type { Registry } from '../../core/registry.ts';
import { openStage, type Stage } from '../../core/roles/stage.ts';
import { newestOf } from '../../core/schema/round.ts';
import { memoryOf } from '../../core/text/policy-memory.ts';
import type { Database } from '../../store/database.ts';
import { getVersion } from '../../store/policies.ts';
import { getRound, type RoundRow } from '../../store/rounds.ts';
import { loadVersion, missingVersion } from '../../store/versions.ts';
import { loadTokenizer } from './open-policy.ts';
import type { PolicySession } from './policy-session.ts';

export interface ActingMesh {
  readonly recipes: Registry;
  readonly db: Database;
  readonly bucket: R2Bucket;
  readonly session: PolicySession;
  readonly now: () => number;
  /** Estimated milliseconds of CPU time that an invocation may take for completions. */
  readonly rationMs: number;
}

/** The round's row. Throws `give-up` where there is none: the message is not of this mesh. */
export async function roundOfMessage(db: Database, id: string): Promise<RoundRow> {
  const row = await getRound(db, id);
  if (row) return row;
  throw new RollmeshError('give-up', 'round.unknown', `There is no round ${id}.`, {
    next: 'The message is from another mesh, or the database was replaced.',
  });
}

/** The stage of a message. Every version that the round names must be usable before anything is done. `wrap`: how its policies are used. */
export async function stageOf(
  { recipes, db, bucket, session }: ActingMesh,
  { spec }: RoundRow,
  wrap: (policy: Policy) => Policy,
): Promise<Stage<Recipe>> {
  const refs = Object.values(spec.roles);
  for (const ref of new Map(refs.map((ref) => [ref.version, ref])).values()) await expectUsable(db, ref);
  const newest = newestOf(spec);
  return openStage({
    recipe: recipes.find(spec.settings.recipe),
    round: spec,
    tokenizer: await loadTokenizer(bucket, newest),
    use: (ref, work) => session.use(ref, (policy) => work(wrap(policy))),
    memory: async () => memoryOf(await loadVersion(bucket, newest, ['memory.json'])),
  });
}

async function expectUsable(db: Database, ref: PolicyRef): Promise<void> {
  const version = await getVersion(db, ref);
  if (!version) throw missingVersion(ref, 'it is not committed');
  if (version.withdrawn !== null) throw missingVersion(ref, version.withdrawn);
  if (version.prunedAt !== null) throw missingVersion(ref, 'retention removed its files');
}
