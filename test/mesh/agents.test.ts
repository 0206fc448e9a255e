/**
 * Agents of somebody else: they open episodes of a run, speak to the policy through OpenAI's own client, and post what an episode is worth.
 * The rounds go on as any others, and whatever an agent does wrong is refused by name, or missing data of a kind.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { ensureShipped, readStart } from '../../cli/shared/import-policy.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { episodeToken } from '../../core/agent-token.ts';
import { recordedEpisodes } from '../../core/audit/recorded-episodes.ts';
import type { Recipe } from '../../core/recipe.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import type { EpisodeAnswer } from '../../core/schema/agent.ts';
import type { GroupContent } from '../../core/schema/answers.ts';
import { openDevice } from '../../learner/device/device.ts';
import { openAudit } from '../../learner/loop/auditor.ts';
import { runLearner } from '../../learner/loop/loop.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { ALONE, openScene, type Scene } from './scene.ts';

type Held = Extract<EpisodeAnswer, { state: 'open' }>;

const POLICY = 'words';
/** Longer than any test; where an episode is to be given up, its last sign is set back. */
const EPISODE_SECONDS = 3600;

const root = mkdtempSync(join(tmpdir(), 'rollmesh-agents-'));
const file = join(root, 'tasks.jsonl');
writeFileSync(
  file,
  Array.from(
    { length: 20 },
    (_, i) => `${JSON.stringify({ question: `What is ${i} + 4?`, answer: `${i + 4}` })}\n`,
  ).join(''),
);

let scene: Scene;
let recipe: Recipe;
let seed = 0;

async function open(stateDir?: string): Promise<Scene> {
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
  const opened = await openScene({
    recipes: modules.map((module) => module.file),
    vars: { EPISODE_SECONDS: String(EPISODE_SECONDS) },
    ...(stateDir ? { stateDir } : {}),
  });
  await ensureShipped(opened.gateway, POLICY);
  return opened;
}

beforeAll(async () => {
  scene = await open();
}, 120_000);
afterAll(async () => {
  await scene.stop();
  rmSync(root, { recursive: true, force: true });
});

/** A run of its own, with its first round in rollout. */
async function ordered(tasks = 1, groupSize = 2) {
  const { run, round } = await scene.order({
    recipe: recipe.name,
    policy: POLICY,
    seed: seed++,
    tasks,
    groupSize,
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
  return answer;
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
  expect(error.message).toMatch(/\.$/);
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

describe('an episode', () => {
  test('is recorded with the very tokens, and trained on, audited and read like any other', async () => {
    const { round, access } = await ordered(2, 2);
    const prompts: number[][] = [];
    const answers: number[][] = [];
    for (let i = 0; i < 4; i++) {
      const episode = await held(access);
      expect(episode).toMatchObject({ round: 1, model: `${POLICY}@0`, idleSeconds: EPISODE_SECONDS });
      const { messages, answer } = episode.task as { messages: { content: string }[]; answer: string };
      expect(messages[0]!.content).toMatch(/^What is \d+ \+ 4\?$/);
      expect(Number(answer)).toBeGreaterThanOrEqual(4);
      const said = await asks(episode, messages[0]!.content, { return_token_ids: true, logprobs: true });
      expect(said.model).toBe(`${POLICY}@0`);
      prompts.push((said as unknown as { prompt_token_ids: number[] }).prompt_token_ids);
      answers.push((said.choices[0] as unknown as { token_ids: number[] }).token_ids);
      expect((await rewards(episode, i / 4)).status).toBe(200);
    }
    expect((await opened(access)).state).toBe('wait');
    const stop = new AbortController();
    await openDevice({ device: 'cpu', threads: 1 });
    const learning = runLearner(
      { queue: scene.queue, gateway: scene.gateway, trainer: new RoundTrainer(), log: () => {} },
      {
        recipes: { recipes: [recipe], find: () => recipe },
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
    const done = await scene.reach(round, ['done', 'failed']);
    stop.abort();
    await learning;
    expect(done).toMatchObject({ state: 'done', groups: { trained: 2, failed: 0 } });
    expect(done.report?.monitors).toMatchObject({ rollouts: 4, reward: 0.375, missingRewards: 0 });
    const groups = await contents(round);
    const samples = groups.flatMap((group) => group.samples ?? []);
    expect(samples.map(({ prompt }) => prompt)).toEqual(prompts);
    expect(samples.map(({ ids }) => ids)).toEqual(answers);
    expect(samples.map(({ rewards: { reward } }) => reward)).toEqual([0, 0.25, 0.5, 0.75]);
    // The run wanted one round.
    expect((await opened(access)).state).toBe('over');
  });
});
