/** The server of the Tinker API: it does what the client library sent it, its losses and gradients are those of their definitions, and it samples what it trains. */
import { setTimeout } from 'node:timers/promises';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openDevice } from '../../../learner/device/node-host.ts';
import { type RemoteModel, TinkerClient } from '../../../learner/tinker/client.ts';
import { decodeOutput, encodeForwardBackward } from '../../../learner/tinker/messages.ts';
import type { LossName } from '../../../learner/tinker/wire.ts';
import { Checkpoints } from '../../../local/tinker/checkpoints.ts';
import { tinkerRoutes } from '../../../local/tinker/routes.ts';
import { serveTinker } from '../../../local/tinker/serve.ts';
import type { TinkerService } from '../../../local/tinker/service.ts';
import { readPolicyFolder } from '../../../model/policy-folder.ts';
import { version } from '../plan-fixture.ts';
import { openServer, requests, URL_OF_SERVER } from './server.ts';

const SESSION = '00000000-0000-4000-8000-000000000000';
let served: ReturnType<typeof openServer>;
let tiny: ReturnType<typeof openServer>;
let overwritten: ReturnType<typeof openServer>;
beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
  const arithmetic = { 'arithmetic-base': await readPolicyFolder('models/arithmetic-base') };
  served = openServer(arithmetic, { ids: () => SESSION });
  overwritten = openServer(arithmetic);
  tiny = openServer({ base: version('start') }, { waitMs: 50 });
});
afterAll(async () => {
  await served.dispose();
  await tiny.dispose();
  await overwritten.dispose();
});

/** The bytes of each field of a message, by its number. */
function fieldsOf(message: Uint8Array): Map<number, Uint8Array[]> {
  const fields = new Map<number, Uint8Array[]>();
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === 2) fields.set(field, [...(fields.get(field) ?? []), reader.bytes()]);
    else reader.skip(type);
  }
  return fields;
}
const floats = (bytes: Uint8Array) => Array.from(new Float32Array(new Uint8Array(bytes).buffer));
const ints = (bytes: Uint8Array) => Array.from(new Int32Array(new Uint8Array(bytes).buffer));

test('every request that the client library of release 0.25.0 sent in a session is done', async () => {
  const results = new Map<string, Uint8Array>();
  for (const { method, path, type, accept, json, bytes, status } of requests) {
    const body = bytes ? Buffer.from(bytes, 'base64') : json && JSON.stringify(json);
    const answer = await served.fetch(`${URL_OF_SERVER}${path}`, {
      method,
      headers: { ...(type ? { 'content-type': type } : {}), ...(accept ? { accept } : {}) },
      ...(body ? { body } : {}),
    });
    expect(answer.status, path).toBe(status);
    if (path.endsWith('retrieve_future')) {
      const id = (json as { request_id: string }).request_id.replace(/^.*:(train|sample):/, '$1 ');
      results.set(id, new Uint8Array(await answer.arrayBuffer()));
    }
  }
  const text = (id: string) => new TextDecoder().decode(results.get(id));
  const loss = (id: string) => decodeOutput(results.get(id)!).metrics['loss:sum']!;
  expect(JSON.parse(text('train 0/2'))).toMatchObject({ type: 'optim_step', metrics: {} });
  // Three steps on two sentences make them likelier; a loss that is not known is the caller's fault.
  expect(loss('train 0/5')).toBeLessThan(loss('train 0/1') / 2);
  expect(JSON.parse(text('train 0/12'))).toEqual({
    error: expect.stringContaining('"dro"'),
    category: 'user',
  });
  // The state that was saved and loaded is the same model.
  expect(loss('train 1/2')).toBe(loss('train 0/16'));
  const samples = fieldsOf(results.get('sample 0/0')!).get(1)!.map(fieldsOf);
  expect(
    samples.map((sample) => ints(sample.get(2)![0]!).length === floats(sample.get(3)![0]!).length),
  ).toEqual([true, true, true]);
  expect(floats(fieldsOf(results.get('sample 0/1')!).get(2)![0]!)).toEqual([
    Number.NaN,
    ...new Array(4).fill(expect.any(Number)),
  ]);
});

const client = () => new TinkerClient({ url: URL_OF_SERVER, fetch: tiny.fetch });
const tokens = [
  [3, 1, 4, 1, 5],
  [9, 2, 6],
];
const targets = [
  [1, 4, 1, 5, 9],
  [2, 6, 12],
];

interface Case {
  readonly loss: LossName;
  /** Of a target: its loss by its log-probability lp, with w, a and old of its position. */
  readonly of: (lp: number, { w, a, old }: { w: number; a: number; old: number }) => number;
}
const clip = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));
const CASES: Case[] = [
  { loss: 'cross_entropy', of: (lp, { w }) => -w * lp },
  { loss: 'importance_sampling', of: (lp, { a, old }) => -a * Math.exp(lp - old) },
  {
    loss: 'ppo',
    of: (lp, { a, old }) => -Math.min(a * Math.exp(lp - old), a * clip(Math.exp(lp - old), 0.8, 1.2)),
  },
  { loss: 'cispo', of: (lp, { a, old }) => -a * clip(Math.exp(lp - old), 0, 4) * lp },
];

test.each(CASES)(
  '$loss is the sum over tokens of its definition, and a small step goes down its gradient',
  async ({ loss, of }) => {
    const connection = client();
    const model = await connection.createModel('base', 2, 5);
    // The adapter's B begins at zero, and so does the gradient of A: a first step makes both matter.
    const weights = targets.map((row) => row.map((_, t) => 1 + t));
    const plain = targets.map((target_tokens, d) => ({
      tokens: tokens[d]!,
      inputs: { target_tokens, weights: weights[d]! },
    }));
    await model.forwardBackward('cross_entropy', plain);
    await model.optimStep(adam(1e-2, 1e-8));
    const before = (await model.forwardBackward('cross_entropy', plain, { forwardOnly: true })).logprobs;
    const given = targets.map((_, d) => ({
      weights: weights[d]!,
      advantages: before[d]!.map((_, t) => (t % 2 ? -1.5 : 1)),
      logprobs: before[d]!.map((lp, t) => lp + 0.15 * Math.cos(3 * t + d)),
    }));
    const inputs = loss === 'cross_entropy' ? ['weights'] : ['advantages', 'logprobs'];
    const data = targets.map((target_tokens, d) => ({
      tokens: tokens[d]!,
      inputs: {
        target_tokens,
        ...Object.fromEntries(inputs.map((name) => [name, given[d]![name as 'weights']])),
      },
    }));
    const lossOf = (logprobs: readonly ArrayLike<number>[]) =>
      logprobs.reduce(
        (sum, row, d) =>
          sum +
          Array.from(row).reduce(
            (s, lp, t) =>
              s + of(lp, { w: weights[d]![t]!, a: given[d]!.advantages[t]!, old: given[d]!.logprobs[t]! }),
            0,
          ),
        0,
      );
    const told = await model.forwardBackward(loss, data);
    expect(told.metrics['loss:sum']).toBeCloseTo(lossOf(told.logprobs), 4);
    // With an epsilon far above the gradient a step of Adam is one of gradient descent, by rate / epsilon.
    const { 'grad_norm:mean': norm } = await model.optimStep(adam(1e6 * RATE, 1e6));
    const after = (await model.forwardBackward('cross_entropy', plain, { forwardOnly: true })).logprobs;
    // CISPO holds its coefficient constant: its gradient is that of the loss with the coefficient as it was.
    const held = (logprobs: readonly ArrayLike<number>[]) =>
      loss !== 'cispo'
        ? lossOf(logprobs)
        : logprobs.reduce(
            (sum, row, d) =>
              sum +
              Array.from(row).reduce(
                (s, lp, t) =>
                  s -
                  given[d]!.advantages[t]! *
                    clip(Math.exp(before[d]![t]! - given[d]!.logprobs[t]!), 0, 4) *
                    lp,
                0,
              ),
            0,
          );
    const fallen = (held(before) - held(after)) / (RATE * norm! ** 2);
    expect(fallen).toBeGreaterThan(0.97);
    expect(fallen).toBeLessThan(1.03);
    connection.close();
  },
);
const RATE = 1e-5;
const adam = (learning_rate: number, eps: number): Parameters<RemoteModel['optimStep']>[0] => ({
  learning_rate,
  beta1: 0,
  beta2: 0,
  eps,
  weight_decay: 0,
  grad_clip_norm: 0,
});

test('requests of a model are done in the order of their numbers, each once, and another one under a number is refused', async () => {
  const connection = client();
  const model = await connection.createModel('base', 2, 5);
  const post = async (route: string, body: object) => {
    const answer = await tiny.fetch(`${URL_OF_SERVER}/api/v1/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return {
      status: answer.status,
      body: (await answer.json()) as { request_id: string; detail: string; path: string },
    };
  };
  const save = (seq_id: number, path: string) => post('save_weights', { model_id: model.id, seq_id, path });
  const second = await save(2, 'two');
  const { body } = await post('retrieve_future', { request_id: second.body.request_id });
  expect(body).toMatchObject({ type: 'try_again' });
  const first = await save(1, 'one');
  expect(await save(1, 'one')).toEqual(first);
  expect(await save(2, 'else')).toMatchObject({ status: 400, body: { code: 'tinker.repeated' } });
  const result = async (asked: typeof first): Promise<string> => {
    const { path } = (await post('retrieve_future', { request_id: asked.body.request_id })).body;
    return path ?? result(asked);
  };
  expect([await result(first), await result(second), await result(second)]).toEqual(
    ['one', 'two', 'two'].map((name) => `tinker://${model.id}/weights/${name}`),
  );
  expect((await post('retrieve_future', { request_id: `${model.id}/9` })).status).toBe(410);
  expect((await post('save_weights', { model_id: 'none', seq_id: 1 })).status).toBe(404);
  expect((await post('optim_step', { model_id: model.id, seq_id: 'x' })).body.detail).toMatch(
    /wrong at seq_id/,
  );
  connection.close();
});

test('a request whose earlier one never comes fails when its model is given up', async () => {
  const connection = client();
  const model = await connection.createModel('base', 2, 5);
  const late = connection.ask(v.object({ request_id: v.string() }), 'save_weights', {
    model_id: model.id,
    seq_id: 2,
    path: 'two',
  });
  const result = late.then(({ request_id }) => connection.resultOf(request_id, v.unknown()));
  await late;
  await model.unload();
  await expect(result).rejects.toMatchObject({
    code: 'tinker.failed',
    message: expect.stringContaining('was given up'),
  });
  connection.close();
});

test('a client that could not be heard while a long job ran keeps its model, as does one that waited for it', async () => {
  const [busy, other] = [client(), client()];
  const model = await busy.createModel('base', 2, 5);
  const now = performance.now.bind(performance);
  let minutes = 6;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + minutes * 60_000);
  const made = other.createModel('base', 2, 5);
  await setTimeout(100);
  // From here on the other one has been silent, too.
  minutes = 12;
  const beat = (client: TinkerClient, { id }: RemoteModel) =>
    client.ask(v.unknown(), 'session_heartbeat', {
      session_id: id.replace(/:train:.*/, ''),
      type: 'session_heartbeat',
    });
  await beat(busy, model);
  await beat(other, await made);
  clock.mockRestore();
  expect(await model.save('kept')).toBe(`tinker://${model.id}/weights/kept`);
  for (const connection of [busy, other]) connection.close();
});

test('a checkpoint that is written over is sampled as it is now', async () => {
  const connection = new TinkerClient({ url: URL_OF_SERVER, fetch: overwritten.fetch });
  const model = await connection.createModel('arithmetic-base', 2, 5);
  const post = async (route: string, body: object) => {
    const answer = await overwritten.fetch(`${URL_OF_SERVER}/api/v1/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/x-protobuf' },
      body: JSON.stringify(body),
    });
    return new Uint8Array(await answer.arrayBuffer());
  };
  const idOf = (answer: Uint8Array) =>
    (JSON.parse(new TextDecoder().decode(answer)) as { request_id: string }).request_id;
  const resultOf = async (route: string, body: object) =>
    post('retrieve_future', { request_id: idOf(await post(route, body)) });
  const prompt = [3, 4, 5, 6];
  const saved = async (seq_id: number) => {
    const path = 'now';
    await resultOf('save_weights', { model_id: model.id, seq_id, path, overwrite: true });
    const answer = await resultOf('asample', {
      model_path: `tinker://${model.id}/weights/${path}`,
      prompt: { chunks: [{ type: 'encoded_text', tokens: prompt }] },
      sampling_params: { max_tokens: 1 },
      prompt_logprobs: true,
    });
    return floats(fieldsOf(answer).get(2)![0]!).slice(1);
  };
  const before = await saved(1);
  const data = [
    { tokens: prompt.slice(0, -1), inputs: { target_tokens: prompt.slice(1), weights: [1, 1, 1] } },
  ];
  const step = { model_id: model.id, adam_params: adam(0.01, 1e-8) };
  const train = encodeForwardBackward({
    modelId: model.id,
    seqId: 2,
    data,
    loss: 'cross_entropy',
    config: {},
    forwardOnly: false,
  });
  await connection.outputOf(await connection.promise('forward_backward', train));
  await resultOf('optim_step', { ...step, seq_id: 3 });
  const after = await saved(4);
  const sum = (of: readonly number[]) => of.reduce((a, b) => a + b, 0);
  expect(sum(after)).toBeGreaterThan(sum(before) + 0.1);
  connection.close();
});

test('the checkpoints of a run are listed by their names, and no folder beside them', async () => {
  const checkpoints = new Checkpoints(tiny.state);
  const [run, kind] = ['some:train:0', 'weights'] as const;
  const saved = { adapter: new Uint8Array(2), optimizer: new Uint8Array(1) };
  for (const name of ['a:1', 'a_1'])
    await checkpoints.write({ run, kind, name }, saved, { base: 'base', rank: 2 }, false);
  expect((await checkpoints.list(run)).map(({ name }) => name).sort()).toEqual(['a:1', 'a_1']);
  const status = async (of: string) =>
    (await tiny.fetch(`${URL_OF_SERVER}/api/v1/training_runs/${encodeURIComponent(of)}/checkpoints`)).status;
  expect(await status(run)).toBe(200);
  expect(await status('../some')).toBe(400);
});

test('the port answers programs of this machine with the key, and no page of another site', async () => {
  const app = tinkerRoutes({ supported: () => [] } as unknown as TinkerService, { apiKey: 'tml-right' });
  const { url, close } = await serveTinker(app, 0);
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${url}/api/v1/get_server_capabilities`, { headers })).status;
  const key = { 'x-api-key': 'tml-right' };
  expect(await status(key)).toBe(200);
  expect(await status({ 'x-api-key': 'tml-righ' })).toBe(401);
  expect(await status({ ...key, origin: 'https://elsewhere.example' })).toBe(403);
  expect(await status({ ...key, 'sec-fetch-site': 'cross-site' })).toBe(403);
  const posted = await fetch(`${url}/api/v1/create_session`, {
    method: 'POST',
    headers: key,
    body: '{"sdk_version":"0"}',
  });
  expect(posted.status).toBe(400); // What a form may send is no JSON.
  await close();
});
