/**
 * Agents of somebody else: they open episodes of a run, speak to the policy through OpenAI's own client, and post what an episode is worth.
 * The rounds go on as any others, and whatever an agent does wrong is refused by name, or missing data of a kind.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { command as agents } from '../../cli/agents/command.ts';
import { command as environment } from '../../cli/environment/command.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { ensureShipped, importPolicy, readStart } from '../../cli/shared/import-policy.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { command as trajectories } from '../../cli/trajectories/command.ts';
import { episodeToken } from '../../core/agent-token.ts';
import { recordedEpisodes } from '../../core/audit/recorded-episodes.ts';
import type { Recipe } from '../../core/recipe.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import type { EpisodeAnswer } from '../../core/schema/agent.ts';
import type { GroupContent } from '../../core/schema/answers.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { openDevice } from '../../learner/device/device.ts';
import { openAudit } from '../../learner/loop/auditor.ts';
import { runLearner } from '../../learner/loop/loop.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { INTERNALS, runCommand } from '../cli/terminal.ts';
import { byteTokenizer, QWEN_TEMPLATE } from '../core/renderer/checkpoints.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';
import { orsServer } from '../ors-server.ts';
import { ALONE, openScene, type Scene } from './scene.ts';

type Held = Extract<EpisodeAnswer, { state: 'open' }> & { readonly baseURL: string };

const POLICY = 'words';
const PAGE = 'https://page.example';
/** Longer than any test; where an episode is to be given up, its last sign is set back. */
const EPISODE_SECONDS = 3600;

const root = mkdtempSync(join(tmpdir(), 'rollmesh-agents-'));
const file = join(root, 'tasks.jsonl');
writeFileSync(
  file,
  Array.from({ length: 20 }, (_, i) => {
    const metadata = { environment: 'sums', split: 'train', index: i };
    return `${JSON.stringify({ question: `What is ${i} + 4?`, answer: `${i + 4}`, metadata })}\n`;
  }).join(''),
);

let scene: Scene;
let recipe: Recipe;
let recipes: readonly string[];
let seed = 0;

/** The mesh: of a new folder, or started again in the same one. */
const open = (): Promise<Scene> =>
  openScene({
    recipes,
    vars: { EPISODE_SECONDS: String(EPISODE_SECONDS), CORS_ORIGINS: PAGE },
    stateDir: join(root, 'state'),
  });

beforeAll(async () => {
  const asked = {
    recipe: 'grpo',
    policy: POLICY,
    agent: true,
    tasks: { files: [file] },
    heldOut: '0.2',
    checker: 'number',
    extract: ['whole' as const],
    set: ['maxNew=24'],
  };
  const made = (await taskRecipe(asked as unknown as Parameters<typeof taskRecipe>[0]))!;
  recipe = made.recipe;
  const { modules } = await openRecipes([await made.write(join(root, 'recipes'))]);
  recipes = modules.map((module) => module.file);
  scene = await open();
  await ensureShipped(scene.gateway, POLICY);
}, 120_000);
afterAll(async () => {
  await scene.stop();
  rmSync(root, { recursive: true, force: true });
});

/** A run of its own, with its first round in rollout. */
async function ordered(tasks = 1, groupSize = 2, more: object = {}) {
  const { run, round } = await scene.order({
    recipe: recipe.name,
    policy: POLICY,
    seed: seed++,
    tasks,
    groupSize,
    ...more,
  });
  await scene.reach(round, ['rollout']);
  return { round, access: await scene.gateway.getAgentAccess(run) };
}

const post = (url: string, token: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { ...ALONE, authorization: `Bearer ${token}`, ...headers },
  });

async function opened(access: { url: string; token: string }, body: object = {}): Promise<EpisodeAnswer> {
  const response = await post(`${access.url}/episodes`, access.token, body);
  expect(response.status).toBe(200);
  return (await response.json()) as EpisodeAnswer;
}

async function held(access: { url: string; token: string }, body: object = {}): Promise<Held> {
  const answer = await opened(access, body);
  if (answer.state !== 'open') throw new Error(`no episode: ${answer.state}`);
  return answer as Held;
}

const clientOf = ({ baseURL, apiKey }: Held) =>
  new OpenAI({ baseURL, apiKey, maxRetries: 0, defaultHeaders: ALONE });

const asks = (episode: Held, content: string, more: object = {}) =>
  clientOf(episode).chat.completions.create({
    model: 'any-name',
    messages: [{ role: 'user', content }],
    ...more,
  });

const rewards = (episode: Held, reward: unknown, token = episode.apiKey) =>
  post(episode.rewardURL, token, { reward });

async function refusal(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(error.message).not.toBe('');
  return `${response.status} ${error.code}`;
}

/** The refusal that OpenAI's client throws. */
const thrown = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'answered',
    (error: InstanceType<typeof OpenAI.APIError>) => `${error.status} ${error.code}`,
  );

async function contents(round: string): Promise<GroupContent[]> {
  const all: GroupContent[] = [];
  for await (const group of scene.gateway.contentsOf(round)) all.push(group);
  return all;
}

const database = () => scene.mesh.mf.getD1Database('DB', 'rollmesh-gateway');

/** Makes an agent one that was heard of last a long time ago. */
async function silence({ episode }: Held): Promise<void> {
  await (await database())
    .prepare('UPDATE episodes SET touched_at = 1 WHERE grp = ? AND sample = ?')
    .bind(episode.slice(0, 32), Number(episode.slice(33)))
    .run();
}

/** Starts a learner. @returns what ends it */
async function learns(): Promise<() => Promise<void>> {
  const stop = new AbortController();
  await openDevice({ device: 'cpu', threads: 1 });
  const learning = runLearner(
    { queue: scene.queue, gateway: scene.gateway, trainer: new RoundTrainer(), log: () => {} },
    {
      recipes: { recipes: [recipe], find: () => recipe, hosted: new Map() },
      meshKey: scene.mesh.secrets.MESH_KEY,
      maxStaleness: 2,
      // Every sample is drawn again, and has to come to the same bits.
      audit: openAudit(1),
      device: 'test',
      leaseMs: 60_000,
      longestIdleMs: 100,
    },
    stop.signal,
  );
  return async () => {
    stop.abort();
    await learning;
  };
}

/**
 * Random weights in Qwen2's shape with the chat template of Qwen2.5, tools included. A fifth of the tokens are calls of a tool, written as the
 * template has them: weights that know nothing would never write one byte by byte.
 */
function checkpointWithTools(): VersionFiles {
  const utf8 = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const written = Array.from(
    { length: 64 },
    (_, n) => `<tool_call>\n{"name": "submit", "arguments": {"answer": "${n}"}}\n</tool_call>`,
  );
  const special = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
  const tokenizer = byteTokenizer([...special, ...written]) as { added_tokens: { content: string }[] };
  const config = smallConfig({
    model_type: 'qwen2',
    vocab_size: 259 + special.length + written.length,
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    max_position_embeddings: 2048,
  });
  const added = tokenizer.added_tokens.map((token) => ({
    ...token,
    special: special.includes(token.content),
  }));
  return {
    'config.json': utf8(toHfConfig(config)),
    'tokenizer.json': utf8({ ...tokenizer, added_tokens: added }),
    'tokenizer_config.json': utf8({ eos_token: '<|im_end|>', chat_template: QWEN_TEMPLATE }),
    'model.safetensors': writeSafetensors(randomTensors(config)),
  };
}

describe('an episode', () => {
  test.each(['onnx', 'kernels'])(
    'is recorded with the very tokens, and trained on, audited and read like any other: %s',
    async (engine) => {
      const { round, access } = await ordered(2, 2, { engine });
      const prompts: number[][] = [];
      const answers: number[][] = [];
      for (let i = 0; i < 4; i++) {
        const episode = await held(access);
        expect(episode).toMatchObject({
          round: 1,
          model: expect.stringMatching(/^words@\d+$/),
          idleSeconds: EPISODE_SECONDS,
        });
        const { messages, answer } = episode.task as { messages: { content: string }[]; answer: string };
        expect(messages[0]!.content).toMatch(/^What is \d+ \+ 4\?$/);
        expect(Number(answer)).toBeGreaterThanOrEqual(4);
        // Cut off, ended before, or as the run has it: the audit does not know what was asked for.
        const [most] = [{ max_tokens: 2 }, { max_tokens: 12 }, { max_tokens: 23 }, {}].slice(i);
        const said = await asks(episode, messages[0]!.content, {
          return_token_ids: true,
          logprobs: true,
          ...most,
        });
        expect(said.model).toBe(episode.model);
        prompts.push((said as unknown as { prompt_token_ids: number[] }).prompt_token_ids);
        answers.push((said.choices[0] as unknown as { token_ids: number[] }).token_ids);
        expect((await rewards(episode, i / 4)).status).toBe(200);
      }
      expect((await opened(access)).state).toBe('wait');
      const end = await learns();
      const done = await scene.reach(round, ['done', 'failed']);
      await end();
      expect(done).toMatchObject({ state: 'done', groups: { trained: 2, failed: 0 } });
      expect(done.report?.monitors).toMatchObject({ rollouts: 4, reward: 0.375, missingRewards: 0 });
      const groups = await contents(round);
      const samples = groups.flatMap((group) => group.samples ?? []);
      expect(samples.map(({ prompt }) => prompt)).toEqual(prompts);
      expect(samples.map(({ ids }) => ids)).toEqual(answers);
      // Some ended under a lower limit than the one that the audit draws them with.
      expect(samples.slice(1, 3).some(({ stopped }) => stopped)).toBe(true);
      expect(samples[0]!.stopped).toBe(false);
      expect(samples.map(({ rewards: { reward } }) => reward)).toEqual([0, 0.25, 0.5, 0.75]);
      // The run wanted one round.
      expect((await opened(access)).state).toBe('over');
    },
  );

  test('goes on from its own answers by their ids; another conversation stands by itself', async () => {
    const { round, access } = await ordered(1, 2);
    const episode = await held(access);
    const openai = clientOf(episode);
    const first = [{ role: 'user' as const, content: 'What is 3 + 4?' }];
    type WithIds = { prompt_token_ids: number[]; choices: { token_ids: number[] }[] };
    const ids = { model: 'm', return_token_ids: true } as { model: string };
    const said = await openai.chat.completions.create({ ...ids, messages: first });
    const one = said as unknown as WithIds;
    const next = [...first, said.choices[0]!.message, { role: 'user' as const, content: 'Are you sure?' }];
    const two = (await openai.chat.completions.create({ ...ids, messages: next })) as unknown as WithIds;
    const before = [...one.prompt_token_ids, ...one.choices[0]!.token_ids];
    expect(two.prompt_token_ids.slice(0, before.length)).toEqual(before);
    // The whole is what the template writes, and after the answer nothing but the new message is encoded.
    const { tokenizer } = textOf(await readStart(POLICY), POLICY);
    const ended = said.choices[0]!.finish_reason === 'stop' ? '' : '<|end|>';
    expect(two.prompt_token_ids.slice(before.length)).toEqual(
      tokenizer.encode(`${ended}<|user|>Are you sure?<|end|><|assistant|>`),
    );
    // An answer that the policy did not give.
    const other = [...first, { role: 'assistant' as const, content: 'Eleven.' }, next[2]!];
    const three = (await openai.chat.completions.create({ ...ids, messages: other })) as unknown as WithIds;
    expect(three.prompt_token_ids).toEqual(
      tokenizer.encode(
        '<|user|>What is 3 + 4?<|end|><|assistant|>Eleven.<|end|><|user|>Are you sure?<|end|><|assistant|>',
      ),
    );
    expect((await rewards(episode, -1.5)).status).toBe(200);
    const second = await held(access);
    await asks(second, 'What is 1 + 4?');
    expect((await rewards(second, 2)).status).toBe(200);
    await scene.reach(round, ['training']);
    const [group] = await contents(round);
    const samples = group!.samples!;
    expect(samples.map(({ turn, of }) => [turn, of === samples[0]!.id])).toEqual([
      [0, false],
      [1, true],
      [2, true],
      [0, false],
    ]);
    expect(samples.map(({ rewards: { reward } }) => reward)).toEqual([-1.5, -1.5, -1.5, 2]);
    expect(samples[1]!.prompt).toEqual(two.prompt_token_ids);
    // The record alone says which calls there were, so that an audit needs no agent.
    const again = recordedEpisodes(
      { group: group!.group, samples },
      recipe,
      (await scene.gateway.getRound(round)).spec,
    );
    expect(again.map(({ sample, calls, rewards }) => [sample, calls.length, rewards.solver])).toEqual([
      [0, 3, -1.5],
      [1, 1, 2],
    ]);
  });

  test('streams, and may be asked by text and by token ids; all of it is recorded', async () => {
    const { round, access } = await ordered(1, 2);
    const [one, two] = [await held(access), await held(access)];
    let streamed = '';
    for await (const { choices } of await clientOf(one).chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'What is 2 + 4?' }],
      stream: true,
    }))
      streamed += choices[0]?.delta.content ?? '';
    const text = await clientOf(two).completions.create({ model: 'm', prompt: 'What is', max_tokens: 5 });
    const generated = await post(`${two.baseURL.replace(/\/v1$/, '')}/inference/v1/generate`, two.apiKey, {
      model: 'm',
      token_ids: [5, 6, 7],
      // What verifiers and its renderers send, the policy's own end among it.
      sampling_params: {
        ...{ max_tokens: 3, temperature: 1, top_p: 1, n: 1 },
        ...{ logprobs: 1, stop_token_ids: [4], skip_special_tokens: false },
      },
      ...{ cache_salt: 'x', priority: 0 },
    });
    expect(generated.status).toBe(200);
    const { choices } = (await generated.json()) as { choices: { token_ids: number[] }[] };
    for (const episode of [one, two]) expect((await rewards(episode, 1)).status).toBe(200);
    await scene.reach(round, ['training']);
    const samples = (await contents(round))[0]!.samples!;
    expect(samples).toHaveLength(3);
    const { tokenizer, renderer } = textOf(await readStart(POLICY), POLICY);
    expect(renderer().read(samples[0]!.prompt, samples[0]!.ids).text).toBe(streamed);
    expect(samples[1]!.prompt).toEqual(tokenizer.encode('What is'));
    expect(samples[1]!.ids.length).toBeLessThanOrEqual(5);
    expect(text.usage?.completion_tokens).toBe(samples[1]!.ids.length);
    expect(samples[2]).toMatchObject({ prompt: [5, 6, 7], ids: choices[0]!.token_ids });
  });

  test('counts a request that is sent again once, and one that only looks the same twice', async () => {
    const { round, access } = await ordered(1, 2);
    const key = 'first of mine';
    const episode = await held(access, { key });
    expect(await held(access, { key })).toEqual(episode);
    const other = await held(access);
    expect(other.episode).not.toBe(episode.episode);
    const body = { model: 'm', messages: [{ role: 'user', content: 'What is 9 + 4?' }] };
    const url = `${episode.baseURL}/chat/completions`;
    const sent = async (headers: Record<string, string>) => {
      const answer = await post(url, episode.apiKey, body, headers);
      return ((await answer.json()) as { id: string }).id;
    };
    const keyed = await sent({ 'idempotency-key': 'a' });
    expect(await sent({ 'idempotency-key': 'a' })).toBe(keyed);
    // OpenAI's clients count their retries and send no key.
    const plain = await sent({});
    expect(plain).not.toBe(keyed);
    expect(await sent({ 'x-stainless-retry-count': '1' })).toBe(plain);
    const fresh = await sent({ 'x-stainless-retry-count': '0' });
    expect(new Set([keyed, plain, fresh]).size).toBe(3);
    const reused = await post(url, episode.apiKey, { ...body, max_tokens: 3 }, { 'idempotency-key': 'a' });
    expect(await refusal(reused)).toBe('422 episode.key');
    await asks(other, 'What is 8 + 4?');
    for (const one of [episode, other]) expect((await rewards(one, 0)).status).toBe(200);
    await scene.reach(round, ['training']);
    const ids = (await contents(round))[0]!.samples!.map(({ id }) => `chatcmpl-${id}`);
    expect(ids.slice(0, 3)).toEqual([keyed, plain, fresh]);
    expect(ids).toHaveLength(4);
  });

  test('is sampled as its run samples; anything else is refused by name', async () => {
    const { access } = await ordered();
    const episode = await held(access);
    for (const more of [{ temperature: 0.2 }, { top_p: 0.9 }, { seed: 1 }, { n: 2 }, { stop: 'x' }])
      expect(await thrown(asks(episode, 'What is 1 + 1?', more))).toBe('422 episode.sampling');
    const fine = { temperature: 1, top_p: 1, n: 1, max_tokens: 4 };
    expect((await asks(episode, 'What is 1 + 1?', fine)).usage!.completion_tokens).toBeLessThanOrEqual(4);
    const [model] = (await clientOf(episode).models.list()).data;
    expect(model).toMatchObject({ id: episode.model, max_model_len: 1024 });
  });
});

describe('what an agent does wrong', () => {
  test('a second reward, one of another, and one that is no number: each is refused, and the first counts', async () => {
    const { round, access } = await ordered(1, 2);
    const [one, two] = [await held(access), await held(access)];
    await asks(one, 'What is 1 + 4?');
    await asks(two, 'What is 2 + 4?');
    expect(await refusal(await rewards(one, 1, two.apiKey))).toBe('401 agent.token');
    expect(await refusal(await rewards(one, 1, access.token))).toBe('401 agent.token');
    for (const wrong of [null, '1', true, [1], {}])
      expect(await refusal(await rewards(one, wrong))).toBe('422 body.schema');
    expect(await refusal(await post(one.rewardURL, one.apiKey, '{"reward":NaN}'))).toBe('400 body.json');
    expect(await refusal(await post(one.rewardURL, one.apiKey, '{"reward":1e999}'))).toBe('422 body.schema');
    expect((await rewards(one, 0.5)).status).toBe(200);
    expect(await refusal(await rewards(one, 0.75))).toBe('409 episode.rewarded');
    expect(await thrown(asks(one, 'And now?'))).toBe('409 episode.rewarded');
    expect((await rewards(two, 0.25)).status).toBe(200);
    await scene.reach(round, ['training']);
    const [group] = await contents(round);
    expect(group!.samples!.map(({ rewards: { reward } }) => reward)).toEqual([0.5, 0.25]);
  });

  test('an agent that has no reward says why, and the episode has ended', async () => {
    const { round, access } = await ordered(1, 2);
    const [one, two] = [await held(access), await held(access)];
    await asks(one, 'What is 1 + 4?');
    await asks(two, 'What is 2 + 4?');
    for (const wrong of [{ missing: 'lost' }, { missing: null }, { reward: 1, missing: 'unreachable' }])
      expect(await refusal(await post(one.rewardURL, one.apiKey, wrong))).toBe('422 body.schema');
    const taken = await post(one.rewardURL, one.apiKey, { missing: 'unreachable' });
    expect(await taken.json()).toEqual({ episode: one.episode, reward: null, missing: 'unreachable' });
    expect(await refusal(await rewards(one, 1))).toBe('409 episode.rewarded');
    expect((await rewards(two, 1)).status).toBe(200);
    await scene.reach(round, ['training']);
    const [group] = await contents(round);
    expect(group!.samples!.map(({ rewards: { reward }, missing }) => [reward, missing])).toEqual([
      [null, { reward: 'unreachable' }],
      [1, undefined],
    ]);
  });

  test('a call that is answered while the reward comes is a part of the episode, or is refused', async () => {
    const { round, access } = await ordered(1, 2);
    const [episode, other] = [await held(access), await held(access)];
    await asks(episode, 'What is 1 + 4?');
    await asks(other, 'What is 3 + 4?');
    const [late, ended] = await Promise.all([thrown(asks(episode, 'What is 2 + 4?')), rewards(episode, 1)]);
    expect(ended.status).toBe(200);
    expect((await rewards(other, 0)).status).toBe(200);
    await scene.reach(round, ['training']);
    expect(['answered', '409 episode.rewarded']).toContain(late);
    expect((await contents(round))[0]!.samples).toHaveLength(late === 'answered' ? 3 : 2);
  });

  test('an agent that goes away leaves missing data, and can do nothing more', async () => {
    const { round, access } = await ordered(2, 2);
    const first = [await held(access), await held(access)] as const;
    await asks(first[0], 'What is 1 + 4?');
    await asks(first[1], 'What is 2 + 4?');
    expect((await rewards(first[1], 1)).status).toBe(200);
    const second = [await held(access), await held(access)] as const;
    for (const gone of [first[0], ...second]) await silence(gone);
    await scene.mesh.cron();
    const { groups, failures } = await scene.reach(round, ['training']);
    expect(groups).toMatchObject({ scored: 1, failed: 1 });
    expect(failures.map(({ failure }) => failure?.code)).toEqual(['agent.silent']);
    const [scored] = (await contents(round)).filter(({ state }) => state === 'scored');
    expect(scored!.samples!.map(({ rewards: { reward }, missing }) => [reward, missing])).toEqual([
      [null, { reward: 'abandoned' }],
      [1, undefined],
    ]);
    expect(await refusal(await rewards(first[0], 1))).toBe('409 episode.given-up');
    expect(await thrown(asks(first[0], 'Am I late?'))).toBe('409 episode.given-up');
  });

  test('a round that was closed takes no call and no reward', async () => {
    const { run, round } = await scene.order({
      recipe: recipe.name,
      policy: POLICY,
      seed: seed++,
      tasks: 1,
      groupSize: 2,
    });
    await scene.reach(round, ['rollout']);
    const access = await scene.gateway.getAgentAccess(run);
    const episode = await held(access);
    await asks(episode, 'What is 1 + 4?');
    await scene.gateway.stopRun(run, 'test');
    expect(await thrown(asks(episode, 'What is 2 + 4?'))).toBe('409 episode.round-closed');
    expect(await refusal(await rewards(episode, 1))).toBe('409 episode.round-closed');
    expect((await opened(access)).state).toBe('over');
  });

  test('tokens open what they are of, and nothing else', async () => {
    const [one, two] = [await ordered(), await ordered()];
    const episode = await held(one.access);
    const { LEARNER_TOKEN } = scene.mesh.secrets;
    const never = `${'0'.repeat(32)}-0`;
    const open = (url: string, token: string) => post(`${url}/episodes`, token, {});
    for (const token of [two.access.token, episode.apiKey, LEARNER_TOKEN, 'x', '0'.repeat(64)])
      expect(await refusal(await open(one.access.url, token))).toBe('401 agent.token');
    expect(await refusal(await open(`${scene.mesh.url}/agents/runs/x`, one.access.token))).toBe(
      '401 agent.token',
    );
    const foreign = `${scene.mesh.url}/agents/episodes/${never}/reward`;
    expect(await refusal(await post(foreign, episode.apiKey, { reward: 1 }))).toBe('401 agent.token');
    // A right token of an episode that nobody opened.
    const unopened = await post(foreign, episodeToken(LEARNER_TOKEN, never), { reward: 1 });
    expect(await refusal(unopened)).toBe('422 episode.unknown');
    const wrong = `${scene.mesh.url}/agents/episodes/../reward`;
    expect((await post(wrong, episode.apiKey, { reward: 1 })).status).toBe(404);
    const plain = await scene.order({ recipe: 'trio', seed: 700, tasks: 1, groupSize: 2 });
    await expect(scene.gateway.getAgentAccess(plain.run)).rejects.toMatchObject({ code: 'run.agents' });
  });
});

describe('as commands', () => {
  /** What the command prints; the mesh is the one that the environment names. */
  async function printed(command: Command, ...args: string[]): Promise<string> {
    vi.stubEnv('ROLLMESH_URL', scene.mesh.url);
    vi.stubEnv('LEARNER_TOKEN', scene.mesh.secrets.LEARNER_TOKEN);
    const lines: unknown[] = [];
    const log = vi.spyOn(console, 'log').mockImplementation((line: unknown) => void lines.push(line));
    try {
      await command.exitOverride().parseAsync(args, { from: 'user' });
    } finally {
      log.mockRestore();
      vi.unstubAllEnvs();
    }
    return lines.join('\n');
  }

  test('`agents` prints what an agent needs, and `trajectories` what it did', async () => {
    const { run, round } = await scene.order({
      recipe: recipe.name,
      policy: POLICY,
      seed: seed++,
      tasks: 1,
      groupSize: 2,
    });
    await scene.reach(round, ['rollout']);
    const access = await scene.gateway.getAgentAccess(run);
    expect(await printed(agents(), run)).toBe(
      `ROLLMESH_AGENT_URL=${access.url}\nROLLMESH_AGENT_TOKEN=${access.token}`,
    );
    expect(JSON.parse(await printed(agents(), 'last', '--json'))).toEqual(access);
    const [one, two] = [await held(access), await held(access)];
    const first = await asks(one, 'What is 1 + 4?');
    const said = first.choices[0]!.message;
    await clientOf(one).chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'What is 1 + 4?' }, said, { role: 'user', content: 'Sure?' }],
    });
    await asks(two, 'What is 2 + 4?');
    const paid = (turns: object) => post(one.rewardURL, one.apiKey, { reward: 0.5, turns });
    for (const turns of [{ [first.id.slice(0, -1)]: 1 }, { '': 1 }])
      expect(await refusal(await paid(turns))).toBe('422 episode.turn');
    expect((await paid({ [first.id]: 0.125 })).status).toBe(200);
    await silence(two);
    await scene.mesh.cron();
    await scene.reach(round, ['training']);
    const samples = (await contents(round))[0]!.samples!;
    const out = join(root, 'rollouts.jsonl');
    expect(await printed(trajectories(), run, '--out', out)).toBe(`${out}: 2 rollouts of 1 rounds`);
    type Row = { id: string; run: string; policy: string; turns: Record<string, unknown>[] };
    const rows = (path: string): Row[] =>
      readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    expect(rows(out).map(({ id, run: of, turns }) => [id, of, turns.length])).toEqual([
      [samples[0]!.id, run, 2],
      [samples[2]!.id, run, 1],
    ]);
    expect(rows(out).flatMap(({ turns }) => turns.map((turn) => turn.token_ids))).toEqual(
      samples.map(({ ids }) => ids),
    );
    expect(rows(out)[0]!.turns[1]).toMatchObject({
      prompt: `<|user|>What is 1 + 4?<|end|><|assistant|>${samples[0]!.text!.completion}<|user|>Sure?<|end|><|assistant|>`,
      prompt_ids: samples[1]!.prompt,
      logprobs: samples[1]!.logprobs,
      rewards: { reward: 0.5 },
    });
    expect(rows(out)[0]!.turns[0]!.rewards).toEqual({ reward: 0.5, turn: 0.125 });
    const missing = join(root, 'missing.jsonl');
    await printed(trajectories(), 'last', '--only', 'missing', '--out', missing);
    expect(rows(missing).map(({ id }) => id)).toEqual([samples[2]!.id]);
    const refused = (...args: string[]) => expect(printed(trajectories(), ...args)).rejects;
    await refused(run, '--out', out).toMatchObject({ code: 'file.exists' });
    await refused(run, '--only', 'wrong', '--out', join(root, 'none')).toMatchObject({
      code: 'trajectories.none',
    });
    await refused('0'.repeat(32), '--out', join(root, 'none')).toMatchObject({ code: 'run.unknown' });
    await refused('first', '--out', join(root, 'none')).toMatchObject({ code: 'run.named' });
    await refused(run, '--rounds', '0').toMatchObject({ code: 'commander.invalidArgument' });
    expect(existsSync(join(root, 'none'))).toBe(false);
  });

  test('`environment play` holds the episodes of a run in an environment, and says what it cannot pay', async () => {
    const server = await orsServer();
    // One episode comes to nothing.
    server.faults.set('/sums/prompt', (_, response) => {
      server.faults.clear();
      response.writeHead(401).end();
      return true;
    });
    const { run, round } = await scene.order({
      recipe: recipe.name,
      policy: POLICY,
      seed: seed++,
      tasks: 1,
      groupSize: 3,
    });
    await scene.reach(round, ['rollout']);
    const faults = vi.spyOn(console, 'error').mockImplementation(() => {});
    const ends = scene.reach(round, ['training']).then(() => scene.gateway.stopRun(run, 'test'));
    const args = ['play', server.url, run, '--answer-tool', 'submit', '--turns', '2', '--at-once', '1'];
    expect(await printed(environment(), ...args)).toBe(`3 episodes of run ${run} were held in ${server.url}`);
    await ends;
    expect(faults.mock.calls.flat().join()).toContain('answers GET /sums/prompt with 401');
    faults.mockRestore();
    const [group] = await contents(round);
    const samples = group!.samples!;
    // What the environment was told is what was recorded, and what it paid is the reward.
    const episodes = samples.filter(({ of }) => of === undefined);
    const { tokenizer } = textOf(await readStart(POLICY), POLICY);
    expect(server.ran.map((call) => JSON.parse(call.slice(call.indexOf('{'))).answer)).toEqual(
      samples.map(({ ids, stopped }) => tokenizer.decode(stopped ? ids.slice(0, -1) : ids)),
    );
    expect(episodes).toHaveLength(2);
    expect(server.begun).toEqual([0, 1, 2].map((sample) => `rollmesh-${group!.group}-${sample}`));
    for (const {
      id,
      rewards: { reward },
    } of episodes) {
      const turns = samples.filter(({ id: own, of }) => own === id || of === id).length;
      expect([1, 0.75, -0.25 * turns]).toContain(reward);
      // Every call pays here: the answers have the parts of the reward.
      const parts = samples
        .filter(({ id: own, of }) => own === id || of === id)
        .map((one) => one.rewards.turn);
      expect(parts.reduce<number>((sum, part) => sum + part!, 0)).toBe(reward);
    }
    await server.stop();
  });

  test('three rounds of grpo train an imported policy that calls tools by its own chat template', async () => {
    const server = await orsServer();
    server.tools.splice(1);
    const name = 'calls';
    await importPolicy(scene.gateway, name, checkpointWithTools(), {});
    const { run, round } = await scene.order({
      ...{ recipe: recipe.name, policy: name, seed: seed++, rounds: 3, tasks: 1, groupSize: 4 },
      engine: 'kernels',
    });
    await scene.reach(round, ['rollout']);
    const end = await learns();
    const said = await printed(environment(), 'play', server.url, run, '--turns', '2');
    expect(said).toBe(`12 episodes of run ${run} were held in ${server.url}`);
    const rounds = await scene.gateway.listRounds(run);
    const last = rounds.find(({ index }) => index === 3)!;
    // The audit of every round drew every answer again, to the same bits.
    expect(await scene.reach(last.id, ['done', 'failed'])).toMatchObject({ state: 'done' });
    await end();
    const { tokenizer } = textOf(checkpointWithTools(), name);
    const samples = (await Promise.all(rounds.map(({ id }) => contents(id))))
      .flat(2)
      .flatMap((group) => group.samples!);
    const ran = samples.flatMap(({ ids }) => tokenizer.decode(ids).match(/<tool_call>/g) ?? []);
    expect(ran.length).toBeGreaterThanOrEqual(server.ran.length);
    expect(server.ran.length).toBeGreaterThan(12);
    const replies = samples.filter(({ turn }) => turn === 1);
    expect(replies.length).toBeGreaterThan(0);
    for (const reply of replies) {
      // What is read before the second answer begins with the very tokens of the first, and has the results of its calls.
      const first = samples.find(({ id }) => id === reply.of)!;
      const before = [...first.prompt, ...first.ids];
      expect(reply.prompt.slice(0, before.length)).toEqual(before);
      expect(tokenizer.decode(before)).toContain(
        '"name": "submit", "description": "Hands in a result.", "parameters": {',
      );
      expect(tokenizer.decode(reply.prompt.slice(before.length))).toContain('<tool_response>\nWrong.');
      expect(first.rewards.turn).toBeLessThan(0);
    }
    await server.stop();
  }, 180_000);

  test('`chat` answers each line of a pipe with what was said before it, and says what is wrong', async () => {
    const chat = async (args: readonly string[], input: string) => {
      const child = spawn(
        process.execPath,
        ['--import', './install/typescript.mjs', 'cli/rollmesh.ts', 'chat', ...args],
        {
          env: {
            ...process.env,
            ROLLMESH_URL: scene.mesh.url,
            LEARNER_TOKEN: scene.mesh.secrets.LEARNER_TOKEN,
          },
        },
      );
      let [out, error] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (error += text));
      child.stdin.end(input);
      const code = await new Promise((resolve) => child.once('close', resolve));
      return { code, out, error };
    };
    const options = { temperature: 0, max_tokens: 16 };
    const openai = new OpenAI({
      baseURL: `${scene.mesh.url}/v1`,
      apiKey: 'none',
      maxRetries: 1,
      defaultHeaders: ALONE,
    });
    const first = { role: 'user' as const, content: 'What is 3 + 4?' };
    const ask = async (messages: OpenAI.Chat.ChatCompletionMessageParam[]) =>
      (await openai.chat.completions.create({ model: 'words@0', messages, ...options })).choices[0]!.message;
    const one = await ask([first]);
    const two = await ask([first, one, { role: 'user', content: 'And 5 + 6?' }]);
    const flags = ['--temperature', '0', '--max-new', '16'];
    const [known, unknown] = await Promise.all([
      chat(['words@0', ...flags], 'What is 3 + 4?\n\nAnd 5 + 6?\n/new\nWhat is 3 + 4?\n'),
      chat(['nobody'], 'Hello\n'),
    ]);
    expect(known).toEqual({
      code: 0,
      out: `${one.content}\n${two.content}\n${one.content}\n`,
      error: '',
    });
    expect(unknown.code).toBe(1);
    expect(unknown.error).toContain('There is no model nobody');
  });
});

test('a page of an origin that is named may ask the models, one of another may not', async () => {
  const ask = (path: string, origin: string, more: RequestInit & { headers?: Record<string, string> } = {}) =>
    fetch(`${scene.mesh.url}${path}`, { ...more, headers: { ...ALONE, origin, ...more.headers } });
  const wanted = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  };
  const first = await ask('/v1/chat/completions', PAGE, { method: 'OPTIONS', headers: wanted });
  expect(first.status).toBe(204);
  expect(first.headers.get('access-control-allow-origin')).toBe(PAGE);
  expect(first.headers.get('access-control-allow-headers')).toBe('authorization');
  const models = await ask('/v1/models', PAGE);
  expect([models.status, models.headers.get('access-control-allow-origin')]).toEqual([200, PAGE]);
  // A refusal can be read, too.
  const refused = await ask('/v1/models/none', PAGE);
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([404, PAGE]);
  for (const [path, origin] of [
    ['/v1/models', 'https://other.example'],
    ['/api/runs', PAGE],
    ['/metrics', PAGE],
  ] as const) {
    const foreign = await ask(path, origin);
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  }
});

/** Holds the episodes of a run as a command of its own, whose waits are short. */
async function playsAlone(url: string) {
  const { round, access } = await ordered(1, 2);
  vi.stubEnv('ROLLMESH_URL', scene.mesh.url);
  vi.stubEnv('LEARNER_TOKEN', scene.mesh.secrets.LEARNER_TOKEN);
  // Between attempts, and not while an answer is waited for.
  const hasty =
    'const wait = setTimeout; setTimeout = (f, ms, ...a) => wait(f, ms > 16e3 ? ms : ms / 100, ...a)';
  vi.stubEnv('NODE_OPTIONS', `--import data:text/javascript,${encodeURIComponent(hasty)}`);
  const args = ['environment', 'play', url, access.run, '--answer-tool', 'submit', '--turns', '1'];
  const seen = runCommand('cli/rollmesh.ts', args);
  vi.unstubAllEnvs();
  await scene.reach(round, ['training']);
  return { run: access.run, seen };
}

test('a mesh that is started again goes on with the episodes that were open, and doubles nothing', async () => {
  const server = await orsServer();
  const alone = await playsAlone(server.url);
  const gateway = scene.mesh.url;
  const { round, access } = await ordered(1, 3);
  const [one, two] = [await held(access, { key: 'one' }), await held(access)];
  const asked = await asks(one, 'What is 1 + 4?', { return_token_ids: true });
  await asks(two, 'What is 2 + 4?');
  expect((await rewards(two, 1)).status).toBe(200);
  const { port } = new URL(scene.mesh.url);
  await scene.stop(true);
  scene = await open();
  const moved = <T extends string>(url: T) => url.replace(`:${port}/`, `:${new URL(scene.mesh.url).port}/`);
  const here = { ...one, baseURL: moved(one.baseURL), rewardURL: moved(one.rewardURL) };
  const again = { ...access, url: moved(access.url) };
  expect((await held(again, { key: 'one' })).episode).toBe(one.episode);
  const said = asked.choices[0]!.message;
  const second = (await clientOf(here).chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: 'What is 1 + 4?' }, said, { role: 'user', content: 'Sure?' }],
    ...{ return_token_ids: true },
  })) as unknown as { prompt_token_ids: number[] };
  const { prompt_token_ids: prompt } = asked as unknown as { prompt_token_ids: number[] };
  const { token_ids: ids } = asked.choices[0] as unknown as { token_ids: number[] };
  expect(second.prompt_token_ids.slice(0, prompt.length + ids.length)).toEqual([...prompt, ...ids]);
  expect((await rewards(here, 0.5)).status).toBe(200);
  const gone = await held(again);
  expect((await opened(again)).state).toBe('wait');
  await silence(gone);
  await scene.mesh.cron();
  await scene.reach(round, ['training']);
  const [group] = await contents(round);
  const paid = group!.samples!.map(({ turn, rewards: { reward } }) => [turn, reward]);
  expect(paid).toEqual([
    [0, 0.5],
    [1, 0.5],
    [0, 1],
  ]);
  // A command that holds episodes lost its mesh, and says so.
  const { code, stdout, stderr } = await alone.seen;
  expect(stdout).toBe(`2 episodes of run ${alone.run} were held in ${server.url}\n`);
  expect(stderr).toContain(`The mesh ${new URL(gateway).origin} does not answer.`);
  expect(stderr).not.toMatch(INTERNALS);
  expect(code).toBe(1);
  await server.stop();
});
