/** Reads a round's stored records for an audit: checks bytes against hashes and hashes against seals, and returns what can be read. */
import * as v from 'valibot';
import type { AuditLedger, Finding } from '../../core/audit/findings.ts';
import { isAuthentic } from '../../core/audit/provenance.ts';
import { isOfTask, wrongList } from '../../core/audit/whole-round.ts';
import { RollmeshError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/random.ts';
import type { GroupStates, RoundState } from '../../core/schema/answers.ts';
import { manifestSha256 } from '../../core/schema/policy.ts';
import { keys, manifestKey, namedVersions, otherRefs } from '../../core/schema/round.ts';
import { type Proposals, proposals, type ScoredGroup, scoredGroup } from '../../core/schema/sample.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';

export type ReadableMesh = Pick<
  GatewayClient,
  'getRound' | 'getGroups' | 'getObject' | 'getManifest' | 'getPolicy' | 'getVersion' | 'getTasks'
>;

export interface StoredRound {
  readonly proposals: Proposals;
  readonly groups: readonly ScoredGroup[];
  /** Ids of the groups that the learner trained on. */
  readonly trained: ReadonlySet<string>;
}

const of = (finding: Finding['class'], group: string | null) => ({ class: finding, group, sample: null });

/** Checks hashes, seals and the version that the round made, and returns the records that can be read. */
export async function readStoredRound(
  gateway: ReadableMesh,
  round: RoundState,
  meshKey: string | undefined,
  ledger: AuditLedger,
): Promise<StoredRound> {
  const states = await gateway.getGroups(round.id);
  const empty: Proposals = { round: round.id, samples: [], tasks: [] };
  const written = await readObject(
    gateway,
    keys.proposals(round.id),
    proposals,
    null,
    round.proposalsSha256,
    ledger,
  );
  const groups: ScoredGroup[] = [];
  for (const state of states) {
    // A group that failed before it was scored has no record; the mesh itself records that it failed.
    if (state.sha256 === null) continue;
    checkSeal(round, state, meshKey, ledger);
    const key = keys.scored(round.id, state.group);
    const group = await readObject(gateway, key, scoredGroup, state.group, state.sha256, ledger);
    if (!group) continue;
    // The object under this key is audited as this group, whatever group it names.
    if (group.group === state.group) groups.push(group);
    else ledger.check(false, of('provenance', state.group), () => `The object is of group ${group.group}.`);
  }
  if (written) {
    const wrong = wrongList(written.tasks, states);
    ledger.check(wrong === null, of('round', null), () => wrong ?? '');
    for (const group of groups)
      ledger.check(
        isOfTask(group, written.tasks),
        of('round', group.group),
        () => 'The group is about another task than the one that was admitted.',
      );
  }
  await checkManifests(gateway, round, ledger);
  await checkVersion(gateway, round, states, ledger);
  const trained = new Set(states.filter(({ state }) => state === 'trained').map(({ group }) => group));
  return { proposals: written ?? empty, groups, trained };
}

async function readObject<S extends v.GenericSchema>(
  gateway: ReadableMesh,
  key: string,
  schema: S,
  group: string | null,
  sha256: string | null,
  ledger: AuditLedger,
): Promise<v.InferOutput<S> | null> {
  let bytes: Uint8Array;
  try {
    bytes = await gateway.getObject(key);
  } catch (error) {
    if (!(error instanceof RollmeshError) || error.kind === 'retry') throw error;
    ledger.check(false, of('hash', group), () => `The object ${key} is gone.`);
    return null;
  }
  if (sha256 !== null)
    ledger.check(sha256Hex(bytes) === sha256, of('hash', group), () => `The object ${key} has other bytes.`);
  try {
    return v.parse(schema, JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    ledger.check(false, of('provenance', group), () => `The object ${key} is no record of the mesh.`);
    return null;
  }
}

function checkSeal(
  { spec, proposalsSha256, manifests }: RoundState,
  { group, sha256, mac }: GroupStates[number],
  meshKey: string | undefined,
  ledger: AuditLedger,
): void {
  if (meshKey === undefined || sha256 === null) return;
  const sealed = { round: spec.id, group, sha256, mac: mac ?? '' };
  ledger.check(
    isAuthentic(meshKey, { spec, proposalsSha256, manifests }, sealed),
    of('seal', group),
    () => 'The seal does not fit the round, its settings, its versions, the group and the hashes.',
  );
}

/** Checks that the versions that the round used, and the one that it made, have the manifests by which they were committed. */
async function checkManifests(
  gateway: ReadableMesh,
  { spec, manifests = {}, version: made }: RoundState,
  ledger: AuditLedger,
): Promise<void> {
  const { policy: name } = spec.settings;
  const named = [...namedVersions(spec).map((version) => ({ name, version })), ...otherRefs(spec)];
  const noted = new Map(
    named.flatMap((ref) => {
      const key = manifestKey(spec, ref);
      const sha256 = manifests[key];
      return sha256 === undefined ? [] : [[key, { ref, sha256 }] as const];
    }),
  );
  const madeRow = (await gateway.getPolicy(name))?.versions.find(({ version }) => version === made);
  if (made !== null && madeRow?.manifestSha256)
    noted.set(String(made), { ref: { name, version: made }, sha256: madeRow.manifestSha256 });
  for (const [version, { ref, sha256 }] of noted) {
    const stored = await gateway.getManifest(ref);
    ledger.check(
      manifestSha256(stored) === sha256,
      of('hash', null),
      () => `The manifest of version ${version} is not the one that was committed.`,
    );
  }
}

/** Checks that the version that the round made names the round and exactly the groups that were trained. */
async function checkVersion(
  gateway: ReadableMesh,
  { id, spec, version }: RoundState,
  states: GroupStates,
  ledger: AuditLedger,
): Promise<void> {
  if (version === null) return;
  const manifest = await gateway.getManifest({ name: spec.settings.policy, version });
  const trained = states.filter(({ state }) => state === 'trained').map(({ group }) => group);
  ledger.check(
    manifest.round === id && JSON.stringify([...manifest.groups].sort()) === JSON.stringify(trained.sort()),
    of('provenance', null),
    () => `Version ${version} names other groups than those that are marked as trained.`,
  );
}
