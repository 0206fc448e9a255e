/** Stored rounds that the learner has trained, and the mesh after it: what `verify` and receipts read. */
import type { Registry } from '../../core/recipe/registry.ts';
import { type Manifest, manifestSha256 } from '../../core/schema/policy.ts';
import { trainRound } from '../../learner/loop/train-round.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import type { VerifiedMesh } from '../../local/verify/verify-version.ts';
import {
  gatewayOf,
  MESH_KEY,
  messagesOf,
  type PolicyRows,
  type StoredRound,
  stateOf,
  versionRow,
} from './stored-round.ts';

/** Has the learner train a stored round, and returns the manifest of the version that it makes. `rows`: of the policy before. */
export async function trainStored(
  round: StoredRound,
  recipes: Registry,
  device: string,
  rows?: PolicyRows,
): Promise<Manifest> {
  const { gateway, committed } = gatewayOf(round, rows);
  const trainer = new RoundTrainer();
  await trainRound(gateway, trainer, stateOf(round), round.rows, messagesOf(round), {
    recipes,
    meshKey: MESH_KEY,
    maxStaleness: 1,
    leaseMs: 1,
    longestIdleMs: 1,
    device,
  });
  trainer.dispose();
  return committed()!;
}

/** A round, and the version that was made of it. */
export interface Trained {
  readonly round: StoredRound;
  readonly manifest: Manifest;
}

/** After the commits of versions 1, 2, …; the objects of all are those of the last round. */
export function meshOf(trained: readonly Trained[], changes: Partial<VerifiedMesh> = {}): VerifiedMesh {
  const name = trained[0]!.manifest.policy;
  const of = (id: string) => gatewayOf(trained.find(({ round }) => round.spec.id === id)!.round).gateway;
  const { gateway } = gatewayOf(trained.at(-1)!.round);
  const policy = {
    name,
    next: trained.length + 1,
    ...rowsOf(
      trained.map((one) => one.manifest),
      trained[0]!.round,
    ),
  };
  return {
    getPolicy: (asked) => Promise.resolve(asked === name ? policy : null),
    listPolicies: () => Promise.resolve([name]),
    getManifest: (ref) => gateway.getManifest(ref),
    getVersion: (...asked) => gateway.getVersion(...asked),
    getRound: (id) => of(id).getRound(id),
    getGroups: (id) => of(id).getGroups(id),
    getObject: (...asked) => gateway.getObject(...asked),
    ...changes,
  };
}

/** The rows of version 0 and of a version with this manifest. */
export const start = (round: StoredRound, more: Partial<PolicyRows['versions'][number]> = {}) =>
  versionRow(0, { manifestSha256: round.manifests['0']!, ...more });
export const rowOf = (of: Manifest) => versionRow(of.version, { manifestSha256: manifestSha256(of) });

/** What the database keeps after commits of versions 1, 2, … */
export const rowsOf = (made: readonly Manifest[], round: StoredRound): PolicyRows => ({
  current: made.length,
  versions: [start(round), ...made.map(rowOf)].reverse(),
});
