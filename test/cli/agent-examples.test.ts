/**
 * Agents beside a run, as docs/agents.md has them: the examples of two seats and of tools, processes of their own on one mesh, and one that is slow
 * beside `npx rollmesh start`. Agents are told that the run is over before the mesh goes away with the command, which only the whole command can show.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { command as trajectories } from '../../cli/trajectories/command.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { AgentAccess, EpisodeAnswer } from '../../core/schema/agent.ts';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';
import { ensureShipped } from '../../local/starts.ts';
import { learns, printed } from '../mesh/learns.ts';
import { openScene, type Scene } from '../mesh/scene.ts';
import { INTERNALS, runCommand } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-examples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The runs of the examples: the options of `npx rollmesh start` with which docs/agents.md orders them. */
const ASKED = {
  seats: {
    policy: 'words',
    tasks: 'examples/agent/sums.jsonl',
    seats: [{ name: 'proposer' }, { name: 'solver' }],
  },
  // Another recipe than grpo, one with a critic, and a held-out task in the first round.
  searcher: {
    recipe: 'q-evolve',
    policy: 'search-two-hop',
    tasks: 'examples/agent/search.jsonl',
    set: ['maxNew=22', 'heldOutEpisodes.tasks=1', 'heldOutEpisodes.every=2'],
  },
} as const;
type Example = keyof typeof ASKED;

let scene: Scene;
const recipes = new Map<Example, Recipe>();
beforeAll(async () => {
  const files: string[] = [];
  for (const [name, { tasks, ...more }] of Object.entries(ASKED)) {
    const asked = { recipe: 'grpo', agent: true, tasks: [tasks], heldOut: '0.2', checker: 'auto' };
    const options = { ...asked, extract: ['whole' as const], set: [], ...more };
    const made = (await taskRecipe(options))!;
    recipes.set(name as Example, made.recipe);
    files.push(await made.write(join(folder, 'recipes')));
  }
  const { modules } = await openRecipes(files);
  scene = await openScene({ recipes: modules.map(({ file }) => file), stateDir: join(folder, 'state') });
  for (const { policy } of Object.values(ASKED)) await ensureShipped(scene.gateway, policy);
});
afterAll(() => scene?.stop());

interface Turn {
  readonly prompt: string;
  readonly completion: string;
  readonly rewards: { readonly reward: number };
}

/** An agent of examples/agent, as a process of its own, holds the episodes of a run. @returns what it prints, and the run */
async function playedBy(name: Example, rounds: number, tasks: number, measured = 0) {
  const recipe = recipes.get(name)!;
  const order = { recipe: recipe.name, policy: ASKED[name].policy, seed: 0, rounds, tasks, groupSize: 2 };
  const { run } = await scene.order({ ...order, engine: 'kernels' });
  const end = await learns(scene, recipe);
  const { url, token } = await scene.gateway.getAgentAccess(run);
  const printedBy = await promisify(execFile)(
    process.execPath,
    [...NODE_FLAGS, `examples/agent/${name}.ts`],
    {
      env: { ...process.env, ROLLMESH_AGENT_URL: url, ROLLMESH_AGENT_TOKEN: token },
    },
  );
  for (const { id, index } of await scene.gateway.listRounds(run))
    expect(await scene.reach(id, ['done', 'failed'])).toMatchObject({
      state: 'done',
      groups: { trained: tasks + (index % 2 ? measured : 0), failed: 0 },
    });
  await end();
  return { run, printed: printedBy };
}

/** A line for each episode, and one at the end. */
const QUIET = {
  stdout: expect.stringMatching(/^(?:episode \d+: \{.*\}\n)+The run is over\.\n$/),
  stderr: '',
};

test('the seats of examples/agent/seats.ts are trained, and the agent ends without an error', async () => {
  expect((await playedBy('seats', 1, 2)).printed).toEqual(QUIET);
});

test('two rounds of examples/agent/searcher.ts: the policy calls its tool, reads what it found, and is trained', async () => {
  const played = await playedBy('searcher', 2, 3, 1);
  expect(played.printed).toEqual(QUIET);
  const out = join(folder, 'search.jsonl');
  await printed(scene, trajectories(), played.run, '--out', out);
  const documents = readFileSync('examples/agent/documents.txt', 'utf8').trim().split('\n');
  const episodes = readFileSync(out, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { round: number; turns: Turn[] });
  // Two rounds of three tasks of two episodes, and one of a held-out task.
  expect(episodes.map(({ round }) => round).sort()).toEqual([...Array(8).fill(1), ...Array(6).fill(2)]);
  const [second, first] = await scene.gateway.listRounds(played.run);
  const reports = await Promise.all([first!, second!].map(({ id }) => scene.gateway.getRound(id)));
  const [one, two] = reports.map(({ report }) => report!);
  const { 'heldOut.turns': turns, 'heldOut.episodes': held } = one!.figures!;
  expect(held).toBe(2);
  expect(two!.figures).not.toHaveProperty(['heldOut.turns']);
  // What is measured is in no monitor of the round: its tokens are those of the other six episodes.
  const of = (wanted: number) => episodes.filter(({ round }) => round === wanted);
  const counted = of(1).map(({ turns }) => turns.length);
  expect(counted.reduce((a, b) => a + b)).toBe(2 * turns! + one!.training!.roles['solver']!.samples);
  for (const { turns } of episodes) {
    expect(turns.length).toBeGreaterThan(1);
    for (const [t, { prompt, completion, rewards }] of turns.entries()) {
      expect([0, 1]).toContain(rewards.reward);
      if (t === 0) expect(prompt).toMatch(/^<solve>the [a-z ]+\?<sep>$/);
      else {
        // The very text so far, and a document.
        const before = turns[t - 1]!.prompt + turns[t - 1]!.completion;
        expect(turns[t - 1]!.completion).toMatch(/^<step>\?[a-z ]+<eos>$/);
        expect(prompt.startsWith(before)).toBe(true);
        expect(documents).toContain(prompt.slice(before.length).replace(/<sep>$/, ''));
      }
      if (t === turns.length - 1)
        expect(completion).toMatch(/^(?:<answer>[a-z]+|<step>\?[a-z ]+|[^<]*)<eos>$/);
    }
  }
});

test('an agent that asks again seconds after its last reward still hears that the run is over', async () => {
  const slow = async ({ url, token }: AgentAccess): Promise<EpisodeAnswer> => {
    const post = async (to: string, key: string, body: object) => {
      const headers = { authorization: `Bearer ${key}`, connection: 'close' };
      return (await fetch(to, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    };
    const open = () => post(`${url}/episodes`, token, {}) as Promise<EpisodeAnswer>;
    for (let rewarded = 0; rewarded < 2; ) {
      const episode = await open();
      if (episode.state !== 'open') await sleep(100);
      else {
        const { baseURL, rewardURL, apiKey } = episode;
        await post(`${baseURL}/completions`, apiKey, { model: 'm', prompt: 'What', max_tokens: 2 });
        await post(rewardURL, apiKey, { reward: rewarded++ });
      }
    }
    await sleep(5000);
    for (;;) {
      const answer = await open();
      if (answer.state !== 'wait') return answer;
      await sleep(1000 * answer.seconds);
    }
  };
  const state = mkdtempSync(join(folder, 'state-'));
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const held = begun.then(async () => {
    const args = ['cli/rollmesh.ts', 'agents', 'last', '--json', '--state', state];
    const { stdout } = await promisify(execFile)(process.execPath, [...NODE_FLAGS, ...args]);
    return slow(JSON.parse(stdout) as AgentAccess);
  });
  // One held-out question, so that the run is over as soon as its round is.
  const run = ['--recipe', 'grpo', '--agent', '--policy', 'words', '--tasks', 'examples/agent/sums.jsonl'];
  const small = ['--rounds', '1', '--tasks-per-round', '1', '--group-size', '2', '--set', 'examined=1'];
  const args = ['start', ...run, ...small, '--engine', 'kernels', '--port', '0', '--state', state];
  const { code, stdout, stderr } = await runCommand('cli/rollmesh.ts', args, (text) => {
    if (text.includes('waiting for agents at')) begin();
  });
  expect(stderr).not.toMatch(INTERNALS);
  expect(stdout).toMatch(/^1\/1 /m);
  expect(code).toBe(0);
  expect(await held).toEqual({ state: 'over' });
});
