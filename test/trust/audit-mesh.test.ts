import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditMesh } from '../../cli/audit/audit-mesh.ts';
import { type OwnMesh, startSharedMesh } from '../../cli/shared/state-access.ts';
import { openStateFolder } from '../../cli/shared/state-folder.ts';
import { provenanceMac } from '../../core/audit/provenance.ts';
import { sha256Hex } from '../../core/random.ts';
import type { VersionFile } from '../../core/schema/policy.ts';
import { keys } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { auditRecords, openAudit, settleAudit } from '../../learner/loop/auditor.ts';
import { gatherRound } from '../../learner/loop/gather.ts';
import type { RoundState } from '../../learner/loop/ports.ts';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';
import { ensureShipped } from '../../local/starts.ts';
import { shipped } from '../../recipes/index.ts';
import type { RunOrder } from '../../recipes/run-order.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';

const trio = shipped.find('trio');

const GATEWAY = 'rollmesh-gateway';
const folder = mkdtempSync(join(tmpdir(), 'rollmesh-audit-'));
const stateDir = openStateFolder(join(folder, 'state'), false);
let own: OwnMesh;
let gateway: GatewayClient;
let round: RoundState;
let meshKey: string;

beforeAll(async () => {
  own = await startSharedMesh({ stateDir, cronMs: 0 });
  const { url, secrets } = own.mesh;
  meshKey = secrets.MESH_KEY;
  gateway = new GatewayClient({ url, token: secrets.LEARNER_TOKEN });
  await ensureShipped(gateway);
  const order = { recipe: 'trio', seed: 21, tasks: 4, groupSize: 2, engine: 'kernels' as const };
  const { round: id } = await orderRounds(url, secrets.WEBHOOK_SECRET, order);
  do {
    await new Promise((resolve) => setTimeout(resolve, 100));
    round = await gateway.getRound(id!);
  } while (round.state !== 'training');
});
afterAll(async () => {
  await own.stop();
  rmSync(folder, { recursive: true, force: true });
});

const audit = (fraction: number) =>
  auditMesh(gateway, { recipes: shipped, round: round.id, fraction, meshKey, seed: 'any' });

async function scoredAt(group: string): Promise<ScoredGroup> {
  const bucket = await own.mesh.mf.getR2Bucket('BUCKET', GATEWAY);
  return (await (await bucket.get(keys.scored(round.id, group)))!.json()) as ScoredGroup;
}

/** What somebody who can write to the object store does; with `noted`, to the database too; with `sealed`, who has the key. */
async function forge(
  group: string,
  change: (scored: ScoredGroup) => void,
  { noted = false, sealed = false } = {},
): Promise<void> {
  const { mf } = own.mesh;
  const bucket = await mf.getR2Bucket('BUCKET', GATEWAY);
  const key = keys.scored(round.id, group);
  const scored = await scoredAt(group);
  change(scored);
  const bytes = new TextEncoder().encode(JSON.stringify(scored));
  await bucket.put(key, bytes);
  if (!noted) return;
  const db = await mf.getD1Database('DB', GATEWAY);
  const sha256 = sha256Hex(bytes);
  await db.prepare('UPDATE groups SET sha256 = ? WHERE id = ?').bind(sha256, group).run();
  if (!sealed) return;
  const mac = provenanceMac(meshKey, { ...round, manifests: round.manifests! }, { group, sha256 });
  await db.prepare('UPDATE groups SET mac = ? WHERE id = ?').bind(mac, group).run();
}

const listed = () => gateway.getGroups(round.id);

/** What the judge announced, with the hashes and seals that the database has now. */
const messages = async () =>
  (await gateway.getGroups(round.id)).map(({ group, index, sha256, mac }) => ({
    v: 1 as const,
    round: round.id,
    group,
    index,
    key: keys.scored(round.id, group),
    sha256: sha256!,
    mac: mac!,
  }));

const changeLogprob = (scored: ScoredGroup) => {
  scored.samples[0]!.logprobs[0]! -= 0.001;
};

test('what the Workers wrote is what Node draws, to the last bit', async () => {
  const report = await audit(1);
  expect(report.findings).toEqual([]);
  expect(report).toMatchObject({ groups: 4, sealChecked: true });
  const checked = Object.fromEntries(report.classes.map((row) => [row.class, row.checked]));
  expect(checked).toMatchObject({ round: 6, hash: 6, seal: 4 });
  const groups = await Promise.all((await gateway.getGroups(round.id)).map(({ group }) => scoredAt(group)));
  expect(checked.oracle).toBe(4 + groups.reduce((sum, { judgments }) => sum + judgments.length, 0));
  expect(checked.token).toBe(checked['sample-id']);
});

test('forged records are found, refused before training with their reason, and shown by the command', async () => {
  const [bytes, noted, sealed, honest] = (await gateway.getGroups(round.id)).map(({ group }) => group) as [
    string,
    string,
    string,
    string,
  ];
  await forge(bytes, changeLogprob);
  await forge(noted, changeLogprob, { noted: true });
  await forge(sealed, changeLogprob, { noted: true, sealed: true });

  const found = (await audit(1)).findings.map((finding) => `${finding.group}: ${finding.class}`);
  expect(found.sort()).toEqual(
    [
      `${bytes}: hash`,
      `${bytes}: log-probability`,
      `${noted}: seal`,
      `${noted}: log-probability`,
      `${sealed}: log-probability`,
    ].sort(),
  );

  const received = await gatherRound(gateway, round, await listed(), await messages(), meshKey);
  const codes = (refused: typeof received.refused) =>
    Object.fromEntries(refused.map(({ group, failure }) => [group, failure.code]));
  expect(codes(received.refused)).toEqual({ [bytes]: 'group.hash', [noted]: 'group.seal' });
  const read = await auditRecords(gateway, gateway, trio, round, received, openAudit(1));
  const audited = await settleAudit(gateway, round.spec.id, read);
  expect(codes(audited.refused)).toEqual({
    [bytes]: 'group.hash',
    [noted]: 'group.seal',
    [sealed]: 'audit.log-probability',
  });
  expect(audited.groups.map(({ group }) => group)).toEqual([honest]);

  const command = promisify(execFile)(process.execPath, [
    ...[...NODE_FLAGS, 'cli/rollmesh.ts', 'audit', round.id],
    ...['--state', stateDir],
  ]);
  const failed = (await command.catch((error: unknown) => error)) as { code?: number; stdout: string };
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain(`seal: group ${noted}`);
  expect(failed.stdout).toMatch(/log-probabilities, drawn or scored again +\d+ +\d+ +3\n/);
});

test('proposals that are not those of the seals are refused, and every group with them', async () => {
  const bucket = await own.mesh.mf.getR2Bucket('BUCKET', GATEWAY);
  const key = keys.proposals(round.id);
  const text = await (await bucket.get(key))!.text();
  await bucket.put(key, text.replace('"outcome":"ok"', '"outcome":"off-grammar"'));
  const { proposals, groups, refused } = await gatherRound(
    gateway,
    round,
    await listed(),
    await messages(),
    meshKey,
  );
  expect(proposals.samples).toEqual([]);
  expect(groups).toEqual([]);
  expect(refused.map(({ failure }) => failure.code).sort()).toEqual(
    ['group.hash', 'group.seal', 'object.hash', 'object.hash'].sort(),
  );
  const found = (await audit(0)).findings.filter(({ group }) => group === null);
  expect(found.map((finding) => finding.class)).toEqual(['hash', 'outcome']);
});

/** A policy that no Worker has opened yet: version 0 with the weights of the shipped one. */
async function importAs(policy: string): Promise<void> {
  const files = await gateway.getVersion({ name: 'arithmetic-base', version: 0 });
  const about = { policy, version: 0, parent: null, groups: [], round: null, settings: {} };
  await gateway.putVersion(files, about);
}

const otherWeights = (bytes: Uint8Array) => {
  const other = bytes.slice();
  other[other.length - 2]! ^= 1;
  return other;
};
const oneSpace = (bytes: Uint8Array) => Uint8Array.from([...bytes, 32]);

/** What somebody who can write to the object store does to a version: another file, and a manifest that fits it. */
async function poison(
  name: string,
  file: VersionFile = 'model.safetensors',
  change = otherWeights,
): Promise<void> {
  const bucket = await own.mesh.mf.getR2Bucket('BUCKET', GATEWAY);
  const key = (file: VersionFile | 'manifest.json') => keys.version(name, 0, file);
  const manifest = await gateway.getManifest({ name, version: 0 });
  const { [file]: bytes } = await gateway.getVersion({ name, version: 0 });
  const other = change(bytes!);
  await bucket.put(key(file), other);
  const entry = { sha256: sha256Hex(other), bytes: other.length };
  const forged = { ...manifest, files: { ...manifest.files, [file]: entry } };
  await bucket.put(key('manifest.json'), JSON.stringify(forged));
}

async function playTo(order: RunOrder, states: readonly RoundState['state'][]): Promise<RoundState> {
  const { round: id } = await orderRounds(own.mesh.url, own.mesh.secrets.WEBHOOK_SECRET, order);
  for (;;) {
    const state = await gateway.getRound(id!);
    if (states.includes(state.state)) return state;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const ORDER = {
  recipe: 'trio',
  seed: 22,
  tasks: 2,
  groupSize: 2,
  rounds: 1,
  freeze: [],
  engine: 'kernels' as const,
};

test('weights that were replaced together with their manifest are played by no Worker', async () => {
  await importAs('poisoned');
  await poison('poisoned');
  const failed = await playTo({ ...ORDER, policy: 'poisoned' }, ['failed', 'training']);
  expect(failed).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('its manifest is not the one that was committed'),
  });
});

test('a run does not begin from a start that was poisoned', async () => {
  await poison('arithmetic-base');
  await expect(playTo(ORDER, ['training'])).rejects.toThrow('manifest is not the one that was committed');
});

test.each([
  ['tokenizer.json', () => `/api/rounds/${round.id}/contents`],
  ['config.json', () => `/v1/models/${round.spec.settings.policy}`],
] as const)('nor is a %s of that kind read for those who look', async (file, path) => {
  const { policy } = round.spec.settings;
  const bucket = await own.mesh.mf.getR2Bucket('BUCKET', GATEWAY);
  const stored = await Promise.all(
    [file, 'manifest.json'].map(async (name) => {
      const key = keys.version(policy, 0, name);
      return [key, await (await bucket.get(key))!.arrayBuffer()] as const;
    }),
  );
  await poison(policy, file, oneSpace);
  const said = await (await fetch(own.mesh.url + path())).text();
  expect(said).toContain('its manifest is not the one that was committed');
  for (const [key, bytes] of stored) await bucket.put(key, bytes);
});
