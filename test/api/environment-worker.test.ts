/**
 * The environment Worker in workerd, between servers of both protocols and a stand-in of the gateway: it holds an episode for each message, and
 * a message that comes again opens no second one.
 */

import { Miniflare, Response } from 'miniflare';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { EpisodeMessage } from '../../core/schema/agent.ts';
import { build } from '../../local/mesh/esbuild.ts';
import { orsHost } from '../../workers/api/environment/ors-host.ts';
import { EnvironmentClient } from '../../workers/api/environment-client.ts';
import { holdMessage } from '../../workers/environment/hold-message.ts';
import { openEnvServer } from '../openenv-server.ts';
import { orsServer } from '../ors-server.ts';

const RUN = '0'.repeat(32);
const ORS = { metadata: { environment: 'sums', split: 'train', index: 3 } };
const OPEN_ENV = { metadata: { protocol: 'openenv', reset: { seed: 3 }, show: ['question'] } };

/** An episode as the stand-in of the gateway keeps it: what its policy answers, what it was asked, and how it ended. */
interface Kept {
  readonly task: object;
  readonly answers: readonly string[];
  readonly asked: { readonly key: string | null; readonly last: unknown }[];
  opened: number;
  ended?: object;
}

/** By the keys of the messages. */
const episodes = new Map<string, Kept>();
const episode = (key: string, answers: readonly string[], task: object = ORS): Kept => {
  const kept: Kept = { task, answers, asked: [], opened: 0 };
  episodes.set(key, kept);
  return kept;
};

/** The agents' routes of the gateway (docs/agents.md), for episodes that are named like their keys. The policy submits its answers. */
async function gateway(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const body = (await request.json()) as { key: string; messages: unknown[] };
  const refuse = (status: number, code: string) =>
    Response.json({ error: { message: code, code } }, { status });
  if (pathname === `/agents/runs/${RUN}/episodes`) {
    expect(request.headers.get('authorization')).toBe('Bearer all');
    const kept = episodes.get(body.key);
    if (!kept) return Response.json({ state: 'wait', seconds: 1 });
    const own = `https://gateway/agents/episodes/${body.key}`;
    return Response.json({
      ...{
        state: 'open',
        episode: body.key,
        run: RUN,
        round: 1,
        task: kept.task,
        model: 'm@0',
        apiKey: 'own',
      },
      ...{ baseURL: `${own}/v1`, rewardURL: `${own}/reward`, idleSeconds: 600 },
      ...(kept.opened++ > 0 ? { again: true } : {}),
    });
  }
  const [, key, what] = /^\/agents\/episodes\/([^/]+)\/(.+)$/.exec(pathname)!;
  const kept = episodes.get(key!)!;
  expect(request.headers.get('authorization')).toBe('Bearer own');
  if (kept.ended) return refuse(409, 'episode.rewarded');
  if (what === 'reward') {
    kept.ended = body;
    return Response.json({ episode: key, reward: null });
  }
  const answer = kept.answers[kept.asked.length];
  kept.asked.push({ key: request.headers.get('idempotency-key'), last: body.messages.at(-1) });
  if (answer === undefined) return refuse(422, 'episode.sampling');
  const call = { name: 'submit', arguments: JSON.stringify({ answer }) };
  const message = { content: null, tool_calls: [{ id: `call-${kept.asked.length}`, function: call }] };
  return Response.json({ id: `said-${kept.asked.length}`, choices: [{ message }] });
}

let worker: Miniflare;
let ors: Awaited<ReturnType<typeof orsServer>>;
let openEnv: Awaited<ReturnType<typeof openEnvServer>>;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: ['workers/environment/index.ts'],
    ...{ bundle: true, write: false, format: 'esm', conditions: ['workerd', 'worker', 'browser'] },
  });
  [ors, openEnv] = await Promise.all([orsServer(), openEnvServer(true)]);
  worker = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents: outputFiles[0]!.text }],
    compatibilityDate: '2026-04-01',
    bindings: { RETRY_SECONDS: '10', AGENTS_TOKEN: 'all' },
    serviceBindings: { GATEWAY: (request: unknown) => gateway(request as Request) },
    cf: false,
    handleRuntimeStdio: () => {},
  });
  await worker.ready;
});
afterAll(async () => {
  await worker.dispose();
  await Promise.all([ors.stop(), openEnv.stop()]);
});
afterEach(() => {
  ors.faults.clear();
  episodes.clear();
});

const message = (key: string, url = ors.url, turns = 8): EpisodeMessage => ({
  v: 1,
  run: RUN,
  key,
  environment: { url, turns },
});

/** Delivers messages in one batch. @returns the delays after which those are to come again that were not acknowledged */
async function delivers(messages: readonly EpisodeMessage[], attempts = 1): Promise<number[]> {
  const consumer = (await worker.getWorker()) as unknown as {
    queue(
      name: string,
      batch: readonly object[],
    ): Promise<{
      readonly outcome: string;
      readonly explicitAcks: readonly string[];
      readonly retryMessages: readonly { readonly msgId: string; readonly delaySeconds: number }[];
    }>;
  };
  const batch = messages.map((body, i) => ({ id: `${i}`, timestamp: new Date(), attempts, body }));
  const { outcome, explicitAcks, retryMessages } = await consumer.queue('rollmesh-episode', batch);
  expect(outcome).toBe('ok');
  expect(explicitAcks.length + retryMessages.length).toBe(messages.length);
  return retryMessages.map(({ delaySeconds }) => delaySeconds);
}

const begunAs = (key: string) => ors.begun.filter((session) => session === `rollmesh-${key}`).length;

test('each message is an episode: in either protocol, with what was heard and paid', async () => {
  const one = episode('one', ['9', '10']);
  const two = episode('two', ['9', '10'], OPEN_ENV);
  const unknown = message('all are taken');
  expect(await delivers([message('one'), message('two', openEnv.url), unknown])).toEqual([]);
  // The sum of 3 and 7; a wrong result is paid -0.25.
  for (const kept of [one, two]) {
    expect(kept.ended).toEqual({ reward: 0.75, turns: { 'said-1': -0.25, 'said-2': 1 } });
    expect(kept.asked.map(({ key }) => key)).toEqual(['answer-0', 'answer-1']);
    expect(kept.asked[1]!.last).toMatchObject({ role: 'tool', content: expect.stringMatching(/Wrong/) });
  }
  expect(begunAs('one')).toBe(1);
  expect(openEnv.resets).toEqual([{ seed: 3, episode_id: 'rollmesh-two' }]);
});

test('a copy of a message whose episode is being played changes nothing of it', async () => {
  const kept = episode('played', ['10']);
  let answer = () => {};
  ors.faults.set('/sums/call', (_, response) => {
    ors.faults.clear();
    answer = () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('event: end\ndata: {"ok":true,"output":{"blocks":[],"reward":0.5,"finished":true}}\n\n');
    };
    return true;
  });
  const first = delivers([message('played')]);
  await vi.waitFor(() => expect(ors.ran.at(-1)).toMatch(/^rollmesh-played /));
  expect(await delivers([message('played')])).toEqual([]);
  expect([kept.opened, kept.asked.length, kept.ended]).toEqual([2, 1, undefined]);
  answer();
  expect(await first).toEqual([]);
  expect(kept.ended).toMatchObject({ reward: 0.5 });
  expect(begunAs('played')).toBe(1);
});

test('what was opened before is left to whoever opened it, also by a message whose own first delivery failed', async () => {
  const kept = episode('held', ['10']);
  kept.opened = 1;
  for (const attempts of [1, 2]) expect(await delivers([message('held')], attempts)).toEqual([]);
  expect([kept.asked, kept.ended]).toEqual([[], undefined]);
  expect(begunAs('held')).toBe(0);
});

test('what goes wrong with the environment in an episode is missing data, by its kind', async () => {
  const [broken, refused] = [episode('broken', ['10']), episode('refused', ['10'])];
  const before = ors.ran.length;
  ors.faults.set('/sums/call', (_, response) => {
    ors.faults.clear();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`event: task_id\ndata: call-${before}\n\nevent: chunk\ndata: {"ok"\n\n`);
    return true;
  });
  expect(await delivers([message('broken')])).toEqual([]);
  // Taken up again under its number: the tool ran once.
  expect([broken.ended, ors.ran.length]).toEqual([{ reward: 1, turns: { 'said-1': 1 } }, before + 1]);
  ors.faults.set('/create', (_, response) => {
    response.writeHead(401).end();
    return true;
  });
  expect(await delivers([message('refused')])).toEqual([]);
  expect(refused.ended).toEqual({ missing: 'refused' });
});

test('what goes wrong with the mesh in an episode ends it without a reward, and it is not played again', async () => {
  const kept = episode('unasked', []);
  expect(await delivers([message('unasked')])).toEqual([]);
  expect(kept).toMatchObject({ opened: 1, ended: { missing: 'abandoned' } });
});

test('while the environment is down nothing is opened, and the message comes again later', async () => {
  const kept = episode('waiting', ['10']);
  // The isolate knows what the server speaks.
  ors.faults.set('/list_environments', (_, response) => {
    response.writeHead(401).end();
    return true;
  });
  expect(await delivers([message('waiting')])).toEqual([10]);
  expect(await delivers([message('waiting')], 3)).toEqual([40]);
  expect(await delivers([message('waiting', 'ftp://nowhere')])).toEqual([10]);
  expect(kept.opened).toBe(0);
});

test('an episode that takes too long ends without a reward before the platform ends the Worker', async () => {
  const kept = episode('slow', ['10']);
  ors.faults.set('/sums/call', () => true);
  const host = async () => orsHost(new EnvironmentClient({ url: ors.url }));
  const send = async (url: string, init: RequestInit) =>
    (await gateway(new Request(url, init))) as unknown as globalThis.Response;
  await holdMessage({ host, send, token: 'all', longestMs: 300 }, message('slow'));
  expect(kept.ended).toEqual({ missing: 'timed-out' });
});
