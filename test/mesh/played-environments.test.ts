/**
 * Environments played by a policy that makes its own calls of tools over several turns, for rounds of grpo and of three other recipes with held-out
 * episodes: those that the mesh serves itself, by the Open Reward Standard, and one of OpenEnv. It trains on what it is paid, and the learner draws every answer again. Then a second mesh, whose
 * own Worker plays, comes to the bytes of the command, and is killed in mid-episode: such a Worker is tried with messages alone in
 * test/api/environment-worker.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command as environment } from '../../cli/environment/command.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import type { GroupContent, ReadableSample } from '../../core/schema/answers.ts';
import { readStart } from '../../local/find-start.ts';
import { ensureShipped, importPolicy } from '../../local/starts.ts';
import { hostedFamilies } from '../../worlds/hosted/families.ts';
import { hostedSearch } from '../../worlds/hosted/search.ts';
import { openEnvServer } from '../openenv-server.ts';
import { learns, printed } from './learns.ts';
import { ALONE, openScene, type Scene } from './scene.ts';

/** The second round samples with what the first has trained; it is enough that one environment of each protocol shows it. */
const ROUNDS = 2;
const ONE_ROUND: readonly Name[] = ['style', 'tic-tac-toe'];
const roundsOf = (name: Name): number => (ONE_ROUND.includes(name) ? 1 : ROUNDS);
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

/** By what each is trained; all but grpo have the episodes of a held-out task in every round. */
const BY: Readonly<Record<Name, string>> = {
  search: 'grpo',
  style: 'llama-rl',
  'tic-tac-toe': 'sft',
  openenv: 'dpo',
};
const heldOutTasks = (name: Name): number => (BY[name] === 'grpo' ? 0 : 1);
/** The episodes of all rounds. */
const episodesOf = (name: Name): number => roundsOf(name) * (TASKS + heldOutTasks(name)) * GROUP;

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
let modules: readonly string[];
let server: Awaited<ReturnType<typeof openEnvServer>>;

beforeAll(async () => {
  server = await openEnvServer(true);
  const files: string[] = [];
  const make = async (name: Name, policy: string, maxNew: number, file: string) => {
    const asked = {
      ...{ recipe: BY[name], policy, agent: true, tasks: [file], heldOut: '0.2' },
      ...{ checker: 'auto', extract: ['whole' as const] },
      set: [
        `maxNew=${maxNew}`,
        ...(heldOutTasks(name) ? ['heldOutEpisodes.tasks=1', 'heldOutEpisodes.every=1'] : []),
      ],
    };
    const made = (await taskRecipe(asked))!;
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
  modules = (await openRecipes(files)).modules.map((module) => module.file);
  scene = await openScene({ recipes: modules, stateDir: join(root, 'state') });
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
});
afterAll(async () => {
  await scene.stop();
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const policyOf = (name: Name) => (name === 'search' ? 'search-two-hop' : `${name}-calls`);

/** The rounds of a mesh. `play`: has the episodes of a run held. */
async function rounds(of: Scene, name: Name, play: (run: string) => Promise<void>) {
  const recipe = recipes.get(name)!;
  const policy = policyOf(name);
  const order = {
    recipe: recipe.name,
    policy,
    seed: 1,
    tasks: TASKS,
    groupSize: GROUP,
    rounds: roundsOf(name),
  };
  const { run } = await of.order({ ...order, engine: 'kernels' });
  const end = await learns(of, recipe);
  await play(run);
  const listed = await of.gateway.listRounds(run);
  expect(listed).toHaveLength(roundsOf(name));
  const samples: ReadableSample[] = [];
  for (const { id } of [...listed].sort((a, b) => a.index - b.index)) {
    expect(await of.reach(id, ['done', 'failed'])).toMatchObject({
      state: 'done',
      groups: { trained: TASKS + heldOutTasks(name), failed: 0 },
    });
    const { report } = await of.gateway.getRound(id);
    // A point of the held-out curve in each round.
    if (heldOutTasks(name))
      expect(report!.figures).toMatchObject({
        'heldOut.episodes': GROUP,
        'heldOut.success': expect.any(Number),
      });
    for await (const group of of.gateway.contentsOf(id)) samples.push(...(group.samples ?? []));
  }
  await end();
  expect(new Set(samples.map((sample) => sample.policy.version)).size).toBe(roundsOf(name));
  return { run, samples };
}

/** The rounds, whose episodes `environment play` holds. @returns their samples, in the order of rounds */
async function trained(name: Name, url: string, ...more: string[]): Promise<ReadableSample[]> {
  const { samples } = await rounds(scene, name, async (run) => {
    const said = await printed(scene, environment(), 'play', url, run, ...more);
    expect(said).toBe(`${episodesOf(name)} episodes of run ${run} were held in ${url}`);
  });
  return samples;
}

const served = () => `${scene.mesh.url}/environments`;

let searched: Promise<ReadableSample[]> | undefined;
const search = () => (searched ??= trained('search', served()));

test('the search that the mesh serves: the policy searches until it answers, by two tools', async () => {
  const samples = await search();
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
});

test('style, which the mesh serves, pays shares, and trains', async () => {
  const samples = await trained('style', served());
  const episodes = samples.filter(({ of }) => of === undefined);
  expect(episodes).toHaveLength(episodesOf('style'));
  const rewards = episodes.map((sample) => sample.rewards.reward!);
  // The start knows the form and misses points.
  expect(Math.max(...rewards)).toBeGreaterThan(0.5);
  expect(new Set(rewards).size).toBeGreaterThan(1);
  for (const reward of rewards) expect(Number.isInteger(Math.round(reward * 1e9) / 2e8)).toBe(true);
});

test('a game that the mesh serves is played move by move, and trains', async () => {
  const samples = await trained('tic-tac-toe', served());
  expect(samples.filter(({ of }) => of !== undefined).length).toBeGreaterThan(episodesOf('tic-tac-toe'));
  for (const { rewards } of samples) expect(Math.abs(rewards.reward!)).toBeLessThanOrEqual(1.2 + 1e-9);
});

test('an environment of OpenEnv: the policy calls its tool again until it is right or out of turns', async () => {
  server.pays = [1, -0.25];
  const samples = await trained('openenv', server.url, '--turns', '3');
  const called = samples.filter(({ rewards }) => rewards.turn !== undefined).length;
  expect(server.ran.length).toBe(called);
  expect(called).toBeGreaterThan(0);
  const episodes = samples.filter(({ of }) => of === undefined);
  expect(episodes).toHaveLength(episodesOf('openenv'));
  for (const { id, rewards } of episodes) {
    const parts = samples.filter((one) => one.id === id || one.of === id).map((one) => one.rewards.turn ?? 0);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(rewards.reward!, 12);
  }
});

describe('a mesh whose own Worker plays the search that the other one serves', () => {
  /** Stands before the search: it knows which sessions were begun, and can keep calls waiting. */
  const front = {
    url: '',
    begun: [] as string[],
    /** Calls that are kept waiting are not passed on. */
    keeps: (_session: string): boolean => false,
    kept: [] as string[],
  };
  const door = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const body = Buffer.concat(await request.toArray());
    const session = String(headers['x-session-id']);
    if (url === '/create') front.begun.push(session);
    if (url?.endsWith('/call') && front.keeps(session)) {
      front.kept.push(session);
      return;
    }
    const answer = await fetch(`${served()}${url}`, {
      method: method!,
      headers: {
        'content-type': 'application/json',
        ...(headers['x-session-id'] === undefined ? {} : { 'x-session-id': session }),
        connection: 'close',
      },
      ...(body.length ? { body } : {}),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });

  /** The mesh: of a new folder, or started again in the same one. */
  const open = (): Promise<Scene> =>
    openScene({
      recipes: modules,
      stateDir: join(root, 'working'),
      vars: { ENVIRONMENT_URL: front.url, EPISODE_SECONDS: '3600' },
    });
  let working: Scene;
  beforeAll(async () => {
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
    front.url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
    working = await open();
    await ensureShipped(working.gateway, policyOf('search'));
  });
  afterAll(async () => {
    await working.stop(true);
    door.closeAllConnections();
    door.close();
  });

  test('trains three rounds to the bytes of the command', async () => {
    const { samples } = await rounds(working, 'search', async (run) => {
      // The Worker hears of each round by itself.
      for (let ended = 0; ended < ROUNDS; ) {
        const listed = await working.gateway.listRounds(run);
        ended = listed.filter(({ state }) => state === 'done' || state === 'failed').length;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
    expect(samples).toEqual(await search());
    const weights = (of: Scene) =>
      of.gateway
        .getManifest({ name: policyOf('search'), version: ROUNDS })
        .then(({ files }) => files['model.safetensors']);
    expect(await weights(working)).toEqual(await weights(scene));
    expect(front.begun).toHaveLength(ROUNDS * TASKS * GROUP);
  });

  test('the Worker’s own token opens episodes, and nothing else', async () => {
    const bindings = await working.mesh.mf.getBindings<{ AGENTS_TOKEN: string }>('rollmesh-environment');
    for (const secret of Object.values(working.mesh.secrets))
      expect(Object.values(bindings)).not.toContain(secret);
    const [run] = await working.gateway.listRuns();
    const url = `${working.mesh.url}/agents/runs/${run!.id}/episodes`;
    const send = (at: string, token: string) =>
      fetch(at, { method: 'POST', body: '{}', headers: { ...ALONE, authorization: `Bearer ${token}` } });
    expect((await send(url, bindings.AGENTS_TOKEN)).status).toBe(200);
    const others = [
      send(
        url,
        bindings.AGENTS_TOKEN.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
      ),
      send(`${working.mesh.url}/agents/episodes/${'0'.repeat(32)}-0/reward`, bindings.AGENTS_TOKEN),
      send(`${working.mesh.url}/api/runs/${run!.id}/stop`, bindings.AGENTS_TOKEN),
      fetch(`${working.mesh.url}/api/runs/${run!.id}/agents`, {
        headers: { ...ALONE, authorization: `Bearer ${bindings.AGENTS_TOKEN}` },
      }),
    ];
    for (const { status } of await Promise.all(others)) expect(status).toBe(401);
  });

  test('a mesh that is killed in mid-episode: no episode is played twice, and the one that was cut off is missing data', async () => {
    front.begun.length = 0;
    let cut: string | undefined;
    front.keeps = (session) => {
      cut ??= session;
      return session === cut;
    };
    const { round } = await working.order({
      ...{ recipe: recipes.get('search')!.name, policy: policyOf('search'), engine: 'kernels' },
      ...{ seed: 2, tasks: TASKS, groupSize: GROUP, rounds: 1 },
    });
    const database = () => working.mesh.mf.getD1Database('DB', 'rollmesh-gateway');
    const states = async () => {
      const db = await database();
      const { results } = await db
        .prepare('SELECT grp, sample, state, missing FROM episodes WHERE round = ?')
        .bind(round)
        .all<{ grp: string; sample: number; state: string; missing: string | null }>();
      return results;
    };
    const ended = async () => (await states()).filter(({ state }) => state === 'rewarded').length;
    while ((await ended()) < TASKS * GROUP - 1) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(front.kept).toEqual([cut]);

    await working.stop(true);
    front.keeps = () => false;
    working = await open();
    // The clock has the messages sent again, since the queue was lost: all of them find that their episodes were opened.
    await working.mesh.cron();
    const isCut = ({ grp, sample }: { grp: string; sample: number }) => `rollmesh-${grp}-${sample}` === cut;
    const db = await database();
    await db
      .prepare("UPDATE episodes SET touched_at = 1 WHERE round = ? AND state = 'open'")
      .bind(round)
      .run();
    await working.mesh.cron();
    await working.reach(round, ['training']);
    const rows = await states();
    expect(rows).toHaveLength(TASKS * GROUP);
    for (const row of rows)
      expect(row).toMatchObject(
        isCut(row) ? { state: 'missing', missing: 'abandoned' } : { state: 'rewarded' },
      );
    // Each session was begun once, that of the episode that was cut off included.
    expect([...front.begun].sort()).toEqual(
      rows.map(({ grp, sample }) => `rollmesh-${grp}-${sample}`).sort(),
    );
    const groups: GroupContent[] = [];
    for await (const group of working.gateway.contentsOf(round)) groups.push(group);
    const firsts = groups.flatMap(({ samples }) => samples ?? []).filter(({ of }) => of === undefined);
    expect(firsts).toHaveLength(TASKS * GROUP);
    expect(firsts.filter(({ missing }) => missing !== undefined)).toMatchObject([
      { missing: { reward: 'abandoned' } },
    ]);
  });
});

test('the rules of what is served stand before the situation, on a line of their own', () => {
  for (const name of Object.keys(PLAYED)) expect(hosted(name).task('train', 0).prompt[0]).toMatch(/^[^\n]+$/);
  expect(readFileSync(fileOf('style'), 'utf8').trim().split('\n')).toHaveLength(12);
});
