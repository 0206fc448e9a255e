/**
 * `npm start` with the agents of examples/agent beside it, each a process of its own, as docs/agents.md has them. The agents are told that
 * the run is over before the mesh goes away with the command, which only the whole command can show.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import type { AgentAccess } from '../../core/schema/agent.ts';
import { NODE_FLAGS } from '../../mesh/installation.ts';
import { INTERNALS, runCommand } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-examples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RUN = [
  'start',
  '--recipe',
  'grpo',
  '--policy',
  'words',
  '--agent',
  '--tasks',
  'examples/agent/sums.jsonl',
];
const SMALL = ['--tasks', '2', '--group-size', '2', '--rounds', '1', '--engine', 'kernels', '--port', '0'];

/** Plays a run, and the agent once there is one to hold. */
async function playedBy(example: string, ...more: string[]) {
  const state = join(folder, example);
  let agent: Promise<unknown> | undefined;
  const hold = async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[...NODE_FLAGS, 'cli/rollmesh.ts', 'agents', 'last', '--json', '--state', state],
    ]);
    const { url, token } = JSON.parse(stdout) as AgentAccess;
    const env = { ...process.env, ROLLMESH_AGENT_URL: url, ROLLMESH_AGENT_TOKEN: token };
    // An agent that loses its mesh ends with an error.
    await promisify(execFile)(process.execPath, [...NODE_FLAGS, `examples/agent/${example}.ts`], { env });
  };
  const seen = await runCommand('cli/rollmesh.ts', [...RUN, ...SMALL, ...more, '--state', state], (text) => {
    if (text.includes('agents hold the episodes')) agent ??= hold();
  });
  return { ...seen, agent };
}

test.each([
  ['agent', []],
  ['seats', ['--seats', 'proposer,solver']],
])(
  'the agent of examples/agent/%s.ts is trained, and hears that the run is over',
  async (example, more) => {
    const { agent, code, stdout, stderr } = await playedBy(example, ...more);
    expect(stderr).not.toMatch(INTERNALS);
    expect(stdout).toMatch(/^1\/1 /m);
    expect(code).toBe(0);
    expect(agent).toBeDefined();
    await expect(agent).resolves.toBeUndefined();
  },
  180_000,
);
