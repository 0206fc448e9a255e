/**
 * A round as the mesh stores it, in memory: the objects of R2 and the rows of D1, behind the routes that the learner and
 * `npx rollmesh audit` read. A forger may write to all of it; what the learner then does is the learner's own code.
 */

import { provenanceMac } from '../../core/audit/provenance.ts';
import { sha256Hex } from '../../core/random.ts';
import type { GroupFailure, PolicyState, RoundState } from '../../core/schema/answers.ts';
import { fileEntries, type Manifest, manifestSha256, type VersionFiles } from '../../core/schema/policy.ts';
import { keys, type RoundSpec, roundIdOf, type ScoredMessage } from '../../core/schema/round.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import type { HonestRound } from './honest-round.ts';

export const MESH_KEY = 'the mesh’s key, which the judge holds';

export interface GroupRow {
  group: string;
  index: number;
  task: string;
  state: 'scored' | 'failed';
  sha256: string | null;
  mac: string | null;
  failure: GroupFailure | null;
}

/** What a forger of everything can write to. */
export interface StoredRound {
  /** R2. */
  readonly objects: Map<string, Uint8Array>;
  /** D1. */
  spec: RoundSpec;
  proposalsSha256: string;
  /** By version. */
  manifests: Record<string, string>;
  rows: GroupRow[];
}

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** A version's files and their manifest, as an import leaves them. @returns the manifest's hash */
export function putVersion(
  round: Pick<StoredRound, 'objects'>,
  files: VersionFiles,
  name: string,
  version = 0,
): string {
  const entries: Manifest['files'] = {};
  for (const [file, bytes] of fileEntries(files)) {
    entries[file] = { sha256: sha256Hex(bytes), bytes: bytes.length };
    round.objects.set(keys.version(name, version, file), bytes);
  }
  const manifest: Manifest = {
    policy: name,
    version,
    parent: null,
    files: entries,
    groups: [],
    round: null,
    settings: {},
  };
  round.objects.set(keys.version(name, version, 'manifest.json'), bytesOf(manifest));
  return manifestSha256(manifest);
}

/** Puts an object and returns its sha256. */
export function putObject(round: Pick<StoredRound, 'objects'>, key: string, value: unknown): string {
  const bytes = bytesOf(value);
  round.objects.set(key, bytes);
  return sha256Hex(bytes);
}

/** The seals of all groups, as whoever has the key makes them of what is stored now. */
export function sealAll(round: StoredRound): void {
  for (const row of round.rows) {
    if (row.sha256 === null) continue;
    row.mac = provenanceMac(MESH_KEY, round, { group: row.group, sha256: row.sha256 });
  }
}

/** The round as proposer, rollout and judge leave it. */
export function storeRound({ record, files }: Pick<HonestRound, 'record' | 'files'>): StoredRound {
  const { round: spec, proposals, groups } = record;
  const stored: StoredRound = {
    objects: new Map(),
    spec: structuredClone(spec),
    proposalsSha256: '',
    manifests: {},
    rows: [],
  };
  stored.manifests['0'] = putVersion(stored, files, spec.settings.policy);
  stored.proposalsSha256 = putObject(stored, keys.proposals(spec.id), proposals);
  for (const group of groups)
    stored.rows.push({
      group: group.group,
      index: group.index,
      task: group.task,
      state: 'scored',
      sha256: putObject(stored, keys.scored(spec.id, group.group), group),
      mac: null,
      failure: null,
    });
  sealAll(stored);
  return stored;
}

export const copyOf = (round: StoredRound): StoredRound => ({
  ...structuredClone({ ...round, objects: null }),
  objects: new Map(round.objects),
});

const answer = (value: unknown) => Response.json(value);
const missing = () =>
  Response.json(
    { error: { code: 'object.unknown', message: 'There is none.', expected: null, next: null } },
    { status: 404 },
  );

export const stateOf = (round: StoredRound): RoundState => {
  const failed = round.rows.filter(({ state }) => state === 'failed').length;
  return {
    id: round.spec.id,
    run: round.spec.run,
    index: round.spec.index,
    recipe: round.spec.settings.recipe,
    roles: round.spec.roles,
    state: 'training',
    spec: round.spec,
    expected: round.rows.length,
    proposed: round.rows.length,
    proposalsSha256: round.proposalsSha256,
    manifests: round.manifests,
    waitsFor: null,
    groups: { rollout: 0, scored: round.rows.length - failed, trained: 0, failed },
    failures: [],
    reason: null,
    version: null,
    report: null,
    usage: null,
    createdAt: 1,
    rolloutAt: 2,
    trainingAt: 3,
    endedAt: null,
  };
};

/** The messages that announce the groups that wait to be trained. */
export const messagesOf = (round: StoredRound): ScoredMessage[] =>
  round.rows
    .filter(({ state }) => state === 'scored')
    .map(({ group, index, sha256, mac }) => ({
      v: 1,
      round: round.spec.id,
      group,
      index,
      key: keys.scored(round.spec.id, group),
      sha256: sha256!,
      mac: mac!,
    }));

/** What the database keeps of a policy. */
export type PolicyRows = Pick<PolicyState, 'current' | 'versions'>;

/** What it keeps of a version, whose parent is the number before it unless `more` says otherwise. */
export const versionRow = (version: number, more: Partial<PolicyRows['versions'][number]> = {}) => ({
  version,
  parent: version === 0 ? null : version - 1,
  round: null,
  bytes: 1,
  createdAt: 1,
  withdrawn: null,
  prunedAt: null,
  manifestSha256: '0'.repeat(64),
  ...more,
});

/**
 * The learner's own client over the stored round. Writes what the learner writes: failures of groups, and a version with its manifest.
 * `rows`: of the policy, when the learner asks for it.
 */
export function gatewayOf(
  round: StoredRound,
  rows: PolicyRows = { current: 0, versions: [] },
): { gateway: GatewayClient; committed: () => Manifest | null } {
  let manifest: Manifest | null = null;
  const at = `/api/rounds/${round.spec.id}`;
  const next = Math.max(rows.current, ...rows.versions.map(({ version }) => version)) + 1;
  const fetchStored = async (
    url: string,
    { method, body }: { method: string; body?: string | Uint8Array },
  ) => {
    const path = new URL(url).pathname;
    const policy = /^\/api\/policies\/([^/]+)$/.exec(path)?.[1];
    const refused = /\/groups\/([0-9a-f]{32})\/failure$/.exec(path)?.[1];
    const sent = /\/versions\/(\d+)\/files\/(.+)$/.exec(path);
    if (path === at) return answer(stateOf(round));
    // The first round of the run, which nothing was reported of.
    if (path === `/api/rounds/${roundIdOf(round.spec.run, 1)}`) return answer(stateOf(round));
    if (path === `${at}/groups`) return answer({ groups: round.rows });
    // No node had a part in the round.
    if (path === `${at}/work`) return answer({ nodes: [], work: [] });
    if (policy) return answer({ name: policy, next, updatedAt: 1, ...rows });
    if (refused) {
      const failure = JSON.parse(String(body)) as GroupFailure;
      for (const row of round.rows)
        if (row.group === refused) Object.assign(row, { state: 'failed', failure });
      return answer({});
    }
    if (path.endsWith('/report')) return answer({});
    const { policy: name } = round.spec.settings;
    if (sent) {
      round.objects.set(keys.version(name, Number(sent[1]), sent[2]!), new Uint8Array(body as Uint8Array));
      return answer({});
    }
    if (method === 'PUT') {
      manifest = JSON.parse(String(body)) as Manifest;
      round.objects.set(keys.version(name, manifest.version, 'manifest.json'), bytesOf(manifest));
      return answer({ version: manifest.version, created: true, nextRound: null });
    }
    const bytes = round.objects.get(path.slice('/api/objects/'.length));
    return bytes ? new Response(new Uint8Array(bytes)) : missing();
  };
  const gateway = new GatewayClient({ url: 'http://mesh', token: 't', fetch: fetchStored as typeof fetch });
  return { gateway, committed: () => manifest };
}
