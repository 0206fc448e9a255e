/** Retention against a real D1 and R2: nothing that is still named goes, whatever happens at the same moment. */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { roundOf } from '../../core/schema/round.ts';
import { writeAll } from '../../workers/store/database.ts';
import { getVersion } from '../../workers/store/policies.ts';
import {
  judgeVersions,
  type RetentionRule,
  removeFiles,
  takenVersions,
  takeUnnamed,
} from '../../workers/store/retention.ts';
import { rollBack } from '../../workers/store/rollback.ts';
import { failRound } from '../../workers/store/rounds.ts';
import { advanceRun, getRun, insertRound, orderRounds } from '../../workers/store/runs.ts';
import { manifestOf, noteAndCommit, openStore, orderRun } from './fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const DAY = 24 * 3600 * 1000;
const rule = (keep: number, days = 0): RetentionRule => ({ keep, withdrawnMs: days * DAY });
const keptOf = async (policy: string, by: RetentionRule, now = 1000) =>
  Object.fromEntries(
    (await judgeVersions(store.db, policy, by, now)).map(({ version, kept }) => [version, kept]),
  );

/** Versions 1 to n, each made from the one before it, outside of any round. */
async function commitUpTo(policy: string, n: number, from = 0) {
  for (let version = from + 1; version <= n; version++)
    await noteAndCommit(store.db, manifestOf(policy, version), [], 10 + version);
}

let seeds = 100;
/** A policy whose open round names version 0 alone. */
async function policyWith(versions: number) {
  const round = await orderRun(store.db, ++seeds);
  await commitUpTo(`p-${seeds}`, versions);
  return { round, policy: `p-${seeds}` };
}

test('the current version, its recent parents and version 0 are kept', async () => {
  const { policy } = await policyWith(6);
  // The chain is 6, 5, 4: three of them.
  expect(await keptOf(policy, rule(3))).toEqual({
    0: 'where the policy began',
    1: null,
    2: null,
    3: null,
    4: 'a recent parent',
    5: 'a recent parent',
    6: 'the current version',
  });
  expect(await keptOf(policy, rule(1))).toMatchObject({ 5: null, 6: 'the current version' });
});

test('a version that stores the weights of a later one is kept as long as that one', async () => {
  const { policy } = await policyWith(2);
  const on = (version: number) => ({
    files: {
      'model.safetensors': { sha256: 'a'.repeat(64), bytes: 8, version },
      'main.adapter.safetensors': { sha256: 'b'.repeat(64), bytes: 5 },
    },
  });
  for (const version of [3, 4, 5])
    await noteAndCommit(store.db, manifestOf(policy, version, on(2)), [], 10 + version);
  const [row] = [await getVersion(store.db, { name: policy, version: 5 })];
  expect(row).toMatchObject({ bytes: 5, elsewhere: '[2]' });
  expect(await keptOf(policy, rule(1))).toMatchObject({
    1: null,
    2: 'it stores files of a later version',
    3: null,
    5: 'the current version',
  });
  // Full training follows: once the last version on it is gone, nothing names its weights.
  for (const version of [6, 7]) await noteAndCommit(store.db, manifestOf(policy, version), [], 10 + version);
  expect(await keptOf(policy, rule(1))).toMatchObject({ 2: 'it stores files of a later version', 5: null });
  await takeUnnamed(store.db, policy, rule(1), 100);
  expect(await keptOf(policy, rule(1))).toMatchObject({ 2: null });
});

test('the anchor and every delta of a kept version are kept', async () => {
  const { policy } = await policyWith(2);
  const stored = { sha256: 'a'.repeat(64), bytes: 8 };
  // Version 2 is the anchor; 3, 4 and 5 have a delta each, and 6 is whole again.
  const deltas = (of: number) =>
    [3, 4, 5]
      .filter((version) => version <= of)
      .map((version) => ({
        sha256: String(version).repeat(64),
        bytes: version,
        result: stored.sha256,
        ...(version === of ? {} : { version }),
      }));
  for (const version of [3, 4, 5]) {
    const replay = { anchor: { ...stored, version: 2 }, deltas: deltas(version) };
    const files = { 'model.safetensors': { ...stored, replay } };
    await noteAndCommit(store.db, manifestOf(policy, version, { files }), [], 10 + version);
  }
  expect(await getVersion(store.db, { name: policy, version: 5 })).toMatchObject({
    bytes: 5,
    elsewhere: '[2,3,4]',
  });
  const later = 'it stores files of a later version';
  const kept = () => keptOf(policy, rule(1));
  expect(await kept()).toMatchObject({ 1: null, 2: later, 3: later, 4: later, 5: 'the current version' });
  await takeUnnamed(store.db, policy, rule(1), 100);
  expect(await kept()).not.toHaveProperty('1');
  await noteAndCommit(store.db, manifestOf(policy, 6), [], 16);
  // The newest goes first, and what it alone named with the next call.
  for (const last of [5, 4, 3]) {
    expect(await kept()).toMatchObject({
      2: later,
      [last - 1]: later,
      [last]: null,
      6: 'the current version',
    });
    await takeUnnamed(store.db, policy, rule(1), 100);
  }
  expect(await kept()).toMatchObject({ 2: null });
});

test('the chain goes by parents: after a rollback the numbers between are no part of it', async () => {
  const { policy, round } = await policyWith(4);
  await failRound(store.db, round.id, ['proposing'], 'over', 20);
  await rollBack(store.db, { name: policy, version: 2 }, 'bad', 5 * DAY);
  await noteAndCommit(store.db, manifestOf(policy, 5, { parent: 2 }), [], 5 * DAY + 1);
  const at = (days: number) => keptOf(policy, rule(2, 7), days * DAY);
  expect(await at(11)).toEqual({
    0: 'where the policy began',
    1: null,
    2: 'a recent parent',
    3: 'withdrawn less than 7 days ago',
    4: 'withdrawn less than 7 days ago',
    5: 'the current version',
  });
  expect(await at(13)).toMatchObject({ 3: null, 4: null });
});

test('a version that an open round names stays; when the round fails as the last of its run, it still may be replayed', async () => {
  const { policy, round } = await policyWith(2);
  const run = (await getRun(store.db, round.run))!;
  await failRound(store.db, round.id, ['proposing'], 'over', 20);
  await orderRounds(store.db, {
    delivery: `again-${seeds}`,
    settings: run.settings,
    roles: run.roles,
    rounds: 2,
    now: 21,
  });
  const [second] = await advanceRun(store.db, round.run, 22);
  expect(second?.roles.solver?.version).toBe(2);
  await commitUpTo(policy, 9, 2);
  expect(await keptOf(policy, rule(1))).toMatchObject({ 2: 'a round names it', 3: null });
  await failRound(store.db, second!.id, ['proposing'], 'over', 30);
  expect(await keptOf(policy, rule(1))).toMatchObject({ 2: 'a round names it', 3: null });
  // A third round: the second can never open again.
  await orderRounds(store.db, {
    delivery: `thrice-${seeds}`,
    settings: run.settings,
    roles: run.roles,
    rounds: 2,
    now: 31,
  });
  expect((await advanceRun(store.db, round.run, 32))[0]?.roles.solver?.version).toBe(9);
  expect(await keptOf(policy, rule(1))).toMatchObject({ 2: null, 9: 'the current version' });
});

test('a run whose role lags two behind and holds for three rounds may still name the fourth before the newest', async () => {
  const { policy, round } = await policyWith(9);
  await failRound(store.db, round.id, ['proposing'], 'over', 20);
  const roles = JSON.stringify({ solver: {}, opponent: { lag: 2, refreshEvery: 3 } });
  await writeAll(store.db, [sql`UPDATE runs SET roles = ${roles} WHERE id = ${round.run}`]);
  // Round 3 at version 9 is the third of the held ones: 9 - 2 - 2.
  expect(await keptOf(policy, rule(1))).toMatchObject({
    4: null,
    5: 'a role lags so far behind',
    8: 'a role lags so far behind',
  });
});

test('a run whose role is drawn from a pool of four may still name the third before the newest', async () => {
  const { policy, round } = await policyWith(9);
  await failRound(store.db, round.id, ['proposing'], 'over', 20);
  const roles = JSON.stringify({ solver: {}, opponent: { sampleFrom: 4 } });
  await writeAll(store.db, [sql`UPDATE runs SET roles = ${roles} WHERE id = ${round.run}`]);
  expect(await keptOf(policy, rule(1))).toMatchObject({ 5: null, 6: 'a role lags so far behind' });
});

test('a version by which another policy’s run is judged stays', async () => {
  const { policy } = await policyWith(5);
  const { round } = await policyWith(0);
  await failRound(store.db, round.id, ['proposing'], 'over', 20);
  const roles = JSON.stringify({ solver: {}, 'judge-style': { fixed: { name: policy, version: 2 } } });
  await writeAll(store.db, [sql`UPDATE runs SET roles = ${roles} WHERE id = ${round.run}`]);
  expect(await keptOf(policy, rule(1))).toMatchObject({ 1: null, 2: 'a run is judged by it', 3: null });
});

test('what is taken is refused from then on: no rollback to it, and no round at it', async () => {
  const { policy, round } = await policyWith(5);
  expect(await takeUnnamed(store.db, policy, rule(2), 50)).toBe(3);
  expect((await getVersion(store.db, { name: policy, version: 3 }))?.prunedAt).toBe(50);
  expect(await rollBack(store.db, { name: policy, version: 3 }, 'no', 51)).toBe(false);
  expect(await rollBack(store.db, { name: policy, version: 4 }, 'yes', 52)).toBe(true);
  const run = (await getRun(store.db, round.run))!;
  await failRound(store.db, round.id, ['proposing'], 'over', 53);
  const late = roundOf(run.settings, run.roles, 2, 3);
  expect(await writeAll(store.db, [insertRound(late, 54)])).toEqual([0]);
  expect(await writeAll(store.db, [insertRound(roundOf(run.settings, run.roles, 2, 4), 54)])).toEqual([1]);
});

test('a race between a beginning round and the pruning: never both', async () => {
  for (let i = 0; i < 8; i++) {
    const { policy, round } = await policyWith(3);
    await failRound(store.db, round.id, ['proposing'], 'over', 20);
    const run = (await getRun(store.db, round.run))!;
    // The round was decided on while version 2 was current, and is written now.
    const late = roundOf(run.settings, run.roles, 2, 2);
    const begin = () => writeAll(store.db, [insertRound(late, 30)]);
    const take = () => takeUnnamed(store.db, policy, rule(1), 30);
    const [[inserted]] =
      i % 2
        ? await Promise.all([begin(), take()])
        : await Promise.all([take(), begin()]).then(([, b]) => [b]);
    const pruned = (await getVersion(store.db, { name: policy, version: 2 }))!.prunedAt !== null;
    expect(pruned).toBe(inserted === 0);
  }
});

test('the files go, whatever they are called, those that nobody committed, too; the manifest stays; a crash between is made up for', async () => {
  const { policy } = await policyWith(1);
  const files = [
    'config.json',
    'model.safetensors',
    'critic.safetensors',
    'critic.optimizer.safetensors',
    'memory.json',
  ];
  const entry = { sha256: 'a'.repeat(64), bytes: 8 };
  const manifest = manifestOf(policy, 2, { files: Object.fromEntries(files.map((file) => [file, entry])) });
  await noteAndCommit(store.db, manifest, [], 20);
  await commitUpTo(policy, 3, 2);
  const key = (file: string) => `policies/${policy}/2/${file}`;
  for (const file of [...files, `memory.json.${'b'.repeat(64)}`]) await store.bucket.put(key(file), 'x');
  await store.bucket.put(key('manifest.json'), JSON.stringify(manifest));
  await takeUnnamed(store.db, policy, rule(1), 60);
  // Version 1 has no manifest in the bucket: its row is settled all the same.
  const taken = (await takenVersions(store.db)).filter((row) => row.policy === policy);
  expect(taken).toEqual([
    { policy, version: 1, bytes: 8 },
    { policy, version: 2, bytes: 40 },
  ]);
  await store.bucket.delete(key('config.json'));
  for (const version of taken) await removeFiles(store.db, store.bucket, version);
  const { objects } = await store.bucket.list({ prefix: `policies/${policy}/2/` });
  expect(objects.map((object) => object.key)).toEqual([key('manifest.json')]);
  expect((await takenVersions(store.db)).filter((row) => row.policy === policy)).toEqual([]);
});
