/**
 * `npm start` with agents beside it, as docs/agents.md has them: the examples of two seats and of tools, processes of their own, and one that is
 * slow. Agents are told that the run is over before the mesh goes away with the command, which only the whole command can show.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import type { AgentAccess, EpisodeAnswer } from '../../core/schema/agent.ts';
import { NODE_FLAGS } from '../../mesh/installation.ts';
import { INTERNALS, runCommand } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-examples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RUN = ['--recipe', 'grpo', '--agent'];
const SUMS = ['--policy', 'words', '--tasks', 'examples/agent/sums.jsonl'];
// One held-out question, so that the run is over as soon as its round is.
const SMALL = ['--group-size', '2', '--engine', 'kernels', '--port', '0', '--set', 'examined=1'];

interface Turn {
  readonly prompt: string;
  readonly completion: string;
  readonly rewards: { readonly reward: number };
}

/** Plays a run with an agent, which begins once there are episodes to hold. @returns what the agent resolves to, and the folder of the mesh */
async function playedBy<T>(
  agent: (access: AgentAccess) => Promise<T>,
  rounds: number,
  ...more: string[]
): Promise<{ state: string; agent: T }> {
  const state = mkdtempSync(join(folder, 'state-'));
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const held = begun.then(async () => {
    const args = ['cli/rollmesh.ts', 'agents', 'last', '--json', '--state', state];
    const { stdout } = await promisify(execFile)(process.execPath, [...NODE_FLAGS, ...args]);
    return agent(JSON.parse(stdout) as AgentAccess);
  });
  const args = ['start', ...RUN, ...SMALL, '--rounds', String(rounds), ...more, '--state', state];
  const { code, stdout, stderr } = await runCommand('cli/rollmesh.ts', args, (text) => {
    if (text.includes('agents hold the episodes')) begin();
  });
  expect(stderr).not.toMatch(INTERNALS);
  expect(stdout).toMatch(new RegExp(`^${rounds}/${rounds} `, 'm'));
  expect(code).toBe(0);
  return { state, agent: await held };
}

/** An agent of examples/agent, as a process of its own. */
const example =
  (name: string) =>
  ({ url, token }: AgentAccess) =>
    promisify(execFile)(process.execPath, [...NODE_FLAGS, `examples/agent/${name}.ts`], {
      env: { ...process.env, ROLLMESH_AGENT_URL: url, ROLLMESH_AGENT_TOKEN: token },
    });

test('the seats of examples/agent/seats.ts are trained, and the agent ends without an error', async () => {
  const seats = ['--tasks', '2', '--seats', 'proposer,solver'];
  const { agent } = await playedBy(example('seats'), 1, ...SUMS, ...seats);
  expect(agent).toEqual({ stdout: '', stderr: '' });
}, 180_000);

test('two rounds of examples/agent/searcher.ts: the policy calls its tool, reads what it found, and is trained', async () => {
  const search = [
    '--policy',
    'search-two-hop',
    '--tasks',
    'examples/agent/search.jsonl',
    '--set',
    'maxNew=22',
  ];
  const { agent, state } = await playedBy(example('searcher'), 2, ...search, '--tasks', '3');
  expect(agent).toEqual({ stdout: '', stderr: '' });
  const out = join(folder, 'search.jsonl');
  const args = ['cli/rollmesh.ts', 'trajectories', 'last', '--state', state, '--out', out];
  await promisify(execFile)(process.execPath, [...NODE_FLAGS, ...args]);
  const documents = readFileSync('examples/agent/documents.txt', 'utf8').trim().split('\n');
  const episodes = readFileSync(out, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { round: number; turns: Turn[] });
  // Two rounds of three tasks of two episodes.
  expect(episodes.map(({ round }) => round).sort()).toEqual([...Array(6).fill(1), ...Array(6).fill(2)]);
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
      if (t === turns.length - 1) expect(completion).toMatch(/^<(?:answer>[a-z]+|step>\?[a-z ]+)<eos>$/);
    }
  }
}, 180_000);

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
    await sleep(8000);
    return open();
  };
  expect((await playedBy(slow, 1, ...SUMS, '--tasks', '1')).agent).toEqual({ state: 'over' });
}, 180_000);
