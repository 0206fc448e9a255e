/** Rounds through all four Workers: once only, one after the other, and with every message delivered twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stopRun } from '../../cli/stop-run.ts';
import { provenanceMac } from '../../core/audit/provenance.ts';
import { deriveId, sha256Hex } from '../../core/random.ts';
import type { RoundState } from '../../core/schema/answers.ts';
import { fileEntries, manifestSha256, type VersionFiles } from '../../core/schema/policy.ts';
import type { ScoredMessage } from '../../core/schema/round.ts';
import { ensureShipped } from '../../local/starts.ts';
import { openScene, type Scene } from './scene.ts';

const ORDER = { recipe: 'trio', tasks: 4, groupSize: 2, engine: 'kernels' };
let scene: Scene;
let files: VersionFiles;
beforeAll(async () => {
  scene = await openScene();
  files = await scene.gateway.getVersion({ name: 'arithmetic-base', version: 0 });
});
afterAll(() => scene.stop());

const bodyOf = ({ body }: { body: unknown }) => body as ScoredMessage;

/** Commits the weights that were there as the round's version: what a learner does, without learning. */
async function commit({ spec, id }: RoundState, groups: readonly string[]) {
  const { policy } = spec.settings;
  const { current, next } = (await scene.gateway.getPolicy(policy))!;
  const about = { policy, version: next, parent: current, groups: [...groups], round: id, settings: {} };
  return scene.gateway.putVersion(files, about);
}

test('a webhook becomes sealed, scored groups; a commit makes the next round', async () => {
  const { run, round } = await scene.order({ ...ORDER, seed: 1, rounds: 2 });
  const first = await scene.reach(round, ['training']);
  expect(first.groups).toEqual({ rollout: 0, scored: 4, trained: 0, failed: 0 });
  const pulled = (await scene.pullOf(round, 4)).map(bodyOf);
  expect(new Set(pulled.map(({ group }) => group)).size).toBe(4);
  for (const message of pulled) {
    const bytes = await scene.gateway.getObject(message.key, message.sha256);
    expect(sha256Hex(bytes)).toBe(message.sha256);
    expect(message.mac).toBe(
      provenanceMac(scene.mesh.secrets.MESH_KEY, { ...first, manifests: first.manifests! }, message),
    );
  }
  const groups = pulled.map(({ group }) => group);
  const done = await commit(first, groups);
  expect(done).toMatchObject({ version: 1, created: true });
  expect(await commit({ ...first }, groups).catch((error: Error) => error.message)).toContain(
    'wait for a version',
  );
  const second = await scene.reach(done.nextRound!, ['training']);
  expect(second).toMatchObject({ index: 2, run });
  expect(second.spec.roles.solver).toEqual({
    name: 'trio-kernels-tasks4-group2-1',
    version: 1,
    engine: 'kernels',
  });
  const last = await commit(
    second,
    (await scene.gateway.getGroups(second.id)).map(({ group }) => group),
  );
  expect(last).toMatchObject({ version: 2, nextRound: null });
  expect((await scene.gateway.listRounds(run)).map(({ state }) => state)).toEqual(['done', 'done']);
  const refused = await fetch(`${scene.mesh.url}/api/rounds/${round}/report`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}` },
    body: JSON.stringify({ monitors: { groups: 'four' } }),
  });
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({
    error: { code: 'body.schema', message: expect.stringMatching(/^monitors\.groups: /) },
  });
  expect((await scene.gateway.getRound(round)).report).toBeNull();
  await scene.gateway.report(round, { warnings: ['none'] });
  const metrics = await (await fetch(`${scene.mesh.url}/metrics`)).text();
  for (const line of [
    'rollmesh_rounds{state="done"} 2',
    'rollmesh_groups{state="trained"} 8',
    'rollmesh_policy_version{policy="trio-kernels-tasks4-group2-1"} 2',
    'rollmesh_last_round_version_lag{role="solver"} 1',
    'rollmesh_queue_messages{queue="rollout"} 0',
  ])
    expect(metrics).toContain(`\n${line}\n`);
});

test('every message a second time changes nothing', async () => {
  const { round } = await scene.order({ ...ORDER, seed: 2 });
  const state = await scene.reach(round, ['training']);
  const before = await scene.gateway.getGroups(round);
  const objects = await Promise.all(
    before.map(({ group }) => scene.gateway.getObject(`rounds/${round}/groups/${group}/scored.json`)),
  );
  await scene.pullOf(round, 4);
  const { PROPOSE, ROLLOUT, JUDGE } =
    await scene.mesh.mf.getBindings<
      Record<string, { send(body: object, options: object): Promise<unknown> }>
    >('rollmesh-gateway');
  const json = { contentType: 'json' };
  await PROPOSE!.send({ v: 1, round, to: 'propose' }, json);
  for (const { group, index } of before) {
    await ROLLOUT!.send({ v: 1, round, group, index, to: 'rollout' }, json);
    await JUDGE!.send({ v: 1, round, group, index, to: 'judge' }, json);
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
  // It was used again, and counts; nothing else has changed.
  expect({ ...(await scene.gateway.getRound(round)), usage: null }).toEqual({ ...state, usage: null });
  expect(await scene.gateway.getGroups(round)).toEqual(before);
  expect(await scene.drain()).toEqual([]);
  const again = await Promise.all(
    before.map(({ group }) => scene.gateway.getObject(`rounds/${round}/groups/${group}/scored.json`)),
  );
  expect(again).toEqual(objects);
});

test('a group that the learner refuses is missing, and a round of refusals fails and says so', async () => {
  const { round } = await scene.order({ ...ORDER, seed: 4, rounds: 3 });
  await scene.reach(round, ['training']);
  const groups = await scene.gateway.getGroups(round);
  const failure = { kind: 'give-up', code: 'group.hash', message: 'forged' } as const;
  for (const [i, { group }] of groups.entries()) {
    await scene.gateway.failGroup(round, group, failure);
    expect((await scene.gateway.getRound(round)).groups.failed).toBe(i + 1);
  }
  const state = await scene.gateway.getRound(round);
  expect(state).toMatchObject({ state: 'failed', reason: expect.stringContaining('None of its 4 groups') });
  expect((await scene.gateway.getRun(state.run)).state).toBe('stopped');
});

test('a policy that cannot play ends its round as failed, with a dead letter that can be replayed', async () => {
  // A policy without a tokenizer is valid for token ids, but its roles cannot speak.
  const mute = Object.fromEntries(Object.entries(files).filter(([file]) => file !== 'tokenizer.json'));
  const about = { policy: 'mute', version: 0, parent: null, groups: [], round: null, settings: {} };
  await scene.gateway.putVersion(mute, about);
  const { round } = await scene.order({ ...ORDER, seed: 5, policy: 'mute' });
  const state = await scene.reach(round, ['failed']);
  expect(state.reason).toContain('tokenizer');
  const { deadLetters } = (await (await fetch(`${scene.mesh.url}/api/dead-letters`)).json()) as {
    deadLetters: { id: string; round: string; queue: string; kind: string; attempts: number }[];
  };
  const letter = deadLetters.find((candidate) => candidate.round === round);
  expect(letter).toMatchObject({ queue: 'propose', kind: 'wrong-input', attempts: 1 });
  const replay = () =>
    fetch(`${scene.mesh.url}/api/dead-letters/${letter!.id}/replay`, {
      method: 'POST',
      headers: { authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}` },
    });
  expect(
    (await fetch(`${scene.mesh.url}/api/dead-letters/${letter!.id}/replay`, { method: 'POST' })).status,
  ).toBe(401);
  expect((await replay()).status).toBe(202);
  await scene.reach(round, ['failed']);
});

test('a run of ten thousand rounds is stopped while its round waits for the learner', async () => {
  const { run, round } = await scene.order({ ...ORDER, seed: 12, rounds: 10_000 });
  const waiting = await scene.reach(round, ['training']);
  await expect(stopRun(scene.gateway, 'f'.repeat(32), 'test')).rejects.toMatchObject({ code: 'run.unknown' });
  await expect(stopRun(scene.gateway, 'trio', 'test')).rejects.toMatchObject({
    code: 'run.unknown',
    expected: expect.stringContaining(run),
  });
  expect(await stopRun(scene.gateway, 'last', 'too many')).toEqual({ run, done: 0 });
  expect(await scene.gateway.getRun(run)).toMatchObject({ id: run, state: 'stopped', target: 1 });
  expect(await scene.gateway.getRound(round)).toMatchObject({ state: 'failed', reason: 'Stopped: too many' });
  // What the learner had under way comes too late, and changes nothing.
  const groups = (await scene.gateway.getGroups(round)).map(({ group }) => group);
  await expect(commit(waiting, groups)).rejects.toMatchObject({ code: 'version.round' });
  await scene.mesh.cron();
  expect(await scene.gateway.listRounds(run)).toHaveLength(1);
  // An order opens it again, for the rounds that it names.
  expect(await scene.order({ ...ORDER, seed: 12, rounds: 1 })).toMatchObject({ run, rounds: 2 });
  const { id: second } = (await scene.gateway.listRounds(run)).at(-1)!;
  await expect(scene.gateway.deleteRun(run)).rejects.toMatchObject({ code: 'run.open' });
  await stopRun(scene.gateway, run, 'done with it');

  // It is named, and then deleted with its samples; what other runs have stays.
  const label = { name: 'too long', tags: ['waste'], hidden: true };
  expect((await scene.gateway.labelRun(run, label)).label).toEqual(label);
  expect((await scene.gateway.listRuns()).find(({ id }) => id === run)?.label).toEqual(label);
  const bucket = await scene.mesh.mf.getR2Bucket('BUCKET', 'rollmesh-gateway');
  const objectsOf = async (prefix: string) => (await bucket.list({ prefix })).objects.length;
  const [own, all] = [await objectsOf(`rounds/${round}/`), await objectsOf('rounds/')];
  expect(own).toBeGreaterThan(2);
  const removed = await scene.gateway.deleteRun(run);
  expect([await objectsOf(`rounds/${round}/`), await objectsOf(`rounds/${second}/`)]).toEqual([0, 0]);
  expect(await objectsOf('rounds/')).toBe(all - removed);
  expect((await scene.gateway.listRuns()).map(({ id }) => id)).not.toContain(run);
  expect(await scene.gateway.getRun(run)).toMatchObject({ state: 'stopped', deletedAt: expect.any(Number) });
  // It neither goes on nor comes back.
  expect(await scene.gateway.deleteRun(run)).toBe(0);
  await expect(scene.gateway.labelRun(run, label)).rejects.toMatchObject({ code: 'run.unknown' });
  await expect(scene.order({ ...ORDER, seed: 12, rounds: 1 })).rejects.toThrow(/409 .*run\.deleted/);
  await scene.mesh.cron();
  expect(await scene.gateway.listRounds(run)).toHaveLength(2);
});

test('a manifest that was planted for the next version is never committed, and an honest one takes its place', async () => {
  const { round } = await scene.order({ ...ORDER, seed: 13 });
  const waiting = await scene.reach(round, ['training']);
  const { policy } = waiting.spec.settings;
  const groups = (await scene.gateway.getGroups(round)).map(({ group }) => group);
  const bucket = await scene.mesh.mf.getR2Bucket('BUCKET', 'rollmesh-gateway');
  const at = (file: string) => `policies/${policy}/1/${file}`;
  // Right in everything, but for the groups that it says it was trained on.
  const base = await scene.gateway.getManifest({ name: 'arithmetic-base', version: 0 });
  for (const [file, bytes] of fileEntries(files))
    await bucket.put(at(file), bytes, { sha256: base.files[file]!.sha256 });
  const planted = { ...base, policy, version: 1, parent: 0, round, groups: groups.slice(1) };
  await bucket.put(at('manifest.json'), JSON.stringify(planted));
  const db = await scene.mesh.mf.getD1Database('DB', 'rollmesh-gateway');
  // The clock takes the round for one that has stalled.
  await db.prepare('UPDATE rounds SET touched_at = 1 WHERE id = ?').bind(round).run();
  await scene.mesh.cron();
  expect(await scene.gateway.getRound(round)).toMatchObject({ state: 'training', version: null });
  await commit(waiting, groups);
  expect(await scene.gateway.getRound(round)).toMatchObject({ state: 'done', version: 1 });
  const stored = await scene.gateway.getManifest({ name: policy, version: 1 });
  expect(stored.groups).toEqual(groups);
  const known = (await scene.gateway.getVersions(policy)).versions.find(({ version }) => version === 1);
  expect(known?.manifestSha256).toBe(manifestSha256(stored));
  expect(known?.weightsSha256).toBe(stored.files['model.safetensors']!.sha256);
});

test('a manifest that a crash left behind is committed by the clock, since it was noted', async () => {
  const { round } = await scene.order({ ...ORDER, seed: 14 });
  const waiting = await scene.reach(round, ['training']);
  const { policy } = waiting.spec.settings;
  const groups = (await scene.gateway.getGroups(round)).map(({ group }) => group);
  await commit(waiting, groups);
  // The state in which a crash between the manifest and the transaction leaves the database.
  const db = await scene.mesh.mf.getD1Database('DB', 'rollmesh-gateway');
  await db.batch([
    db.prepare('DELETE FROM versions WHERE policy = ? AND version = 1').bind(policy),
    db.prepare('UPDATE policies SET current = 0 WHERE name = ?').bind(policy),
    db.prepare("UPDATE groups SET state = 'scored' WHERE round = ?").bind(round),
    db
      .prepare("UPDATE rounds SET state = 'training', version = NULL, touched_at = 1 WHERE id = ?")
      .bind(round),
  ]);
  await scene.mesh.cron();
  expect(await scene.gateway.getRound(round)).toMatchObject({ state: 'done', version: 1 });
});

test('a round that the learner gave up keeps its groups, and is replayed whole', async () => {
  const { round, run } = await scene.order({ ...ORDER, seed: 15 });
  const { groups } = await scene.reach(round, ['training']);
  const leased = await scene.pullOf(round, groups.scored);
  await scene.queue.ack(leased.map(({ lease }) => lease));
  const failure = { kind: 'retry', code: 'version.unreadable', message: 'Version 0 is torn.' } as const;
  await scene.gateway.failRound(round, { ...failure, attempts: 5 });
  const failed = { state: 'failed', reason: 'Version 0 is torn.', groups };
  expect(await scene.gateway.getRound(round)).toMatchObject(failed);
  expect((await scene.gateway.getRun(run)).state).toBe('stopped');
  const letter = (await scene.gateway.listDeadLetters()).find((one) => one.round === round)!;
  expect(letter).toMatchObject({ queue: 'scored', attempts: 5, code: 'version.unreadable', group: null });
  expect(await scene.gateway.replayDeadLetter(letter.id)).toMatchObject({ state: 'sent' });
  expect(await scene.gateway.getRound(round)).toMatchObject({ state: 'training', reason: null });
  expect((await scene.gateway.getRun(run)).state).toBe('open');
  expect(await scene.pullOf(round, groups.scored)).toHaveLength(groups.scored);
  // It is being trained, so there is nothing to replay.
  expect(await scene.gateway.replayDeadLetter(letter.id)).toMatchObject({ state: 'refused' });
  // What comes after a round has ended changes nothing.
  await scene.gateway.failRound(round, { ...failure, message: 'again', attempts: 5 });
  await scene.gateway.failRound(round, { ...failure, message: 'late', attempts: 5 });
  expect(await scene.gateway.getRound(round)).toMatchObject({ state: 'failed', reason: 'again' });
});

test('any sample is found by its id alone, with its text', async () => {
  const { round } = await scene.order({ ...ORDER, seed: 6 });
  await scene.reach(round, ['training']);
  const [{ group } = { group: '' }] = await scene.gateway.getGroups(round);
  const solver = deriveId(group, 'solver', 1);
  for (const id of [solver, deriveId(round, 'proposer', 0, 0)]) {
    const found = (await (await fetch(`${scene.mesh.url}/api/samples/${id}`)).json()) as {
      round: string;
      sample: { id: string; text: { prompt: string } };
    };
    expect(found).toMatchObject({ round, sample: { id } });
    expect(found.sample.text.prompt).toMatch(id === solver ? /^<solve>/ : /^<propose>/);
  }
});

test('the page of a group of a recipe without a solver has texts', async () => {
  await ensureShipped(scene.gateway, 'grids');
  const { round } = await scene.order({
    recipe: 'ragen',
    tasks: 2,
    groupSize: 2,
    seed: 8,
    engine: 'kernels',
  });
  await scene.reach(round, ['training']);
  const [{ group } = { group: '' }] = await scene.gateway.getGroups(round);
  const page = (await (await fetch(`${scene.mesh.url}/api/rounds/${round}/groups/${group}`)).json()) as {
    samples: { text: { prompt: string; completion: string } }[];
  };
  expect(page.samples.length).toBeGreaterThan(0);
  for (const { text } of page.samples) {
    expect(text.prompt).toMatch(/</);
    expect(text.completion.length).toBeGreaterThan(0);
  }
});

test('samples of roles with other names are found by their id and have their texts', async () => {
  await ensureShipped(scene.gateway, 'arithmetic-late-slips');
  const { round } = await scene.order({
    recipe: 'r-zero',
    tasks: 4,
    groupSize: 2,
    seed: 7,
    engine: 'kernels',
  });
  await scene.reach(round, ['training']);
  for (const query of ['', `?round=${round}`]) {
    const url = `${scene.mesh.url}/api/samples/${deriveId(round, 'challenger', 0)}${query}`;
    const found = (await (await fetch(url)).json()) as { sample: { role: string; text: { prompt: string } } };
    expect(found).toMatchObject({ sample: { role: 'challenger', text: { prompt: '<propose>' } } });
  }
  expect((await fetch(`${scene.mesh.url}/api/samples/${deriveId(round, 'nobody', 0)}`)).status).toBe(404);
});
