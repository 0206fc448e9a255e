/** `rollmesh mcp` as an agent uses it: the protocol's own client starts the command, which serves a mesh that runs here. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shipped } from '../../recipes/index.ts';
import { learns } from './learns.ts';
import { openScene, type Scene } from './scene.ts';

let scene: Scene;
let ends: () => Promise<void>;
const open: Client[] = [];

async function agent(env: Readonly<Record<string, string>>, ...options: string[]) {
  const client = new Client({ name: 'test', version: '1' });
  open.push(client);
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ['--import', './cli/install/typescript.mjs', 'cli/rollmesh.ts', 'mcp', ...options],
      env: { PATH: process.env.PATH!, ROLLMESH_URL: scene.mesh.url, ...env },
      stderr: 'inherit',
    }),
  );
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    /** What a tool answers: its value, or the text of its refusal. */
    async call(name: string, input: object = {}) {
      const { content, isError } = await client.callTool({ name, arguments: { ...input } });
      const [said] = content as { text: string }[];
      return isError ? said!.text : JSON.parse(said!.text);
    },
  };
}

beforeAll(async () => {
  scene = await openScene({ vars: { READ_TOKEN: 'a-token-for-readers' } });
  ends = await learns(scene, shipped.find('trio'));
});
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await ends?.();
  await scene?.mesh.stop();
});

test('a reader’s server reads and offers nothing else', async () => {
  const { tools, call } = await agent({ READ_TOKEN: 'a-token-for-readers' });
  expect(await tools()).toEqual(['list_runs', 'show_run', 'read_episodes', 'replay_sample', 'list_policies']);
  expect(await call('list_runs')).toEqual([]);
  expect(await call('show_run', { run: 'last' })).toMatch(/There is no run "last".*List them/s);
});

test('an owner’s server orders a round, reads and replays it, keeps to its ceiling, and stops the run', async () => {
  const { LEARNER_TOKEN, WEBHOOK_SECRET } = scene.mesh.secrets;
  const { tools, call } = await agent({ LEARNER_TOKEN, WEBHOOK_SECRET }, '--ceiling', '0.000001');
  expect(await tools()).toContain('order_rounds');
  const order = { recipe: 'trio', rounds: 1, tasks: 2, groupSize: 2 };
  expect(await call('order_rounds', { ...order, tasks: 0 })).toMatch(/tasks/);
  expect(await call('order_rounds', { ...order, rounds: 2 })).toMatch(/one round first/);
  // What the mesh refuses is no first round.
  expect(await call('order_rounds', { ...order, policy: 'no-such' })).toMatch(/no-such/);
  const { run, round, expectedDollars } = await call('order_rounds', order);
  expect(expectedDollars).toBeNull();
  await scene.reach(round, ['done']);

  expect(await call('list_runs')).toMatchObject([
    { id: run, recipe: 'trio', rounds: '1 of 1', state: 'ended' },
  ]);
  const shown = await call('show_run', { run: 'last' });
  expect(shown.rounds).toMatchObject([{ round: 1 }]);
  expect(shown.costOfLastRounds.cost.total).toBeGreaterThan(0);
  const { roundId, episodes } = await call('read_episodes', { run, round: 1, limit: 3 });
  expect(roundId).toBe(round);
  expect(episodes).toHaveLength(3);
  expect(episodes[0]).toMatchObject({ role: 'solver', turns: [{ completion: expect.any(String) }] });
  expect(await call('read_episodes', { run, round: 7 })).toMatch(/no round 7.*Expected 1 to 1/);
  expect(await call('replay_sample', { roundId, sample: episodes[0].id })).toMatchObject({ same: true });

  expect(await call('order_rounds', { ...order, rounds: 100 })).toMatch(/would cost about \$.*--ceiling/s);
  expect(await call('stop_run', { run, reason: 'seen enough' })).toEqual({ id: run, state: 'stopped' });
});
