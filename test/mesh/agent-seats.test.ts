/**
 * Episodes of several seats: each is spoken for at an address and with a token of its own, has its own history, version and reward, and is
 * compared with itself alone. Whatever names another seat is refused by name.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command as environment } from '../../cli/environment/command.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { command as trajectories } from '../../cli/trajectories/command.ts';
import { recordedEpisodes } from '../../core/audit/recorded-episodes.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import type { Message } from '../../core/renderer/message.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import type { EpisodeAnswer } from '../../core/schema/agent.ts';
import type { ReadableSample } from '../../core/schema/answers.ts';
import { objectiveModules } from '../../learner/train/node-objectives.ts';
import { ensureShipped, importPolicy } from '../../local/starts.ts';
import { VersionChain, verifyVersion } from '../../local/verify/verify-version.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { byteTokenizer, SMOLLM_TEMPLATE } from '../core/renderer/checkpoints.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';
import { orsServer } from '../ors-server.ts';
import { learns, printed } from './learns.ts';
import { ALONE, openScene, type Scene } from './scene.ts';

type Open = Extract<EpisodeAnswer, { state: 'open' }>;
type Held = Open & { readonly seats: NonNullable<Open['seats']> };

const POLICY = 'words';
/** A policy with another tokenizer and another chat template, which plays a seat that is not trained. */
const OTHER = 'bytes';
/** The same weights, which a run with two sets of them trains. */
const PAIR = 'pair';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-seats-'));
const file = join(root, 'tasks.jsonl');
const line = (i: number) => `${JSON.stringify({ question: `What is ${i} + 4?`, answer: `${i + 4}` })}\n`;
writeFileSync(file, Array.from({ length: 20 }, (_, i) => line(i)).join(''));

const utf8 = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const config = smallConfig({ vocab_size: 262, max_position_embeddings: 512 });
const OTHER_FILES = {
  'config.json': utf8(toHfConfig(config)),
  'tokenizer.json': utf8(byteTokenizer(['<|endoftext|>', '<|im_start|>', '<|im_end|>'])),
  'tokenizer_config.json': utf8({ eos_token: '<|im_end|>', chat_template: SMOLLM_TEMPLATE }),
  'model.safetensors': writeSafetensors(randomTensors(config)),
};

let scene: Scene;
let recipe: Recipe;
/** One of its two seats has weights of its own. */
let apart: Recipe;
let seed = 0;

beforeAll(async () => {
  const asked = {
    ...{ recipe: 'grpo', policy: POLICY, agent: true, tasks: [file] },
    ...{ heldOut: '0.2', checker: 'number', extract: ['whole' as const], set: ['maxNew=12'] },
    seats: [
      { name: 'proposer' },
      { name: 'solver' },
      { name: 'opponent', policy: { name: OTHER, version: 0 } },
    ],
  };
  const made = (await taskRecipe(asked))!;
  recipe = made.recipe;
  const two = (await taskRecipe({
    ...asked,
    policy: PAIR,
    set: ['maxNew=12', 'optimizer.weightDecay=0', 'optimizer.warmup=0', 'optimizer.learningRate=1e-3'],
    seats: [{ name: 'proposer' }, { name: 'solver', own: true }],
  }))!;
  apart = two.recipe;
  const { modules } = await openRecipes([
    await made.write(join(root, 'recipes')),
    await two.write(join(root, 'recipes')),
  ]);
  scene = await openScene({
    recipes: modules.map((module) => module.file),
    vars: { EPISODE_SECONDS: '3600' },
    stateDir: join(root, 'state'),
  });
  await ensureShipped(scene.gateway, POLICY);
  await importPolicy(scene.gateway, OTHER, OTHER_FILES, {});
  await importPolicy(scene.gateway, PAIR, OTHER_FILES, {});
});
afterAll(async () => {
  await scene.stop();
  rmSync(root, { recursive: true, force: true });
});

async function ordered(more: object = {}) {
  const order = {
    ...{ recipe: recipe.name, policy: POLICY, seed: seed++, tasks: 1, groupSize: 2, engine: 'kernels' },
    ...more,
  };
  const { run, round } = await scene.order(order);
  await scene.reach(round, ['rollout']);
  return { order, run, round, access: await scene.gateway.getAgentAccess(run) };
}

const post = (url: string, token: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { ...ALONE, authorization: `Bearer ${token}`, ...headers },
  });

async function held({ url, token }: { url: string; token: string }): Promise<Held> {
  for (;;) {
    const answer = (await (await post(`${url}/episodes`, token, {})).json()) as EpisodeAnswer;
    if (answer.state === 'open') return answer as Held;
    if (answer.state === 'over') throw new Error('no episode: the run is over');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

type Messages = OpenAI.Chat.ChatCompletionMessageParam[];
/** What a seat says to a conversation, with the token ids of prompt and answer. */
async function says({ seats }: Held, seat: string, messages: Messages | string) {
  const { baseURL, apiKey, model } = seats[seat]!;
  const openai = new OpenAI({ baseURL, apiKey, maxRetries: 0, defaultHeaders: ALONE });
  const said = await openai.chat.completions.create({
    model,
    messages: typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages,
    ...({ return_token_ids: true } as object),
  });
  const { prompt_token_ids: prompt } = said as unknown as { prompt_token_ids: number[] };
  const [choice] = said.choices as unknown as { token_ids: number[] }[];
  return {
    id: said.id,
    model: said.model,
    message: said.choices[0]!.message,
    prompt,
    ids: choice!.token_ids,
  };
}

const rewards = ({ rewardURL, apiKey }: Held, body: unknown) => post(rewardURL, apiKey, body);

async function refusal(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(error.message).not.toBe('');
  return `${response.status} ${error.code}`;
}

async function samplesOf(round: string): Promise<ReadableSample[]> {
  const all: ReadableSample[] = [];
  for await (const group of scene.gateway.contentsOf(round)) all.push(...(group.samples ?? []));
  return all;
}

/** Calls `work` while a learner trains what is there. */
async function learning<T>(work: () => Promise<T>, trained = recipe): Promise<T> {
  const end = await learns(scene, trained);
  try {
    return await work();
  } finally {
    await end();
  }
}

test.each(['version 0', 'version 1, which that made'])(
  'each seat has its own version, history and reward; one learns while others are frozen and fixed: from %s',
  async () => {
    const { run, round, access } = await ordered({ rounds: 2, freeze: ['proposer'] });
    expect(access.seats).toEqual(['proposer', 'solver', 'opponent']);
    const start = (await scene.gateway.getPolicy(POLICY))!.current;
    for (let i = 0; i < 2; i++) {
      const episode = await held(access);
      expect(episode.baseURL).toBeUndefined();
      // A frozen seat keeps version 0, a fixed one the version that it names.
      expect(Object.values(episode.seats).map(({ model }) => model)).toEqual([
        `${POLICY}@0`,
        `${POLICY}@${start}`,
        `${OTHER}@0`,
      ]);
      const one = await says(episode, 'proposer', 'Ask a question.');
      const two = await says(episode, 'solver', 'What is 3 + 4?');
      const other = await says(episode, 'opponent', 'What is 3 + 4?');
      const three = await says(episode, 'solver', [
        { role: 'user', content: 'What is 3 + 4?' },
        two.message,
        { role: 'user', content: 'Sure?' },
      ]);
      expect([one.model, two.model, other.model]).toEqual([
        `${POLICY}@0`,
        `${POLICY}@${start}`,
        `${OTHER}@0`,
      ]);
      // A seat goes on from its own answers by their ids.
      const before = [...two.prompt, ...two.ids];
      expect(three.prompt.slice(0, before.length)).toEqual(before);
      // What another seat was told is a conversation like any other, here in another policy's tokens.
      const told: Messages = [
        { role: 'user', content: 'What is 3 + 4?' },
        two.message,
        { role: 'user', content: 'Who is right?' },
      ];
      const four = await says(episode, 'opponent', told);
      const { tokenizer, renderer } = textOf(OTHER_FILES, OTHER);
      expect(four.prompt).toEqual(renderer().begin(told as Message[]).ids);
      expect(tokenizer.decode(four.prompt)).toContain('Who is right?');
      const paid = { proposer: 0.25 * i, solver: i === 0 ? 1 : -2, opponent: 'not-rated' };
      const taken = await rewards(episode, { rewards: paid, turns: { [two.id]: 0.5, [one.id]: 0.125 } });
      expect([taken.status, await taken.json()]).toEqual([
        200,
        { episode: episode.episode, reward: null, rewards: paid },
      ]);
    }
    const done = await learning(() => scene.reach(round, ['done', 'failed']));
    expect(done).toMatchObject({ state: 'done', groups: { trained: 1, failed: 0 } });
    // Of the seats only the solver was trained.
    expect(Object.keys(done.report!.training!.roles)).toEqual(['solver']);
    expect(done.report!.figures).toMatchObject({ 'seatReward.proposer': 0.125, 'seatReward.solver': -0.5 });
    const samples = await samplesOf(round);
    const [first] = samples;
    expect(
      samples
        .slice(0, 5)
        .map(({ role, turn, episode, of, policy, rewards }) => [
          role,
          turn,
          episode,
          samples.findIndex(({ id }) => id === of),
          `${policy.name}@${policy.version}`,
          rewards,
        ]),
    ).toEqual([
      ['proposer', 0, 0, -1, `${POLICY}@0`, { reward: 0, turn: 0.125 }],
      ['solver', 1, 0, -1, `${POLICY}@${start}`, { reward: 1, turn: 0.5 }],
      ['opponent', 2, 0, -1, `${OTHER}@0`, { reward: null }],
      ['solver', 3, 0, 1, `${POLICY}@${start}`, { reward: 1 }],
      ['opponent', 4, 0, 2, `${OTHER}@0`, { reward: null }],
    ]);
    expect(samples[2]!.missing).toEqual({ reward: 'not-rated' });
    expect(samples.slice(5).map(({ rewards: { reward } }) => reward)).toEqual([0.25, -2, null, -2, null]);
    // The record alone says who asked what.
    const { spec } = await scene.gateway.getRound(round);
    const [group] = await scene.gateway.getGroups(round);
    expect(
      recordedEpisodes({ group: group!.group, samples }, recipe, spec).map(({ calls, rewards }) => [
        calls.map(({ role, turn }) => `${turn} ${role}`),
        rewards,
      ]),
    ).toEqual(
      [
        { proposer: 0, solver: 1, opponent: 'not-rated' },
        { proposer: 0.25, solver: -2, opponent: 'not-rated' },
      ].map((paid) => [['0 proposer', '1 solver', '2 opponent', '3 solver', '4 opponent'], paid]),
    );
    // The next round: the solver is the version that this one made, and the others are what they were.
    const next = await held(access);
    expect(Object.values(next.seats).map(({ model }) => model)).toEqual([
      `${POLICY}@0`,
      `${POLICY}@${start + 1}`,
      `${OTHER}@0`,
    ]);
    await scene.gateway.stopRun(run, 'test');
    expect(first!.role).toBe('proposer');
  },
);

test('a seat with weights of its own learns from its own rewards alone, in the versions of the run', async () => {
  const { run, round, access } = await ordered({
    ...{ recipe: apart.name, policy: PAIR, rounds: 2 },
  });
  /** Holds the episodes of a round, each seat paid by the number of the episode. */
  async function holds(version: number, paid: (i: number) => Record<'proposer' | 'solver', number>) {
    for (let i = 0; i < 2; i++) {
      const episode = await held(access);
      const models = [`${PAIR}@${version}`, `${PAIR}@${version}/solver`];
      expect(Object.values(episode.seats).map(({ model }) => model)).toEqual(models);
      const one = await says(episode, 'proposer', 'Ask a question.');
      const two = await says(episode, 'solver', 'What is 3 + 4?');
      expect([one.model, two.model]).toEqual(models);
      expect((await rewards(episode, { rewards: paid(i) })).status).toBe(200);
    }
  }
  const weightsOf = async (version: number) => {
    const { files } = await scene.gateway.getManifest({ name: PAIR, version });
    return {
      main: files['model.safetensors']?.sha256,
      solver: files['solver.safetensors']?.sha256,
    };
  };
  const start = await weightsOf(0);
  expect(start.solver).toBeUndefined();
  // Proposers earn the same, which teaches nothing.
  await holds(0, (i) => ({ proposer: 0.5, solver: i }));
  const first = await learning(() => scene.reach(round, ['done', 'failed']), apart);
  expect(first).toMatchObject({ state: 'done', groups: { trained: 1, failed: 0 } });
  const one = await weightsOf(1);
  expect([undefined, start.main]).toContain(one.main);
  expect(one.solver).toEqual(expect.any(String));
  expect(one.solver).not.toBe(start.main);
  const sets = (await samplesOf(round)).map(({ role, policy }) => [role, policy.version, policy.set]);
  expect(sets).toEqual([
    ['proposer', 0, undefined],
    ['solver', 0, 'solver'],
    ['proposer', 0, undefined],
    ['solver', 0, 'solver'],
  ]);
  // The second round is played by what the first one made of each seat: the learner draws every sample again before it trains.
  await holds(1, (i) => ({ proposer: 1 - i, solver: 0.5 }));
  const next = (await scene.gateway.listRounds(run)).find(({ id }) => id !== round)!;
  const second = await learning(() => scene.reach(next.id, ['done', 'failed']), apart);
  expect(second).toMatchObject({ state: 'done', groups: { trained: 1, failed: 0 } });
  expect((await weightsOf(2)).main).not.toBe(start.main);
  // One process makes the same bytes of both from the sealed records.
  const settings = {
    recipes: registry([apart]),
    meshKey: scene.mesh.secrets.MESH_KEY,
    objectives: objectiveModules([]),
  };
  const chain = await VersionChain.open(scene.gateway, PAIR);
  for (const version of [1, 2]) {
    const { same, files } = await verifyVersion(scene.gateway, chain, version, settings);
    expect(files.map(({ file }) => file)).toContain('solver.safetensors');
    expect(same).toBe(true);
  }
});

describe('what names another seat is refused by name', () => {
  test('tokens open their own seat alone', async () => {
    const { access } = await ordered();
    const [one, two] = [await held(access), await held(access)];
    const body = { model: 'm', messages: [{ role: 'user', content: 'What is 1 + 4?' }] };
    const call = async (baseURL: string, token: string) => {
      const response = await post(`${baseURL}/chat/completions`, token, body);
      return response.ok ? 'answered' : refusal(response);
    };
    const { proposer, solver } = one.seats;
    // Through the wrong seat's address, with the episode's key, and with that of the same seat of another episode.
    for (const key of [proposer!.apiKey, one.apiKey, two.seats.solver!.apiKey, access.token])
      expect(await call(solver!.baseURL, key)).toBe('401 agent.token');
    expect(await call(solver!.baseURL.replace('/solver/', '/nobody/'), solver!.apiKey)).toBe(
      '401 agent.token',
    );
    expect(await call(solver!.baseURL, solver!.apiKey)).toBe('answered');
    // The episode's own address names no seat.
    const own = one.rewardURL.replace(/\/reward$/, '/v1');
    expect(await call(own, one.apiKey)).toBe('422 episode.seat');
    expect(await call(own, solver!.apiKey)).toBe('401 agent.token');
    // Named in a header, a seat is asked with its own key or with the run's token.
    const named = async (header: string, token: string) => {
      const headers = { 'x-rollmesh-episode': header };
      const response = await post(`${scene.mesh.url}/v1/chat/completions`, token, body, headers);
      return response.ok ? 'answered' : refusal(response);
    };
    const header = solver!.headers['x-rollmesh-episode']!;
    for (const key of [solver!.apiKey, access.token]) expect(await named(header, key)).toBe('answered');
    for (const key of [proposer!.apiKey, one.apiKey])
      expect(await named(header, key)).toBe('401 agent.token');
    expect(await named(header.replace(/\/solver$/, ''), access.token)).toBe('422 episode.seat');
    const models = (baseURL: string, token: string) =>
      fetch(`${baseURL}/models`, { headers: { ...ALONE, authorization: `Bearer ${token}` } });
    expect(await refusal(await models(own, one.apiKey))).toBe('422 episode.seat');
    expect(await refusal(await models(solver!.baseURL, proposer!.apiKey))).toBe('401 agent.token');
    const listed = await models(one.seats.opponent!.baseURL, one.seats.opponent!.apiKey);
    expect(await listed.json()).toMatchObject({ data: [{ id: `${OTHER}@0`, max_model_len: 512 }] });
    // A seat's token pays nobody.
    expect(await refusal(await post(one.rewardURL, solver!.apiKey, { reward: 1 }))).toBe('401 agent.token');
    // The same key of two seats names two requests.
    const keyed = async ({ baseURL, apiKey }: { baseURL: string; apiKey: string }) => {
      const sent = await post(`${baseURL}/chat/completions`, apiKey, body, { 'idempotency-key': 'a' });
      return ((await sent.json()) as { id: string }).id;
    };
    const [a, b] = [await keyed(proposer!), await keyed(solver!)];
    expect(a).not.toBe(b);
    expect([await keyed(proposer!), await keyed(solver!)]).toEqual([a, b]);
  });

  test('rewards are of seats that spoke, of all of them, and count once', async () => {
    const { round, access } = await ordered();
    const [one, two] = [await held(access), await held(access)];
    const answer = await says(one, 'solver', 'What is 1 + 4?');
    await says(one, 'proposer', 'Ask a question.');
    const refused = async (body: unknown) => refusal(await rewards(one, body));
    expect(await refused({ rewards: { solver: 1, proposer: 1, nobody: 1 } })).toBe('422 episode.seat');
    expect(await refused({ rewards: { solver: 1, proposer: 1, opponent: 1 } })).toBe(
      '422 episode.seat-silent',
    );
    expect(await refused({ rewards: { solver: 1 } })).toBe('422 episode.seat-unpaid');
    expect(await refused('{"rewards":{"__proto__":1}}')).toBe('422 episode.seat-unpaid');
    expect(await refused({ rewards: {} })).toBe('422 episode.seat-unpaid');
    for (const wrong of [null, '1', 'lost', [1], { solver: 1 }])
      expect(await refused({ rewards: { solver: wrong, proposer: 1 } })).toBe('422 body.schema');
    for (const wrong of [null, 1, 'not-rated'])
      expect(await refused({ rewards: wrong })).toBe('422 body.schema');
    expect(await refused('{"rewards":{"solver":1e999,"proposer":1}}')).toBe('422 body.schema');
    expect(await refused({ reward: 1, rewards: { solver: 1, proposer: 1 } })).toBe('422 body.schema');
    // An answer of another episode, by its id.
    const foreign = await says(two, 'solver', 'What is 2 + 4?');
    const both = { solver: 1, proposer: 0 };
    expect(await refused({ rewards: both, turns: { [foreign.id]: 1 } })).toBe('422 episode.turn');
    expect((await rewards(one, { rewards: both, turns: { [answer.id]: 0.5 } })).status).toBe(200);
    expect(await refused({ rewards: { solver: -1, proposer: -1 } })).toBe('409 episode.rewarded');
    // One reward is that of every seat.
    await says(two, 'proposer', 'Ask a question.');
    expect((await rewards(two, { reward: 0.75 })).status).toBe(200);
    await scene.reach(round, ['training']);
    const paid = (await samplesOf(round)).map(({ role, rewards: own }) => [role, own]);
    expect(paid).toEqual([
      ['solver', { reward: 1, turn: 0.5 }],
      ['proposer', { reward: 0 }],
      ['solver', { reward: 0.75 }],
      ['proposer', { reward: 0.75 }],
    ]);
  });

  test('an episode whose agent goes away is missing data of every seat that spoke', async () => {
    const { order, run, round, access } = await ordered();
    const [one, two] = [await held(access), await held(access)];
    await says(one, 'solver', 'What is 1 + 4?');
    await says(one, 'opponent', 'What is 1 + 4?');
    await says(two, 'solver', 'What is 1 + 4?');
    expect((await rewards(two, { rewards: { solver: 'unreachable' } })).status).toBe(200);
    const database = await scene.mesh.mf.getD1Database('DB', 'rollmesh-gateway');
    await database
      .prepare('UPDATE episodes SET touched_at = 1 WHERE grp = ? AND sample = ?')
      .bind(one.episode.slice(0, 32), Number(one.episode.slice(33)))
      .run();
    await scene.mesh.cron();
    await scene.reach(round, ['training']);
    expect((await samplesOf(round)).map(({ role, missing }) => [role, missing])).toEqual([
      ['solver', { reward: 'abandoned' }],
      ['opponent', { reward: 'abandoned' }],
      ['solver', { reward: 'unreachable' }],
    ]);
    expect(await refusal(await rewards(one, { rewards: { solver: 1, opponent: 0 } }))).toBe(
      '409 episode.given-up',
    );
    // Who asks for more is told that the run is over, which the mesh notes until more rounds are ordered.
    const toldAt = async () => (await scene.gateway.getAgentAccess(run)).toldAt;
    const opened = async () => (await post(`${access.url}/episodes`, access.token, {})).json();
    expect([await opened(), await toldAt()]).toEqual([{ state: 'wait', seconds: 1 }, null]);
    await scene.gateway.stopRun(run, 'test');
    expect([await opened(), await toldAt()]).toEqual([{ state: 'over' }, expect.any(Number)]);
    // In other words, since within a second the same ones would be the first delivery again.
    await scene.order({ ...order, rounds: 1 });
    expect(await toldAt()).toBeNull();
    await scene.gateway.stopRun(run, 'test');
  });
});

describe('as commands', () => {
  test('`trajectories` has a row for each seat, with the episode that they share', async () => {
    const { run, round, access } = await ordered();
    for (let i = 0; i < 2; i++) {
      const episode = await held(access);
      const asked = await says(episode, 'proposer', 'Ask a question.');
      await says(episode, 'solver', 'What is 1 + 4?');
      await says(episode, 'proposer', [
        { role: 'user', content: 'Ask a question.' },
        asked.message,
        { role: 'user', content: 'Another one.' },
      ]);
      expect((await rewards(episode, { rewards: { proposer: i, solver: 1 - i } })).status).toBe(200);
    }
    await scene.reach(round, ['training']);
    const out = join(root, 'rollouts.jsonl');
    expect(await printed(scene, trajectories(), run, '--out', out)).toBe(`${out}: 4 rollouts of 1 rounds`);
    const rows = readFileSync(out, 'utf8')
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row) as { role: string; episode: number; turns: Record<string, unknown>[] });
    expect(rows.map(({ role, episode, turns }) => [role, episode, turns.map(({ turn }) => turn)])).toEqual([
      ['proposer', 0, [0, 2]],
      ['solver', 0, [1]],
      ['proposer', 1, [0, 2]],
      ['solver', 1, [1]],
    ]);
  });

  test('`environment play` opens no episode of such a run, and says why', async () => {
    const server = await orsServer();
    const { run, access } = await ordered();
    await expect(printed(scene, environment(), 'play', server.url, run)).rejects.toMatchObject({
      code: 'run.seats',
    });
    await server.stop();
    // Both episodes are there still.
    expect(
      [(await held(access)).episode, (await held(access)).episode].map((name) => name.slice(33)),
    ).toEqual(['0', '1']);
  });
});
