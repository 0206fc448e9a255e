/** A mesh with a recipe whose episodes agents hold, and the hands of such an agent: it opens episodes, asks for answers and pays. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect } from 'vitest';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { EpisodeAnswer } from '../../core/schema/agent.ts';
import type { GroupContent } from '../../core/schema/answers.ts';
import { ensureShipped } from '../../local/starts.ts';
import { ALONE, openScene, type Scene } from './scene.ts';

export type Held = Extract<EpisodeAnswer, { state: 'open' }> & { readonly baseURL: string };

export const POLICY = 'words';
/** Longer than any test; where an episode is to be given up, its last sign is set back. */
export const EPISODE_SECONDS = 3600;

const TASKS = Array.from({ length: 20 }, (_, i) => {
  const metadata = { environment: 'sums', split: 'train', index: i };
  return `${JSON.stringify({ question: `What is ${i} + 4?`, answer: `${i + 4}`, metadata })}\n`;
}).join('');

/** A folder of the file's tests. */
export let root: string;
/** The mesh of the file's tests. */
export let scene: Scene;
/** A recipe whose episodes agents hold. */
export let recipe: Recipe;
let recipes: readonly string[];
let seed = 0;

/** The mesh: of a new folder, or started again in the same one. */
const open = (): Promise<Scene> =>
  openScene({
    recipes,
    vars: { EPISODE_SECONDS: String(EPISODE_SECONDS) },
    stateDir: join(root, 'state'),
  });

/** Opens the mesh before the tests of a file, and ends it after them. */
export function withAgents(): void {
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'rollmesh-agents-'));
    const file = join(root, 'tasks.jsonl');
    writeFileSync(file, TASKS);
    const asked = {
      recipe: 'grpo',
      policy: POLICY,
      agent: true,
      tasks: [file],
      heldOut: '0.2',
      checker: 'number',
      extract: ['whole' as const],
      set: ['maxNew=24'],
    };
    const made = (await taskRecipe(asked))!;
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
}

/** Ends the mesh and starts it again with what it has stored. */
export async function restart(): Promise<void> {
  await scene.stop(true);
  scene = await open();
}

/** A run of its own, with its first round in rollout. */
export async function ordered(tasks = 1, groupSize = 2, more: object = {}) {
  const { run, round } = await scene.order({
    recipe: recipe.name,
    policy: POLICY,
    seed: seed++,
    tasks,
    groupSize,
    engine: 'kernels',
    ...more,
  });
  await scene.reach(round, ['rollout']);
  return { round, access: await scene.gateway.getAgentAccess(run) };
}

export const post = (url: string, token: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { ...ALONE, authorization: `Bearer ${token}`, ...headers },
  });

export async function opened(
  access: { url: string; token: string },
  body: object = {},
): Promise<EpisodeAnswer> {
  const response = await post(`${access.url}/episodes`, access.token, body);
  expect(response.status).toBe(200);
  return (await response.json()) as EpisodeAnswer;
}

export async function held(access: { url: string; token: string }, body: object = {}): Promise<Held> {
  const answer = await opened(access, body);
  if (answer.state !== 'open') throw new Error(`no episode: ${answer.state}`);
  return answer as Held;
}

export const clientOf = ({ baseURL, apiKey }: Held) =>
  new OpenAI({ baseURL, apiKey, maxRetries: 0, defaultHeaders: ALONE });

export const asks = (episode: Held, content: string, more: object = {}) =>
  clientOf(episode).chat.completions.create({
    model: 'any-name',
    messages: [{ role: 'user', content }],
    ...more,
  });

export const rewards = (episode: Held, reward: unknown, token = episode.apiKey) =>
  post(episode.rewardURL, token, { reward });

export async function refusal(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(error.message).not.toBe('');
  return `${response.status} ${error.code}`;
}

/** The refusal that OpenAI's client throws. */
export const thrown = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'answered',
    (error: InstanceType<typeof OpenAI.APIError>) => `${error.status} ${error.code}`,
  );

export async function contents(round: string): Promise<GroupContent[]> {
  const all: GroupContent[] = [];
  for await (const group of scene.gateway.contentsOf(round)) all.push(group);
  return all;
}

const database = () => scene.mesh.mf.getD1Database('DB', 'rollmesh-gateway');

const change = async (what: string, { episode }: Held): Promise<void> => {
  await (await database())
    .prepare(`${what} WHERE grp = ? AND sample = ?`)
    .bind(episode.slice(0, 32), Number(episode.slice(33)))
    .run();
};

/** Makes an agent one that was heard of last a long time ago. */
export const silence = (episode: Held) => change('UPDATE episodes SET touched_at = 1', episode);

/** What the clock does to an episode a day after its round has ended. */
export async function forget(episode: Held): Promise<void> {
  await change('DELETE FROM calls', episode);
  await change('DELETE FROM episodes', episode);
}

/** Makes an episode one that was opened a day after what is stored. */
export const postpone = (episode: Held) =>
  change(`UPDATE episodes SET opened_at = opened_at + ${24 * 3600 * 1000}`, episode);
