/** Commits that come out of order, or meet each other, a stop or a rollback: whatever comes first, the policy goes on and no version has another's bytes. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { R2Bucket } from '@cloudflare/workers-types';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import type { Manifest } from '../../core/schema/policy.ts';
import { type RunSettings, runIdOf } from '../../core/schema/round.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { commit } from '../../workers/gateway/commit.ts';
import type { Services } from '../../workers/gateway/services.ts';
import { markScored } from '../../workers/store/groups.ts';
import { putJsonOnce } from '../../workers/store/objects.ts';
import { isSettled, pendingManifest } from '../../workers/store/pending-manifest.ts';
import { getPolicy, getVersion, noteCommit } from '../../workers/store/policies.ts';
import { reviveTraining } from '../../workers/store/revive.ts';
import { rollBack } from '../../workers/store/rollback.ts';
import { admitTasks, getRound } from '../../workers/store/rounds.ts';
import { advanceRun, orderRounds } from '../../workers/store/runs.ts';
import { stopRun } from '../../workers/store/stop-run.ts';
import { putVersionFile, versionKey } from '../../workers/store/version-objects.ts';
import { committedManifest, loadVersion } from '../../workers/store/versions.ts';
import { manifestOf, noteAndCreate, openStore, settings, tasksOf } from '../store/fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  vi.spyOn(console, 'info').mockImplementation(() => {});
  store = await openStore();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await store.close();
});

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const entryOf = (bytes: Uint8Array) => ({ sha256: sha256(bytes), bytes: bytes.length });
const config = readFileSync('models/arithmetic-base/config.json');
const weights = new TextEncoder().encode('weights');
const text = (of: string) => new TextEncoder().encode(of);

/** The bucket, with something that happens once, when the object is looked up for verification. */
function whenVerified(object: string, happens: () => Promise<unknown>): R2Bucket {
  let left = 1;
  return new Proxy(store.bucket, {
    get(bucket, key) {
      if (key !== 'head') return Reflect.get(bucket, key).bind(bucket);
      return async (asked: string) => {
        if (asked.endsWith(object) && left-- > 0) await happens();
        return bucket.head(asked);
      };
    },
  });
}

const queue = { sendBatch: async () => {} };
const commitIn = (manifest: Manifest, bucket: R2Bucket = store.bucket) =>
  commit(
    {
      db: store.db,
      bucket,
      queues: { propose: queue, rollout: queue, judge: queue, scored: queue },
      now: () => 9,
    } as unknown as Services,
    manifest,
  );
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof RollmeshError ? error.code : String(error)),
  );

/** A policy at version 0, and a round of it that waits for version 1. `ahead`: how many rounds further have begun. */
async function trainingRound(seed: number, ahead = 0) {
  const run = { ...settings(seed), ...(ahead ? { ahead } : {}) };
  const { policy } = run;
  const first = manifestOf(policy, 0, {
    files: { 'config.json': entryOf(config), 'model.safetensors': entryOf(weights) },
  });
  for (const [file, bytes] of [['config.json', config] as const, ['model.safetensors', weights] as const])
    await store.bucket.put(versionKey({ name: policy, version: 0 }, file), bytes, { sha256: sha256(bytes) });
  await putJsonOnce(store.bucket, versionKey({ name: policy, version: 0 }, 'manifest.json'), first);
  await noteAndCreate(store.db, first);
  const order = { settings: run, roles: { solver: {} }, rounds: 2, now: 1 };
  await orderRounds(store.db, { ...order, delivery: `d-${seed}` });
  const [round, ...further] = await begun(run);
  return { policy, order, further, ...(await roundInTraining(policy, round!)) };
}

const begun = (run: RunSettings) => advanceRun(store.db, runIdOf(run), 2);

async function roundInTraining(policy: string, round: { id: string; run: string }) {
  const tasks = tasksOf(1).map((task) => ({ ...task, group: `${round.id.slice(0, 31)}0` }));
  await admitTasks(store.db, round.id, tasks, 1, 3);
  await markScored(store.db, round.id, [{ group: tasks[0]!.group, sha256: 'f'.repeat(64) }], 4);
  return { round, manifest: (more: object = {}) => childOf(policy, round.id, more) };
}

/** Version 1, which has the files of version 0. */
const childOf = (policy: string, round: string | null, more: object = {}): Manifest =>
  manifestOf(policy, 1, {
    round,
    files: {
      'config.json': { ...entryOf(config), version: 0 },
      'model.safetensors': { ...entryOf(weights), version: 0 },
    },
    ...more,
  });

test('a version whose round was stopped while it was verified does not keep the next round from its number', async () => {
  const { policy, order, round, manifest } = await trainingRound(1);
  const stopped = whenVerified('config.json', () => stopRun(store.db, round.run, 'by hand', 5));
  expect(await codeOf(commitIn(manifest(), stopped))).toBe('version.parent');
  expect(await isSettled(store.db, store.bucket, { name: policy, version: 1 })).toBe(false);
  // The same again is refused with the reason.
  expect(await codeOf(commitIn(manifest()))).toBe('version.round');

  await orderRounds(store.db, { ...order, delivery: 'again', now: 6 });
  const next = await roundInTraining(policy, (await begun(order.settings))[0]!);
  expect(await codeOf(commitIn(next.manifest()))).toBe('done');
  expect(await getRound(store.db, next.round.id)).toMatchObject({ state: 'done', version: 1 });
  expect((await getPolicy(store.db, policy))?.current).toBe(1);
});

test('a version whose parent was rolled back while it was verified does not keep the next one from its number', async () => {
  const { policy, manifest } = await trainingRound(2);
  expect(await codeOf(commitIn(manifest()))).toBe('done');
  const child = { ...childOf(policy, null), version: 2, parent: 1 };
  const back = whenVerified('config.json', () => rollBack(store.db, { name: policy, version: 0 }, 'bad', 5));
  expect(await codeOf(commitIn(child, back))).toBe('version.parent');
  expect(await codeOf(commitIn({ ...child, parent: 0 }))).toBe('done');
  expect((await getPolicy(store.db, policy))?.current).toBe(2);
});

test('a version that was left behind is committed once its round is replayed', async () => {
  const { policy, round, manifest } = await trainingRound(3);
  const stopped = whenVerified('config.json', () => stopRun(store.db, round.run, 'by hand', 5));
  expect(await codeOf(commitIn(manifest(), stopped))).toBe('version.parent');
  expect(await reviveTraining(store.db, round.id, 6)).toBe(true);
  expect(await isSettled(store.db, store.bucket, { name: policy, version: 1 })).toBe(true);
  expect(await codeOf(commitIn(manifest()))).toBe('done');
});

test('a manifest counts only by the hash that was noted, whatever the object store holds in its place', async () => {
  const { policy, manifest } = await trainingRound(11);
  const ref = { name: policy, version: 1 };
  const noted = manifest();
  await noteCommit(store.db, noted, null);
  const planted = { ...noted, settings: { ...noted.settings, seed: 99 } };
  await store.bucket.put(versionKey(ref, 'manifest.json'), JSON.stringify(planted));
  expect(await pendingManifest(store.db, store.bucket, ref)).toBeNull();
  await store.bucket.put(versionKey(ref, 'manifest.json'), JSON.stringify(noted));
  expect(await pendingManifest(store.db, store.bucket, ref)).toEqual(noted);
});

test('a version is not committed before that of the round before it', async () => {
  const { policy, further, manifest } = await trainingRound(7, 1);
  const later = await roundInTraining(policy, further[0]!);
  expect(await codeOf(commitIn(later.manifest()))).toBe('version.order');
  expect(await isSettled(store.db, store.bucket, { name: policy, version: 1 })).toBe(false);
  expect(await getRound(store.db, later.round.id)).toMatchObject({ state: 'training', version: null });
  expect(await codeOf(commitIn(manifest()))).toBe('done');
  expect(await codeOf(commitIn(later.manifest({ version: 2, parent: 1 })))).toBe('done');
  expect((await getPolicy(store.db, policy))?.current).toBe(2);
});

test('of two learners that commit at once one has the version, and its manifest stays', async () => {
  const { policy, manifest } = await trainingRound(4);
  const ref = { name: policy, version: 1 };
  const [mine, theirs] = [
    manifest({ settings: { device: 'cpu' } }),
    manifest({ settings: { device: 'gpu' } }),
  ];
  const meanwhile = whenVerified('config.json', async () =>
    expect(await codeOf(commitIn(theirs))).toBe('done'),
  );
  expect(await codeOf(commitIn(mine, meanwhile))).toBe('version.contended');
  expect(await codeOf(commitIn(mine))).toBe('version.committed');
  const { manifestSha256 } = (await getVersion(store.db, ref))!;
  expect(await committedManifest(store.bucket, ref, manifestSha256)).toEqual(theirs);
});

test('a file that is on its way while another learner commits its own takes the place of none', async () => {
  const { policy, manifest } = await trainingRound(5);
  const ref = { name: policy, version: 1 };
  const file = 'memory.json' as const;
  const [theirs, mine] = [text('{"of":1}'), text('{"of":2}')];
  const put = (bytes: Uint8Array, bucket: R2Bucket = store.bucket) =>
    putVersionFile(bucket, ref, file, bytes.slice() as never, { sha256: sha256(bytes), settled: false });
  const with1 = (bytes: Uint8Array) => {
    const { files } = manifest();
    return manifest({ files: { ...files, [file]: entryOf(bytes) } });
  };
  // A learner that hangs left the first bytes there. Another one, which has others, was told that the version is not settled.
  expect(await put(theirs)).toBe('stored');
  const arriving = new Proxy(store.bucket, {
    get(bucket, key) {
      if (key !== 'put') return Reflect.get(bucket, key).bind(bucket);
      return async (...asked: Parameters<R2Bucket['put']>) => {
        expect(await codeOf(commitIn(with1(theirs)))).toBe('done');
        return bucket.put(...asked);
      };
    },
  });
  expect(await put(mine, arriving)).toBe('stored');
  const { manifestSha256 } = (await getVersion(store.db, ref))!;
  expect((await loadVersion(store.bucket, ref, [file], manifestSha256))[file]).toEqual(theirs);
});

test('a version is committed and read though a learner that ended left other bytes under the name of its file', async () => {
  const { policy, manifest } = await trainingRound(6);
  const ref = { name: policy, version: 1 };
  const file = 'memory.json' as const;
  const [left, mine] = [text('{"of":1}'), text('{"of":2}')];
  const put = (bytes: Uint8Array) =>
    putVersionFile(store.bucket, ref, file, bytes.slice() as never, {
      sha256: sha256(bytes),
      settled: false,
    });
  expect([await put(left), await put(mine)]).toEqual(['stored', 'stored']);
  const { files } = manifest();
  const asked = manifest({ files: { ...files, [file]: entryOf(mine) } });
  expect(await codeOf(commitIn(asked))).toBe('done');
  expect((await loadVersion(store.bucket, ref, [file], null))[file]).toEqual(mine);
  // Not by its literal name, since the Workers are compiled against other types than the tests.
  const path: string = '../../workers/gateway/app.ts';
  const { gatewayApp } = (await import(path)) as {
    gatewayApp: (services: object) => { request: (path: string, init: object) => Promise<Response> };
  };
  const token = 'the-learners-token'.padEnd(64, '0');
  const free = { limit: async () => ({ success: true }) };
  const app = gatewayApp({
    db: store.db,
    bucket: store.bucket,
    settings: { local: true, pages: [] },
    secrets: { read: [], learner: [token] },
    limits: { reads: free, hooks: free },
  });
  const fetched = (url: string | URL | Request, init?: RequestInit) => app.request(String(url), init ?? {});
  const client = new GatewayClient({ url: 'http://mesh', token, fetch: fetched });
  expect((await client.getVersion(ref, [file]))[file]).toEqual(mine);
});
