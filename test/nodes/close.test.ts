/** Nodes whose engine is not the mesh's own, a server of completions or native ONNX Runtime, by the command, audited by scoring again. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditMesh } from '../../cli/audit/audit-mesh.ts';
import { auditLines } from '../../cli/audit/audit-table.ts';
import { readStoredRound } from '../../cli/audit/read-round.ts';
import { deviationOf } from '../../core/audit/chance.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { deriveId } from '../../core/random.ts';
import { weightsFile } from '../../core/schema/policy.ts';
import { runIdOf } from '../../core/schema/round.ts';
import { CLOSE_ENGINES, settingsOf } from '../../core/schema/work.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { type OpenPolicy, openVersion } from '../../infer/open-version.ts';
import { nodeArguments } from '../../local/mesh/installation.ts';
import type { Compute } from '../../local/node/lend.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { WorkClient } from '../../workers/api/work-client.ts';
import { NATIVE_NEEDED, nativeInstalled, VULKAN_DRIVER } from '../infer/native.ts';
import { openPlaying, type Playing } from '../mesh/playing.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';
import { startNode } from './in-process-node.ts';

/** How far the server's log-probabilities are off, nats. */
let off = 0;
/** What kind of server it is. */
let dialect: 'vllm' | 'llama.cpp' = 'vllm';
let asked = 0;
let playing: Playing;
let policy: OpenPolicy;
let server: Server;
const children: ChildProcess[] = [];

interface Asked {
  readonly model: string;
  readonly prompt: number[];
  readonly max_tokens: number;
  readonly temperature: number;
  readonly stop_token_ids?: number[];
  readonly seed: number;
}

beforeAll(async () => {
  // While a node is there, isolates sample nothing: on a busy machine they would be done before a server answers.
  playing = await openPlaying(['arithmetic-base'], {
    vars: { ISOLATES_WITH_NODES: 'rest' },
    cronMs: 500,
  });
  // Another engine than the run's, and seeds of its own: other tokens, and other last digits.
  const ref = { name: 'served', version: 0, engine: 'kernels-plain' as const };
  policy = await openVersion(nodeEngines, ref, await readPolicyFolder('models/arithmetic-base'));
  let turn: Promise<unknown> = Promise.resolve();
  server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const {
      prompt,
      max_tokens: maxNew,
      temperature,
      stop_token_ids: stop = [],
      seed,
      model,
    } = JSON.parse(Buffer.concat(chunks).toString()) as Asked;
    asked++;
    const made = turn.then(() =>
      policy.generate([{ ids: prompt, sampleIds: [`server/${seed}`] }], { maxNew, temperature, stop }),
    );
    turn = made.catch(() => undefined);
    const { ids, logprobs, stopped } = (await made)[0]![0]!;
    const stated = logprobs.map((x) => x - off);
    const choice = {
      finish_reason: stopped ? 'stop' : 'length',
      logprobs:
        dialect === 'vllm'
          ? { tokens: ids.map((id) => `token_id:${id}`), token_logprobs: stated }
          : { content: ids.map((id, i) => ({ id, logprob: stated[i] })) },
    };
    const right = model === 'the-base' && request.headers.authorization === 'Bearer a-key';
    response.writeHead(right ? 200 : 401).end(JSON.stringify({ choices: [choice] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGTERM');
  server.close();
  await policy.dispose();
  await playing.stop();
});

/** `rollmesh node --server`, once the mesh has heard of it. */
const join = (name: string, token: string, serves: string, ...more: readonly string[]) =>
  joinBy(name, token, [
    '--threads',
    '2',
    '--server',
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    '--serves',
    serves,
    '--model',
    'the-base',
    ...more,
  ]);

async function joinBy(
  name: string,
  token: string,
  options: readonly string[],
): Promise<{ child: ChildProcess; said: () => string }> {
  const args = ['--mesh', playing.url, ...options];
  const child = spawn(process.execPath, [...nodeArguments('cli/rollmesh'), 'node', ...args], {
    env: {
      ...process.env,
      ROLLMESH_NODE_TOKEN: token,
      ROLLMESH_SERVER_KEY: 'a-key',
      VK_ICD_FILENAMES: VULKAN_DRIVER,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Uint8Array) => {
      said += new TextDecoder().decode(chunk);
    });
  await expect.poll(async () => (await nodeOf(name)).state, { timeout: 180_000 }).toBe('idle');
  return { child, said: () => said };
}

const nodeOf = async (name: string) =>
  (await playing.gateway.listNodes()).find((node) => node.name === name)!;

/** The tokens that a round's record holds of what a node answered. */
async function recordedTokens(id: string, node: string): Promise<number> {
  const { gateway } = playing;
  const { proposals, groups } = await readStoredRound(
    gateway,
    await gateway.getRound(id),
    undefined,
    new AuditLedger(),
  );
  const samples = [
    ...proposals.samples,
    ...groups.flatMap((group) => [...group.samples, ...group.judgments]),
  ];
  const { work } = await gateway.getRoundWork(id);
  const own = new Set(
    work.filter((answered) => answered.node === node).flatMap((answered) => answered.samples),
  );
  return samples.reduce((sum, { id: sample, ids }) => sum + (own.has(sample) ? ids.length : 0), 0);
}

const order = (seed: number) => ({ recipe: 'trio', seed, rounds: 1, freeze: [], tasks: 6, groupSize: 4 });
const startOf = (asked: ReturnType<typeof order>) => `${runOf(shipped, asked).settings.policy}@0`;

test('a server samples for the mesh, and is told how close it is', async () => {
  const { token } = await playing.gateway.makeNode('far', { exactness: 'close' });
  const { child } = await join('far', token, startOf(order(31)));
  const { mesh, alone, before } = await playing.play(order(31));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
  // It trained on what the server sampled, which is not what one process would have sampled.
  expect(mesh[weightsFile()]).not.toBe(before[weightsFile()]);
  expect(mesh[weightsFile()]).not.toBe(alone[weightsFile()]);
  const node = await nodeOf('far');
  expect(node).toMatchObject({ exactness: 'close', state: 'away', reason: null });
  // The mesh takes a request back from a machine that is too busy to answer in time.
  expect(node.samples).toBeGreaterThan(0);
  expect(node.samples).toBeLessThanOrEqual(asked);
  expect(node.audited).toBe(node.requests);
  const [round] = await playing.gateway.newestRounds();
  const recorded = await recordedTokens(round!.id, node.id);
  expect(node.mismatch.tokens).toBe(recorded);
  // What it proposed beyond the last task that was needed is not in the record.
  expect(node.tokens - recorded).toBeGreaterThanOrEqual(0);
  expect(node.tokens - recorded).toBeLessThanOrEqual(2 * 12);
  // Last digits of float32.
  expect(node.mismatch.most).toBeGreaterThan(0);
  expect(node.mismatch.most).toBeLessThan(1e-3);
  // Its draws were compared with those of the mesh, and are as far from them as chance is.
  expect(node.mismatch.squares).toBeGreaterThan(0);
  expect(Math.abs(deviationOf(node.mismatch))).toBeLessThan(5);
  // Afterwards anybody can score them again.
  const audit = { recipes: shipped, round: round!.id, meshKey: undefined, seed: 'any' };
  const report = await auditMesh(playing.gateway, { ...audit, fraction: 1 });
  expect(report.findings).toEqual([]);
  expect(report.close).toMatchObject({ samples: node.samples, mismatch: { tokens: recorded } });
  const lines = auditLines(report).join('\n');
  expect(lines).toContain(`Close nodes answered ${node.samples} samples, which cannot be drawn again`);
  const unscored = await auditMesh(playing.gateway, { ...audit, fraction: 0 });
  expect(unscored.close).toMatchObject({ samples: node.samples, mismatch: { tokens: 0 } });
});

test('a llama-server that is a tenth of a nat off is shut out, and the run comes to the bytes of one process', async () => {
  off = 0.1;
  dialect = 'llama.cpp';
  const { token } = await playing.gateway.makeNode('liar', { exactness: 'close' });
  const { child, said } = await join('liar', token, startOf(order(32)), '--dialect', dialect);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const { mesh, alone } = await playing.play(order(32));
  expect(mesh).toEqual(alone);
  expect(await ended).toBe(1);
  expect(said()).toContain('node.shut-out');
  const node = await nodeOf('liar');
  expect(node).toMatchObject({ state: 'shut-out', audited: 0 });
  expect(node.reason).toMatch(/^audit\.log-probability: .* 0\.100 nats off on average and 0\.100 at most/);
});

/** Draws at a temperature of its own, and states the log-probabilities that the policy gives to what it drew. */
function atTemperature(temperature: number): Compute {
  const opened = new Map<string, Promise<OpenPolicy>>();
  return async (requests, files) => {
    const made: Completion[][][] = [];
    for (const request of requests) {
      const { policy: ref, config, weights, prompts } = request;
      const key = `${ref.name}@${ref.version}`;
      const version = {
        'config.json': files[config.sha256]!,
        [weightsFile(ref.set)]: files[weights.sha256]!,
      };
      opened.set(key, opened.get(key) ?? openVersion(nodeEngines, ref, version));
      const policy = await opened.get(key)!;
      const drawn = await policy.generate(prompts, { ...settingsOf(request), temperature });
      const scores = await policy.score(
        prompts.flatMap(({ ids }, p) => drawn[p]!.map((completion) => [...ids, ...completion.ids])),
      );
      let at = 0;
      made.push(
        prompts.map(({ ids }, p) =>
          drawn[p]!.map((completion) => ({
            ...completion,
            logprobs: scores[at++]!.logprobs.slice(ids.length - 1),
          })),
        ),
      );
    }
    return made;
  };
}

test.runIf(NIGHT)(
  `a node that draws at another temperature, and says what is true of its tokens, is found over its rounds${IN_THE_NIGHT}`,
  async () => {
    const { gateway, url } = playing;
    const { token } = await gateway.makeNode('cold', { exactness: 'close' });
    const cold = await startNode(url, token, atTemperature(0.3));
    const rounds = 8;
    const asked = { ...order(34), rounds, tasks: 12, groupSize: 8, engine: 'kernels' as const };
    await playing.playInMesh(asked);
    await expect(cold.ended).rejects.toMatchObject({ code: 'node.shut-out' });
    const node = await nodeOf('cold');
    expect(node.state).toBe('shut-out');
    expect(node.reason).toMatch(
      /^audit\.chance: Over \d+ tokens it does not draw as the policy does: its tokens are likelier/,
    );
    // Every token was stated with its log-probability, and it was audited and right before: only how the tokens were drawn is wrong.
    expect(node.mismatch.most).toBeLessThan(1e-3);
    expect(node.audited).toBeGreaterThan(0);
    // What it had a part in and was not trained yet was drawn again: every group is trained, and the last round is without it.
    const of = await gateway.listRounds(runIdOf(runOf(shipped, asked).settings));
    expect(of).toHaveLength(rounds);
    for (const { id } of of)
      expect((await gateway.getGroups(id)).every(({ state }) => state === 'trained')).toBe(true);
    const last = await gateway.getShares(of[0]!.id);
    expect(last.filter(({ name }) => name === 'cold')).toEqual([]);
  },
);

test.skipIf(!nativeInstalled).each([
  { engine: 'onnxruntime-node', seed: 33, threads: '2' },
  { engine: 'webgpu', seed: 35, threads: '1' },
] as const)(
  `$engine samples what other engines were asked for, and is right${NATIVE_NEEDED}`,
  async ({ engine, seed, threads }) => {
    const { token } = await playing.gateway.makeNode(engine, { exactness: 'close' });
    const { child } = await joinBy(engine, token, ['--engine', engine, '--threads', threads]);
    const wanted = { ...order(seed), engine: 'kernels-plain' as const };
    await playing.playInMesh(wanted);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const node = await nodeOf(engine);
    expect(node).toMatchObject({ exactness: 'close', state: 'away', reason: null });
    expect(node.samples).toBeGreaterThan(0);
    expect(node.audited).toBe(node.requests);
    expect(node.mismatch.most).toBeGreaterThan(0);
    expect(node.mismatch.most).toBeLessThan(1e-3);
  },
);

test('a close engine names the command that installs it where it is not there, and starts alone', async () => {
  const { token } = await playing.gateway.makeNode('bare', { exactness: 'close' });
  const run = (...options: readonly string[]) => {
    const args = ['node', '--mesh', playing.url, '--token', token, ...options];
    const env = { ...process.env, NODE_PATH: '' };
    const { status, stderr } = spawnSync(process.execPath, [...nodeArguments('cli/rollmesh'), ...args], {
      env,
    });
    return `${status} ${stderr}`;
  };
  if (!nativeInstalled || process.env.NODE_PATH)
    expect(run('--engine', 'onnxruntime-node')).toMatch(
      /^1 node\.engine: .* `npm install --no-save --ignore-scripts onnxruntime-node@\d+\.\d+\.\d+`/,
    );
  expect(run('--engine', 'onnxruntime-node', 'onnx')).toMatch(/^1 node\.engine: .* beside another engine/);
  expect(run('--engine', 'webgpu', '--threads', '2')).toMatch(/^1 node\.engine: --threads is 2/);
  expect(run('--adapters', 'here')).toMatch(/^1 node\.server: Only --adapters is given/);
});

test('what an audit came to is added up over rounds, and once where a round is audited again', async () => {
  const { gateway } = playing;
  const { id } = await gateway.makeNode('sums', { exactness: 'close' });
  const of = { tokens: 10, sum: 0.5, most: 0.25, drift: -2, squares: 4, slack: 0.125 };
  const round = (index: number) => deriveId('test round', String(index));
  const note = (index: number) =>
    gateway.noteAudited({ round: round(index), nodes: { [id]: 1 }, mismatch: { [id]: of } });
  expect(await note(1)).toEqual({ [id]: of });
  expect(await note(1)).toEqual({ [id]: of });
  const both = { tokens: 20, sum: 1, most: 0.25, drift: -4, squares: 8, slack: 0.25 };
  expect(await note(2)).toEqual({ [id]: both });
  expect((await nodeOf('sums')).mismatch).toEqual(both);
});

test('the token of an exact node is refused for a server, and a close node gets what it serves alone', async () => {
  const { gateway, url } = playing;
  const lease = (token: string, serves: { name: string; version: number }) =>
    new WorkClient({ url, token }).lease({
      kind: 'process',
      threads: 1,
      engines: ['onnx'],
      weights: [],
      limit: 8,
      serves,
    });
  const exact = await gateway.makeNode('exact');
  await expect(lease(exact.token, { name: 'trio-31', version: 0 })).rejects.toMatchObject({
    code: 'node.exactness',
    kind: 'wrong-input',
  });
  for (const engine of CLOSE_ENGINES) {
    const asked = { kind: 'process' as const, threads: 1, engines: [engine], weights: [], limit: 8 };
    await expect(new WorkClient({ url, token: exact.token }).lease(asked)).rejects.toMatchObject({
      code: 'node.exactness',
      message: expect.stringContaining(`for ${engine}`),
    });
  }
  const close = await gateway.makeNode('elsewhere', { exactness: 'close' });
  expect(await lease(close.token, { name: 'somebody', version: 3 })).toMatchObject({ lease: null, work: [] });
});
