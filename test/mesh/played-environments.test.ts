/**
 * Environments played by a policy that makes its own calls of tools over several turns, for two rounds of grpo: those that the mesh serves itself, by
 * the Open Reward Standard, and one of OpenEnv. It trains on what it is paid, and the learner draws every answer again.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command as environment } from '../../cli/environment/command.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { ensureShipped, importPolicy, readStart } from '../../cli/shared/import-policy.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import type { Recipe } from '../../core/recipe.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import type { ReadableSample } from '../../core/schema/answers.ts';
import { hostedFamilies } from '../../recipes/hosted-families.ts';
import { hostedSearch } from '../../recipes/ssp/hosted.ts';
import { openEnvServer } from '../openenv-server.ts';
import { learns, printed } from './learns.ts';
import { openScene, type Scene } from './scene.ts';

const ROUNDS = 2;
const TASKS = 2;
const GROUP = 3;

const root = mkdtempSync(join(tmpdir(), 'rollmesh-played-'));

/** A policy in the notation of tags with the calls of one tool: rules, which are one line, are not in its notation. */
const withCalls = (tool: string) => `
{%- for message in messages %}
    {%- if message.role == 'user' %}
        {{- '<solve>' + ((message.content.split('\\n')[1:] | join('\\n')) or message.content) + '<sep>' }}
    {%- elif message.role == 'assistant' %}
        {{- message.content }}
        {%- if message.tool_calls %}
            {{- '<answer>' + message.tool_calls[0].function.arguments.${tool} }}
        {%- endif %}
        {{- '<eos>' }}
    {%- else %}
        {{- '<solve>' + message.content + '<sep>' }}
    {%- endif %}
{%- endfor %}`;

/** What is played: an environment with the start of a policy that was taught it. */
const PLAYED = {
  search: { policy: 'search-two-hop', maxNew: 22 },
  style: { policy: 'style', maxNew: 48, argument: 'answer' },
  'tic-tac-toe': { policy: 'games', maxNew: 8, argument: 'action' },
} as const;
type Name = keyof typeof PLAYED | 'openenv';

const hosted = (name: string) => [hostedSearch, ...hostedFamilies].find((one) => one.name === name)!;
const fileOf = (name: string) => join(root, `${name}.jsonl`);
function writeTasks(name: keyof typeof PLAYED): string {
  const rows = Array.from({ length: 12 }, (_, index) => ({
    question: `${hosted(name).task('train', index).prompt.join('\n')} (${index})`,
    answer: 'unknown',
    metadata: { environment: name, split: 'train', index },
  }));
  writeFileSync(fileOf(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return fileOf(name);
}

let scene: Scene;
const recipes = new Map<Name, Recipe>();
let server: Awaited<ReturnType<typeof openEnvServer>>;

beforeAll(async () => {
  server = await openEnvServer(true);
  const files: string[] = [];
  const make = async (name: Name, policy: string, maxNew: number, file: string) => {
    const asked = {
      ...{ recipe: 'grpo', policy, agent: true, tasks: { files: [file] }, heldOut: '0.2' },
      ...{ checker: 'auto', extract: ['whole' as const], set: [`maxNew=${maxNew}`] },
    };
    const made = (await taskRecipe(asked as unknown as Parameters<typeof taskRecipe>[0]))!;
    recipes.set(name, made.recipe);
    files.push(await made.write(join(root, 'recipes')));
  };
  for (const [name, { maxNew }] of Object.entries(PLAYED))
    await make(
      name as Name,
      name === 'search' ? 'search-two-hop' : `${name}-calls`,
      maxNew,
      writeTasks(name as keyof typeof PLAYED),
    );
  const rows = Array.from({ length: 12 }, (_, seed) => ({
    question: `What is ${seed} + ${seed + 4}?`,
    answer: 'unknown',
    metadata: { protocol: 'openenv', reset: { seed }, show: ['question'] },
  }));
  writeFileSync(fileOf('openenv'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  await make('openenv', 'openenv-calls', 32, fileOf('openenv'));
  const { modules } = await openRecipes(files);
  scene = await openScene({
    recipes: modules.map((module) => module.file),
    stateDir: join(root, 'state'),
  });
  await ensureShipped(scene.gateway, 'search-two-hop');
  const search = await readStart('search-two-hop');
  const config = JSON.parse(new TextDecoder().decode(search['tokenizer_config.json'])) as object;
  for (const [name, start, argument] of [
    ['style-calls', 'style', 'answer'],
    ['tic-tac-toe-calls', 'games', 'action'],
    ['openenv-calls', 'arithmetic-base', 'answer'],
  ] as const) {
    const told = { ...config, chat_template: withCalls(argument) };
    const files = {
      ...(await readStart(start)),
      'tokenizer_config.json': new TextEncoder().encode(JSON.stringify(told)),
    };
    await importPolicy(scene.gateway, name, files, {});
  }
}, 180_000);
afterAll(async () => {
  await scene.stop();
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

/** The rounds, whose episodes `environment play` holds. @returns their samples, in the order of rounds */
async function trained(name: Name, url: string, ...more: string[]): Promise<ReadableSample[]> {
  const recipe = recipes.get(name)!;
  const policy = name === 'search' ? 'search-two-hop' : `${name}-calls`;
  const order = { recipe: recipe.name, policy, seed: 1, tasks: TASKS, groupSize: GROUP, rounds: ROUNDS };
  const { run } = await scene.order({ ...order, engine: 'kernels' });
  const end = await learns(scene, recipe);
  const said = await printed(scene, environment(), 'play', url, run, ...more);
  expect(said).toBe(`${ROUNDS * TASKS * GROUP} episodes of run ${run} were held in ${url}`);
  const rounds = await scene.gateway.listRounds(run);
  expect(rounds).toHaveLength(ROUNDS);
  const samples: ReadableSample[] = [];
  for (const { id } of [...rounds].sort((a, b) => a.index - b.index)) {
    expect(await scene.reach(id, ['done', 'failed'])).toMatchObject({
      state: 'done',
      groups: { trained: TASKS, failed: 0 },
    });
    for await (const group of scene.gateway.contentsOf(id)) samples.push(...(group.samples ?? []));
  }
  await end();
  expect(new Set(samples.map((sample) => sample.policy.version)).size).toBe(ROUNDS);
  return samples;
}

const served = () => `${scene.mesh.url}/environments`;

test('the search that the mesh serves: the policy searches until it answers, by two tools', async () => {
  const samples = await trained('search', served());
  const { tokenizer } = textOf(await readStart('search-two-hop'), 'search-two-hop');
  for (const sample of samples) {
    const written = tokenizer.decode(sample.ids);
    const prompt = tokenizer.decode(sample.prompt);
    if (sample.of === undefined) expect(prompt).toMatch(/^<solve>the [a-z ]+\?(?: \(\d+\))?<sep>$/);
    // Whatever it called was called: the next prompt has what came of it, and an answer ends the episode.
    const next = samples.find(({ of, turn }) => of === (sample.of ?? sample.id) && turn === sample.turn! + 1);
    if (next) {
      const before = [...sample.prompt, ...sample.ids];
      expect(next.prompt.slice(0, before.length)).toEqual(before);
      expect(written).toMatch(/^<step>\?/);
    }
    expect([0, 1]).toContain(sample.rewards.reward);
  }
  expect(samples.filter(({ of }) => of !== undefined).length).toBeGreaterThan(ROUNDS * TASKS * GROUP);
  expect(samples.filter(({ ids }) => tokenizer.decode(ids).startsWith('<answer>')).length).toBeGreaterThan(0);
}, 180_000);

test('style, which the mesh serves, pays shares, and trains', async () => {
  const samples = await trained('style', served());
  const episodes = samples.filter(({ of }) => of === undefined);
  expect(episodes).toHaveLength(ROUNDS * TASKS * GROUP);
  const rewards = episodes.map((sample) => sample.rewards.reward!);
  // The start knows the form and misses points.
  expect(Math.max(...rewards)).toBeGreaterThan(0.5);
  expect(new Set(rewards).size).toBeGreaterThan(1);
  for (const reward of rewards) expect(Number.isInteger(Math.round(reward * 1e9) / 2e8)).toBe(true);
}, 180_000);

test('a game that the mesh serves is played move by move, and trains', async () => {
  const samples = await trained('tic-tac-toe', served());
  expect(samples.filter(({ of }) => of !== undefined).length).toBeGreaterThan(ROUNDS * TASKS * GROUP);
  for (const { rewards } of samples) expect(Math.abs(rewards.reward!)).toBeLessThanOrEqual(1.2 + 1e-9);
}, 180_000);

test('an environment of OpenEnv: the policy calls its tool again until it is right or out of turns', async () => {
  server.pays = [1, -0.25];
  const samples = await trained('openenv', server.url, '--turns', '3');
  const called = samples.filter(({ rewards }) => rewards.turn !== undefined).length;
  expect(server.ran.length).toBe(called);
  expect(called).toBeGreaterThan(0);
  const episodes = samples.filter(({ of }) => of === undefined);
  expect(episodes).toHaveLength(ROUNDS * TASKS * GROUP);
  for (const { id, rewards } of episodes) {
    const parts = samples.filter((one) => one.id === id || one.of === id).map((one) => one.rewards.turn ?? 0);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(rewards.reward!, 12);
  }
}, 180_000);

test('the rules of what is served stand before the situation, on a line of their own', () => {
  for (const name of Object.keys(PLAYED)) expect(hosted(name).task('train', 0).prompt[0]).toMatch(/^[^\n]+$/);
  expect(readFileSync(fileOf('style'), 'utf8').trim().split('\n')).toHaveLength(12);
});
