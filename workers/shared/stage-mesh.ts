/** What a stage Worker needs, and what its round contexts are made of: exactly the versions that the round names, an error if one was withdrawn or removed. */
import type { R2Bucket } from '@cloudflare/workers-types';
import { RollmeshError } from '../../core/errors.ts';
import { type AskService, scores, serviceKey } from '../../core/net/reward-service.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import type { RoundContextParts } from '../../core/recipe/round-context.ts';
import { newestOf, type RoundSpec } from '../../core/schema/round.ts';
import { recipeStateOf } from '../../core/text/recipe-state.ts';
import { httpService } from '../../infer/remote/reward-service.ts';
import type { Database } from '../store/database.ts';
import { putJsonOnce, readJson } from '../store/objects.ts';
import { manifestsOf, type VersionRow, versionsOfRound } from '../store/policies.ts';
import { getRound, type RoundRow } from '../store/rounds.ts';
import { readTasks, storeImage } from '../store/stored-tasks.ts';
import { expectUsable } from '../store/versions.ts';
import { episodesIn } from './agent-episodes.ts';
import { loadCommitted } from './committed.ts';
import type { CpuBudget, PartialResults } from './cpu-budget.ts';
import { loadText } from './open-policy.ts';
import type { PolicySession } from './policy-session.ts';

export interface StageMesh {
  readonly recipes: Registry;
  readonly db: Database;
  readonly bucket: R2Bucket;
  readonly session: PolicySession;
  readonly now: () => number;
  /** Signs requests to reward services; absent = none can be asked. */
  readonly rewardSecret?: string | undefined;
  /** Estimated milliseconds of CPU time that an invocation may take for completions. */
  readonly cpuBudgetMs: number;
  /** What this invocation has left of them, for all rounds of its batch and for all tries. */
  readonly cpuBudget: CpuBudget;
  /**
   * The completions that this invocation knows, by round and attempt: where a batch fails, its messages are worked off one by one with what it
   * made, since there is no other budget for it.
   */
  readonly kept: Map<string, PartialResults>;
  /** While there are nodes: whether isolates sample beside them, or leave all to them. */
  readonly besideNodes: boolean;
}

/** Reads the round's row. Throws `give-up` where there is none, because the message then belongs to another mesh. */
export async function roundOfMessage(db: Database, id: string): Promise<RoundRow> {
  const row = await getRound(db, id);
  if (row) return row;
  throw unknownRound(id);
}

export const unknownRound = (id: string) =>
  new RollmeshError('give-up', 'round.unknown', `There is no round ${id}.`, {
    next: 'The message is from another mesh, or the database was replaced.',
  });

/**
 * What the round contexts of a message have in common. Every version that the round names must be usable first. `versions`: their rows, where
 * they were read a moment ago.
 */
export async function stageParts(
  mesh: StageMesh,
  { spec }: RoundRow,
  versions?: readonly VersionRow[],
): Promise<Omit<RoundContextParts<Recipe>, 'use'>> {
  await usableVersions(mesh, spec, versions);
  const newest = newestOf(spec);
  return {
    recipe: mesh.recipes.find(spec.settings.recipe),
    round: spec,
    ...(await loadText(mesh, newest)),
    textOf: (ref) => loadText(mesh, ref),
    episodes: episodesIn(mesh),
    askService: mesh.rewardSecret === undefined ? undefined : askedOnce(mesh, mesh.rewardSecret),
    recipeState: async () => recipeStateOf(await loadCommitted(mesh, newest, ['memory.json'])),
    readStored: (sha256) => readTasks(mesh.bucket, sha256),
    storeImage: (sha256, bytes) => storeImage(mesh.bucket, sha256, bytes),
  };
}

/**
 * A service that is asked once about a group. Two deliveries of a message may ask at the same time: the first answer that is stored is the
 * answer, since the group's record has to be the same bytes whichever delivery writes it.
 */
const askedOnce =
  ({ bucket, now }: Pick<StageMesh, 'bucket' | 'now'>, secret: string): AskService =>
  async (question) => {
    const key = serviceKey(question);
    const stored = await readJson(bucket, key, scores);
    if (stored) return stored;
    await putJsonOnce(bucket, key, await httpService({ secret, now })(question));
    return (await readJson(bucket, key, scores))!;
  };

/** The versions that a round names with the hashes of their manifests. Throws `missing-version` where one is not usable. */
async function usableVersions(
  { db }: Pick<StageMesh, 'db'>,
  spec: RoundSpec,
  versions: readonly VersionRow[] | undefined,
): Promise<readonly VersionRow[]> {
  const rows = versions ?? (await versionsOfRound(db, spec));
  for (const { name, version } of Object.values(spec.roles))
    expectUsable(
      { name, version },
      rows.find((candidate) => candidate.policy === name && candidate.version === version),
    );
  return rows;
}

/** The hashes of the manifests of the round's versions, by version, for the seal. */
export const roundManifests = async (
  mesh: StageMesh,
  spec: RoundSpec,
  versions?: readonly VersionRow[],
): Promise<Record<string, string>> => manifestsOf(spec, await usableVersions(mesh, spec, versions));
