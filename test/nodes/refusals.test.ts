/** What the routes of nodes refuse, each by name, and what a node gets to see. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { completionsSha256, identityOf, type NodeIdentity } from '../../core/audit/work-seal.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { sha256Hex } from '../../core/random.ts';
import { keys } from '../../core/schema/round.ts';
import type {
  LeaseAnswer,
  LeaseOrder,
  SamplingRequest,
  WorkResult,
  WorkResultsTaken,
} from '../../core/schema/work.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { nodeArguments } from '../../local/mesh/installation.ts';
import { Computer } from '../../local/node/compute.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { WorkClient } from '../../workers/api/work-client.ts';
import { resultKey } from '../../workers/store/work.ts';
import { ALONE, openScene, type Scene } from '../mesh/scene.ts';

/** Long enough to answer in on a busy machine; the test of a lease that runs out sets its end back. */
const LEASE_SECONDS = 120;
const ORDER: LeaseOrder = { kind: 'process', threads: 1, engines: ['kernels'], weights: [], limit: 1 };
/** Asks for work that there is none of, so that the node counts as there. */
const NOTHING: LeaseOrder = { ...ORDER, engines: ['onnx'] };

interface Member {
  readonly token: string;
  readonly identity: NodeIdentity;
  readonly client: WorkClient;
}

let scene: Scene;
let round: string;
let [first, second]: Member[] = [];

async function join(name: string): Promise<Member> {
  const { token } = await scene.gateway.makeNode(name);
  const client = new WorkClient({ url: scene.mesh.url, token });
  await client.lease(NOTHING);
  return { token, identity: await identityOf(token), client };
}

beforeAll(async () => {
  scene = await openScene({
    vars: {
      ISOLATES_WITH_NODES: 'rest',
      LEASE_SECONDS: String(LEASE_SECONDS),
      READ_TOKEN: 'of-the-readers'.padEnd(64, '0'),
    },
    rateLimit: 10_000,
  });
  first = await join('first');
  second = await join('second');
  ({ round } = await scene.order({ recipe: 'trio', seed: 3, tasks: 8, groupSize: 4, engine: 'kernels' }));
});
afterAll(() => scene.stop());

const post = (path: string, body: unknown, token?: string) =>
  fetch(`${scene.mesh.url}${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { ...ALONE, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  });
const get = (path: string, token: string) =>
  fetch(scene.mesh.url + path, { headers: { ...ALONE, authorization: `Bearer ${token}` } });

async function refusal(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: Record<string, string | null> };
  expect(Object.keys(error).sort()).toEqual(['code', 'expected', 'message', 'next']);
  return `${response.status} ${error.code}`;
}

type Leased = { readonly lease: string; readonly id: string; readonly request: SamplingRequest };

/** Waits until there is something to lease; nodes that do not ask for a while are not counted on. */
async function lease({ client }: Member): Promise<Leased> {
  for (;;) {
    const answer: LeaseAnswer = await client.lease(ORDER);
    const [one] = answer.work;
    if (one && answer.lease) return { lease: answer.lease, ...one };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const computer = new Computer(nodeEngines);

/** What an honest node makes of a lease. */
async function computed({ client }: Member, { lease, request }: Leased): Promise<Completion[][]> {
  const { config, weights } = request;
  const files = {
    [config.sha256]: await client.file(lease, config),
    [weights.sha256]: await client.file(lease, weights),
  };
  return (await computer.compute([request], files))[0]!;
}

async function resultOf(
  { identity }: Member,
  { lease, id, request }: Leased,
  completions: Completion[][],
): Promise<WorkResult> {
  const weights = request.weights.sha256;
  const sha256 = await completionsSha256(completions.flat());
  return {
    work: id,
    lease,
    weights,
    completions,
    seal: await identity.seal({ work: id, lease, weights, sha256 }),
  };
}

const answer = ({ token }: Member, result: object) => post('/api/work/result', result, token);

test('tokens: one that is missing, unknown, of another party, or used for another purpose', async () => {
  const { LEARNER_TOKEN } = scene.mesh.secrets;
  const guessed = `${first!.token.slice(0, -1)}${first!.token.endsWith('0') ? '1' : '0'}`;
  for (const token of [undefined, guessed, LEARNER_TOKEN, `${'0'.repeat(32)}.${'0'.repeat(64)}`])
    expect(await refusal(await post('/api/work/lease', ORDER, token))).toBe('401 node.token');
  const own = first!.token;
  expect(await refusal(await get(`/api/objects/${keys.proposals(round)}`, own))).toBe('401 token.wrong');
  expect(await refusal(await get(`/api/rounds/${round}/work`, own))).toBe('401 token.wrong');
  expect(await refusal(await post('/api/nodes', { name: 'third' }, own))).toBe('401 token.wrong');
  expect(await refusal(await post(`/api/rounds/${round}/report`, {}, own))).toBe('401 token.wrong');
});

test('a verifier reads what is stored, writes nothing and leases nothing', async () => {
  const { token } = await scene.gateway.makeNode('verifier', { reads: 'verifier' });
  expect((await scene.gateway.listNodes()).find(({ name }) => name === 'verifier')!.state).toBe('verifier');
  const { spec } = await scene.gateway.getRound(round);
  const version = { name: spec.settings.policy, version: 0 };
  const elsewhere = new GatewayClient({ url: scene.mesh.url, token });
  expect(await elsewhere.getManifest(version)).toEqual(await scene.gateway.getManifest(version));
  expect((await elsewhere.getRound(round)).spec).toEqual(spec);
  expect(await elsewhere.getGroups(round)).toHaveLength((await scene.gateway.getGroups(round)).length);
  // A node that samples reads neither, although its token is of the same form.
  expect(await refusal(await get(`/api/rounds/${round}`, first!.token))).toBe('401 token.wrong');
  expect(await refusal(await post('/api/work/lease', ORDER, token))).toBe('403 node.reads');
  expect(await refusal(await post(`/api/rounds/${round}/report`, {}, token))).toBe('401 token.wrong');
  expect(await refusal(await post('/api/nodes', { name: 'third' }, token))).toBe('401 token.wrong');
  expect(await refusal(await get(`/api/rounds/${round}/work`, token))).toBe('401 token.wrong');
  expect((await get('/v1/models', token)).status).toBe(401);
  await scene.gateway.revokeNode('verifier');
  expect(await refusal(await get(`/api/objects/${keys.proposals(round)}`, token))).toBe('401 token.wrong');
});

test('a reader of its own reads what READ_TOKEN shows, calls the models, and is revoked alone', async () => {
  const { token } = await scene.gateway.makeNode('ada', { reads: 'reader' });
  const other = await scene.gateway.makeNode('bob', { reads: 'reader' });
  expect((await scene.gateway.listNodes()).find(({ name }) => name === 'ada')!.state).toBe('reader');
  expect((await get(`/api/rounds/${round}`, token)).status).toBe(200);
  expect((await get('/metrics', token)).status).toBe(200);
  expect((await get('/v1/models', token)).status).toBe(200);
  // What is stored, with the answers of tasks, is the learner's and verifiers'.
  expect(await refusal(await get(`/api/objects/${keys.proposals(round)}`, token))).toBe('401 token.wrong');
  expect(await refusal(await post('/api/work/lease', ORDER, token))).toBe('403 node.reads');
  expect(await refusal(await post(`/api/rounds/${round}/report`, {}, token))).toBe('401 token.wrong');
  expect(await refusal(await post('/api/nodes', { name: 'third' }, token))).toBe('401 token.wrong');
  await scene.gateway.revokeNode('ada');
  expect(await refusal(await get(`/api/rounds/${round}`, token))).toBe('401 token.wrong');
  expect((await get('/v1/models', token)).status).toBe(401);
  expect((await get(`/api/rounds/${round}`, other.token)).status).toBe(200);
});

/** `rollmesh node-token`, as whoever runs the mesh calls it. */
function nodeToken(...args: readonly string[]): { readonly status: number | null; readonly said: string } {
  const { LEARNER_TOKEN } = scene.mesh.secrets;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...nodeArguments('cli/rollmesh'), 'node-token', ...args],
    { env: { ...process.env, ROLLMESH_URL: scene.mesh.url, LEARNER_TOKEN }, encoding: 'utf8' },
  );
  return { status, said: stdout + stderr };
}

test('the command makes a token for prompts with reference answers, and the list says which node has one', async () => {
  const { status, said } = nodeToken('create', 'own', '--gold');
  expect([status, said.trim().split('.')[0]]).toEqual([0, (await identityOf(said.trim())).node]);
  expect((await scene.gateway.listNodes()).map(({ name, seesGold }) => [name, seesGold])).toEqual(
    expect.arrayContaining([
      ['first', false],
      ['own', true],
    ]),
  );
  const lines = nodeToken('list').said.split('\n');
  const at = lines.findIndex((line) => line.startsWith('own '));
  const words = '  may be given prompts that hold reference answers';
  expect(lines.flatMap((line, i) => (line === words ? [i] : []))).toEqual([at + 1]);
  expect(nodeToken('create', 'both', '--gold', '--verifier').said).toContain('cannot be used with');
});

test('bodies: too large, of another shape, with more than is asked', async () => {
  const { token } = first!;
  expect(await refusal(await post('/api/work/lease', 'x'.repeat(5000), token))).toBe('413 body.size');
  expect(await refusal(await post('/api/work/lease', '[]', token))).toBe('422 body.schema');
  expect(await refusal(await post('/api/work/lease', { ...ORDER, limit: 1000 }, token))).toBe(
    '422 body.schema',
  );
  expect(await refusal(await post('/api/work/lease', { ...ORDER, least: 9 }, token))).toBe('422 body.schema');
  expect(await refusal(await post('/api/work/lease', { ...ORDER, groups: 'all' }, token))).toBe(
    '422 body.schema',
  );
  expect(await refusal(await answer(first!, { work: 'none' }))).toBe('422 body.schema');
});

test('a node sees prompts as token ids and the files of the version, and nothing else', async () => {
  const held = await lease(first!);
  expect(Object.keys(held.request).sort()).toEqual([
    ...['config', 'policy', 'prompts', 'settings', 'vocabSize', 'weights'],
  ]);
  for (const prompt of held.request.prompts) expect(Object.keys(prompt).sort()).toEqual(['ids', 'sampleIds']);
  const manifest = await scene.gateway.getManifest({ name: held.request.policy.name, version: 0 });
  const foreign = manifest.files['tokenizer.json']!.sha256;
  expect(await refusal(await get(`/api/work/files/${held.lease}/${foreign}`, first!.token))).toBe(
    '403 file.foreign',
  );
  const { sha256 } = held.request.weights;
  expect(sha256).toBe(manifest.files['model.safetensors']!.sha256);
  expect(await refusal(await get(`/api/work/files/${held.lease}/${sha256}`, second!.token))).toBe(
    '409 lease.expired',
  );
  await first!.client.release(held.lease);
  expect(await refusal(await get(`/api/work/files/${held.lease}/${sha256}`, first!.token))).toBe(
    '409 lease.expired',
  );
});

test('a node hears that there will be work soon, while tasks are proposed', async () => {
  // Nothing is answered yet.
  expect(await first!.client.lease(NOTHING)).toMatchObject({ lease: null, work: [], soon: true });
});

test('results: forged, of old weights, impossible, of another’s lease, and sent twice', async () => {
  const held = await lease(first!);
  const made = await computed(first!, held);
  const right = await resultOf(first!, held, made);
  // Sealed by another key, and by the right one over other completions.
  const forged = await resultOf({ ...first!, identity: second!.identity }, held, made);
  expect(await refusal(await answer(first!, forged))).toBe('422 result.seal');
  const other = made.map((row) => row.map((one) => ({ ...one, logprobs: one.logprobs.map((x) => 2 * x) })));
  expect(await refusal(await answer(first!, { ...right, completions: other }))).toBe('422 result.seal');
  expect(await refusal(await answer(first!, { ...right, weights: 'f'.repeat(64) }))).toBe(
    '422 result.weights',
  );
  const more = made.map((row) => row.map((one) => ({ ...one, reward: 1 })));
  expect(await refusal(await answer(first!, await resultOf(first!, held, more)))).toBe('422 body.schema');
  // JSON has no infinity, but numbers that are read as one; what is sealed then is what stands for it, null.
  const endless = made.map((row, p) =>
    row.map((one, s) => (p + s === 0 ? { ...one, logprobs: one.logprobs.with(0, -Infinity) } : one)),
  );
  for (const text of ['-1e999', '1e999', '"NaN"', '"-1"', 'null', '[-1]', 'true', '{}']) {
    const sealed = JSON.stringify(await resultOf(first!, held, endless)).replace('null', text);
    expect(await refusal(await post('/api/work/result', sealed, first!.token)), text).toMatch(/^422 /);
  }
  expect(await refusal(await answer(second!, await resultOf(second!, held, made)))).toBe('403 lease.foreign');
  expect(await refusal(await answer(first!, { ...right, work: '0'.repeat(32) }))).toBe('404 work.unknown');
  expect((await answer(first!, right)).status).toBe(200);
  expect(await refusal(await answer(first!, right))).toBe('409 work.answered');
});

test('two results at once under one lease: the second is not written over the first, which is noted last', async () => {
  const held = await lease(first!);
  const made = await computed(first!, held);
  const other = made.map((row) => row.map((one) => ({ ...one, logprobs: one.logprobs.map((x) => x - 1) })));
  // The first one is stored and not noted yet.
  const key = resultKey({ round, id: held.id, lease: held.lease });
  const bucket = await scene.mesh.mf.getR2Bucket('BUCKET', 'rollmesh-gateway');
  const bytes = new TextEncoder().encode(
    JSON.stringify(made.flat().map(({ ids, logprobs, stopped }) => ({ ids, logprobs, stopped }))),
  );
  await bucket.put(key, bytes, { sha256: sha256Hex(bytes) });
  const forged = await resultOf(first!, held, other);
  expect(await refusal(await answer(first!, forged))).toBe('409 work.answered');
  expect(await (await bucket.get(key))!.json()).toEqual(made.flat());
  expect((await answer(first!, await resultOf(first!, held, made))).status).toBe(200);
});

test('a node gets as many requests as it says at least', async () => {
  const sizeOf = async (order: LeaseOrder) => {
    await second!.client.lease(NOTHING);
    const { lease, work } = await first!.client.lease(order);
    if (lease) await first!.client.release(lease);
    return work.length;
  };
  // As soon as the rollouts are up: eight at most, of which a node's share is a quarter, since another one is there.
  await expect.poll(() => sizeOf({ ...ORDER, limit: 8, least: 3 }), { timeout: 30_000 }).toBe(3);
  expect(await sizeOf({ ...ORDER, limit: 8 })).toBeLessThan(3);
  expect(await first!.client.lease(NOTHING)).not.toHaveProperty('soon');
});

test('results in one call: each is taken or refused by itself, and what was answered first stays', async () => {
  const alone = { ...ORDER, limit: 2 };
  let answer: LeaseAnswer;
  for (;;) {
    answer = await first!.client.lease(alone);
    if (answer.work.length === 2) break;
    // The other requests are not up yet.
    if (answer.lease) await first!.client.release(answer.lease);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const lease = answer.lease!;
  const [one, two] = await Promise.all(
    answer.work.map(async (work) => {
      const held = { lease, ...work };
      const made = await computed(first!, held);
      const { lease: _, ...right } = await resultOf(first!, held, made);
      const other = made.map((row) =>
        row.map((sample) => ({ ...sample, logprobs: sample.logprobs.map((x) => 2 * x) })),
      );
      const { lease: __, ...changed } = await resultOf(first!, held, other);
      const { lease: ___, ...forged } = await resultOf({ ...first!, identity: second!.identity }, held, made);
      return { held, right, changed, forged };
    }),
  );
  const send = async (results: readonly object[], token = first!.token) => {
    const response = await post('/api/work/results', { lease, results }, token);
    if (response.status !== 200) return refusal(response);
    const { taken, refused } = (await response.json()) as WorkResultsTaken;
    return [taken, refused.map(({ work, status, error }) => [work, `${status} ${error.code}`])];
  };
  const { id } = one!.held;
  expect(await send([])).toBe('422 body.schema');
  expect(await send([one!.right, one!.right])).toBe('422 body.schema');
  expect(await send([one!.right, two!.forged])).toEqual([[id], [[two!.held.id, '422 result.seal']]]);
  // Sealed rightly, and sent after the answer that counts: by whom this isolate leased to, and when it has forgotten that.
  const key = resultKey({ round, id, lease });
  const bucket = await scene.mesh.mf.getR2Bucket('BUCKET', 'rollmesh-gateway');
  const stored = await (await bucket.get(key))!.json();
  expect(stored).toEqual(one!.right.completions.flat());
  expect(await send([one!.changed])).toEqual([[], [[id, '409 work.answered']]]);
  expect(await send([one!.right, two!.right])).toEqual([[two!.held.id], [[id, '409 work.answered']]]);
  expect(await send([one!.changed])).toEqual([[], [[id, '409 work.answered']]]);
  expect(await send([two!.right], second!.token)).toEqual([[], [[two!.held.id, '403 lease.foreign']]]);
  expect(await (await bucket.get(key))!.json()).toEqual(stored);
});

test('what no policy could have sampled: refused, and the node that sealed it is shut out and named', async () => {
  const impossible: [string, (one: Completion) => Completion][] = [
    ['a token beyond the vocabulary', (one) => ({ ...one, ids: one.ids.with(0, 1_000_000) })],
    ...[0.5, 5e-324, -128.5, -1e308, Number.MIN_SAFE_INTEGER].map(
      (x): [string, (one: Completion) => Completion] => [
        `a log-probability of ${x}`,
        (one) => ({ ...one, logprobs: one.logprobs.with(-1, x) }),
      ],
    ),
    ['a log-probability too few', (one) => ({ ...one, logprobs: one.logprobs.slice(1) })],
    [
      'one that breaks off',
      (one) => ({ ids: one.ids.slice(0, 1), logprobs: one.logprobs.slice(0, 1), stopped: false }),
    ],
    ['the wrong stop flag', (one) => ({ ...one, stopped: !one.stopped })],
  ];
  const whole: [string, (all: Completion[][]) => Completion[][]][] = [
    ...impossible.map(([what, change]): [string, (all: Completion[][]) => Completion[][]] => [
      what,
      (all) => all.map((row, p) => row.map((one, s) => (p + s === 0 ? change(one) : one))),
    ]),
    ['a prompt too few', (all) => all.slice(1)],
    ['a completion too many', (all) => all.map((row) => [...row, row[0]!])],
  ];
  for (const [i, [what, change]] of whole.entries()) {
    const liar = await join(`liar-${i}`);
    const own = await lease(liar);
    const made = change(await computed(liar, own));
    // Under another's seal it proves nothing.
    const unproven = await resultOf({ ...liar, identity: first!.identity }, own, made);
    expect(await refusal(await answer(liar, unproven)), what).toBe('422 result.seal');
    const lie = await resultOf(liar, own, made);
    expect(await refusal(await answer(liar, lie)), what).toBe('422 result.completions');
    expect(await refusal(await answer(liar, lie)), what).toBe('403 node.shut-out');
  }
  const nodes = await scene.gateway.listNodes();
  for (const { name, state, reason } of nodes)
    if (name.startsWith('liar-'))
      expect({ name, state, reason }).toEqual({
        name,
        state: 'shut-out',
        reason: expect.stringMatching(
          new RegExp(`^result\\.completions: .+ Request [0-9a-f]{32} of round ${round}\\.$`),
        ),
      });
  expect(nodes.filter(({ reason }) => reason !== null)).toHaveLength(whole.length);
});

test('a lease that is held and never answered is taken back, and a late answer is refused', async () => {
  const held = await lease(first!);
  const late = await resultOf(first!, held, await computed(first!, held));
  const db = await scene.mesh.mf.getD1Database('DB', 'rollmesh-gateway');
  await db
    .prepare('UPDATE work SET leased_until = leased_until - ? WHERE id = ?')
    .bind(LEASE_SECONDS * 1000, held.id)
    .run();
  await second!.client.lease(NOTHING);
  await scene.mesh.cron();
  expect(await refusal(await answer(first!, late))).toBe('409 lease.expired');
  expect(await refusal(await post('/api/work/heartbeat', { lease: held.lease }, first!.token))).toBe(
    '409 lease.expired',
  );
  const [node] = await scene.gateway.listNodes();
  expect(node).toMatchObject({ name: 'first', lost: 1 });
  // Somebody else gets it, and finishes it.
  const again = await lease(second!);
  expect(again.id).toBe(held.id);
  expect((await answer(second!, await resultOf(second!, again, await computed(second!, again)))).status).toBe(
    200,
  );
});

test('a revoked token opens nothing, and what it held is open again', async () => {
  const third = await join('third');
  const held = await lease(third);
  const made = await resultOf(third, held, await computed(third, held));
  expect(await scene.gateway.revokeNode('third')).toMatchObject({ name: 'third', released: 1 });
  expect(await refusal(await answer(third, made))).toBe('403 node.revoked');
  expect(await refusal(await post('/api/work/lease', ORDER, third.token))).toBe('403 node.revoked');
  expect((await lease(first!)).id).toBe(held.id);
  await expect(scene.gateway.makeNode('third')).rejects.toMatchObject({ code: 'node.exists' });
});

test('who keeps a lease alive and answers nothing loses it once the round has stalled', async () => {
  const held = await lease(first!);
  expect((await post('/api/work/heartbeat', { lease: held.lease }, first!.token)).status).toBe(200);
  const db = await scene.mesh.mf.getD1Database('DB', 'rollmesh-gateway');
  const before = (await scene.gateway.listNodes())[0]!.lost;
  // Isolates sample what nodes leave; one that finishes just before the clock strikes is progress, and the round has to stall anew.
  let heartbeat: Response;
  do {
    await db.prepare('UPDATE rounds SET touched_at = touched_at - 3600000').run();
    await scene.mesh.cron();
    heartbeat = await post('/api/work/heartbeat', { lease: held.lease }, first!.token);
  } while (heartbeat.status === 200);
  expect(await refusal(heartbeat)).toBe('409 lease.expired');
  expect((await scene.gateway.listNodes())[0]!.lost).toBeGreaterThan(before);
  // The mesh goes on by itself, although both nodes are there: what was held is sampled without them.
  await expect
    .poll(
      async () => {
        const row = await db
          .prepare('SELECT state FROM work WHERE id = ?')
          .bind(held.id)
          .first<{ state: string }>();
        return row?.state;
      },
      { timeout: 90_000 },
    )
    .toBe('closed');
});

test('a node that is shut out holds nothing, and what it answered counts no more', async () => {
  const held = await lease(second!);
  const result = await resultOf(second!, held, await computed(second!, held));
  expect((await answer(second!, result)).status).toBe(200);
  const { rounds } = await scene.gateway.shutOutNode(second!.identity.node, 'a test');
  expect(rounds).toContain(round);
  expect(await refusal(await answer(second!, result))).toBe('403 node.shut-out');
  const db = await scene.mesh.mf.getD1Database('DB', 'rollmesh-gateway');
  const own = db.prepare('SELECT count(*) AS n FROM work WHERE node = ?').bind(second!.identity.node);
  expect(await own.first()).toEqual({ n: 0 });
});
