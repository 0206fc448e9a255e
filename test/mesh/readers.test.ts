/** What a reader of the page may ask of the mesh: texts, proposals, a sample drawn again, answers to held-out tasks, and news. */
import type { R2Bucket } from '@cloudflare/workers-types';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContentListing, HeldOutListing, RedrawnSample } from '../../core/schema/answers.ts';
import { keys } from '../../core/schema/round.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { openScene, type Scene } from './scene.ts';

let scene: Scene;
let round: string;
let run: string;
beforeAll(async () => {
  scene = await openScene();
  ({ round, run } = await scene.order({
    recipe: 'trio',
    seed: 5,
    tasks: 4,
    groupSize: 2,
    rounds: 1,
    engine: 'kernels',
  }));
  await scene.reach(round, ['training']);
});
afterAll(() => scene.stop());

const at = (path: string, init?: RequestInit) => fetch(new URL(path, scene.mesh.url), init);
const read = async <T>(path: string, init?: RequestInit): Promise<T> => {
  const response = await at(path, init);
  expect(response.status, path).toBe(200);
  return (await response.json()) as T;
};
const POST = { method: 'POST' };

test('contents come in pages, and each completion is cut into the parts of its text', async () => {
  const first = await read<ContentListing>(`/api/rounds/${round}/contents?limit=3`);
  expect(first.groups.map(({ index }) => index)).toEqual([0, 1, 2]);
  expect(first.next).toBe(3);
  const rest = await read<ContentListing>(`/api/rounds/${round}/contents?limit=3&from=3`);
  expect(rest.groups.map(({ index }) => index)).toEqual([3]);
  expect(rest.next).toBeNull();
  for (const { title, task, samples } of [...first.groups, ...rest.groups]) {
    expect(title).toEqual([{ kind: 'text', text: task }]);
    for (const { text, ids, outcome } of samples!) {
      expect(text!.tokens).toHaveLength(ids.length);
      expect(text!.tokens.join('')).toBe(text!.completion);
      expect(text!.seen).toEqual([{ kind: 'text', text: task }]);
      if (outcome !== 'ok') continue;
      const steps = text!.parts.filter(({ kind }) => kind === 'step');
      expect([0, runningTotals(task).length]).toContain(steps.length);
      expect(text!.parts.at(-1)?.kind).toBe('answer');
    }
  }
});

test('every proposal is listed with its outcome in words; those that were admitted name their group', async () => {
  const { proposals } = await read<{
    proposals: { outcome: string; meaning: string; group: string | null }[];
  }>(`/api/rounds/${round}/proposals`);
  const groups = (await scene.gateway.getGroups(round)).map(({ group }) => group);
  expect(proposals.flatMap(({ group }) => group ?? []).sort()).toEqual([...groups].sort());
  for (const { outcome, meaning, group } of proposals) {
    if (group) expect(outcome).toBe('ok');
    expect(meaning.length).toBeGreaterThan(10);
  }
});

test('a sample that is drawn again has the same bits; where the record was changed, the first difference is named', async () => {
  const { groups } = await read<ContentListing>(`/api/rounds/${round}/contents?limit=1`);
  const { group, samples, judgments, proposal } = groups[0]!;
  for (const { id, ids, logprobs } of [samples![1]!, judgments![0]!, proposal[0]!]) {
    const again = await read<RedrawnSample>(`/api/samples/${id}/redraw?round=${round}`, POST);
    expect(again).toEqual({ sample: id, same: true, token: -1, logprob: -1, ids, logprobs });
  }
  const bucket = (await scene.mesh.mf.getR2Bucket('BUCKET', 'rollmesh-gateway')) as unknown as R2Bucket;
  const key = keys.scored(round, group);
  const text = await (await bucket.get(key))!.text();
  const record = JSON.parse(text);
  record.samples[1].logprobs[0] -= 2 ** -20;
  await bucket.put(key, JSON.stringify(record));
  const forged = await read<RedrawnSample>(`/api/samples/${samples![1]!.id}/redraw?round=${round}`, POST);
  expect(forged).toMatchObject({ same: false, token: -1, logprob: 0, logprobs: samples![1]!.logprobs });
  await bucket.put(key, text);
  const unknown = await at(`/api/samples/${'0'.repeat(32)}/redraw?round=${round}`, POST);
  expect(unknown.status).toBe(404);
});

test('a version answers held-out tasks, the same each time; a version that does not exist is an error', async () => {
  const path = `/api/rounds/${round}/held-out?version=`;
  const answered = await read<HeldOutListing>(`${path}0`, POST);
  expect(answered.version).toBe(0);
  const solver = answered.answers.filter(({ role }) => role === 'solver');
  expect(solver.length).toBeGreaterThanOrEqual(8);
  for (const { tokens, logprobs } of solver) expect(logprobs).toHaveLength(tokens.length);
  expect(await read<HeldOutListing>(`${path}0`, POST)).toEqual(answered);
  const missing = await at(`${path}7`, POST);
  expect(missing.status).toBe(404);
  expect(((await missing.json()) as { error: { code: string } }).error.code).toBe('version.missing');
});

test('open rounds, the run’s progress and its recipe can be read', async () => {
  const { rounds } = await read<{ rounds: { id: string }[] }>('/api/rounds?open=true');
  expect(rounds.map(({ id }) => id)).toEqual([round]);
  const { runs } = await read<{ runs: object[] }>('/api/runs');
  expect(runs).toMatchObject([{ id: run, done: 0, roundState: 'training', first: null, last: null }]);
  const recipe = await read<{ roles: { role: string }[] }>('/api/recipes/trio');
  expect(recipe.roles.map(({ role }) => role)).toEqual(['proposer', 'solver', 'judge']);
  expect((await at('/api/recipes/nobody')).status).toBe(404);
});

test('the stream says when something has changed', async () => {
  const stop = new AbortController();
  const response = await at(`/api/events?run=${run}`, { signal: stop.signal });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe('event: change\ndata: \n\n');
  await fetch(`${scene.mesh.url}/api/rounds/${round}/report`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ warnings: ['a note'] }),
  });
  for (let said = ''; !said.includes('change'); ) said = (await reader.read()).value ?? '';
  stop.abort();
});
