/**
 * `npm start` with agents beside it, as docs/agents.md has them: the example of two seats, a process of its own, and one that is slow. Agents
 * are told that the run is over before the mesh goes away with the command, which only the whole command can show.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
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

const RUN = ['--recipe', 'grpo', '--policy', 'words', '--agent', '--tasks', 'examples/agent/sums.jsonl'];
// One held-out question, so that the run is over as soon as its round is.
const SMALL = [
  '--group-size',
  '2',
  '--rounds',
  '1',
  '--engine',
  'kernels',
  '--port',
  '0',
  '--set',
  'examined=1',
];

/** Plays a run with an agent, which begins once there are episodes to hold. @returns what the agent resolves to */
async function playedBy<T>(agent: (access: AgentAccess) => Promise<T>, ...more: string[]): Promise<T> {
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
  const args = ['start', ...RUN, ...SMALL, ...more, '--state', state];
  const { code, stdout, stderr } = await runCommand('cli/rollmesh.ts', args, (text) => {
    if (text.includes('agents hold the episodes')) begin();
  });
  expect(stderr).not.toMatch(INTERNALS);
  expect(stdout).toMatch(/^1\/1 /m);
  expect(code).toBe(0);
  return held;
}

test('the seats of examples/agent/seats.ts are trained, and the agent ends without an error', async () => {
  const example = ({ url, token }: AgentAccess) =>
    promisify(execFile)(process.execPath, [...NODE_FLAGS, 'examples/agent/seats.ts'], {
      env: { ...process.env, ROLLMESH_AGENT_URL: url, ROLLMESH_AGENT_TOKEN: token },
    });
  const seen = await playedBy(example, '--tasks', '2', '--seats', 'proposer,solver');
  expect(seen).toEqual({ stdout: '', stderr: '' });
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
  expect(await playedBy(slow, '--tasks', '1')).toEqual({ state: 'over' });
}, 180_000);
