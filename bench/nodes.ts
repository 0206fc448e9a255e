/**
 * Measures what a second node gains: rounds of one run of settings are sampled by one Node process and by two, in turns, while no learner
 * runs. The machine may be busy with other work, so the processes' CPU times are measured too, and a model of them says what the same
 * work gives on cores of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { GatewayClient } from '../api/gateway-client.ts';
import { orderRounds } from '../api/signed-webhook.ts';
import { ensureShipped } from '../cli/shared/import-policy.ts';
import { nodeArguments } from '../mesh/installation.ts';
import { type Mesh, startMesh } from '../mesh/start.ts';
import { thisMachine } from './machine.ts';
import { childrenNamed, cpuMs } from './processes.ts';
import { summarise } from './statistics.ts';

const POLL_MS = 50;
const RUN = { recipe: 'trio', tasks: 32, groupSize: 16 };

interface Turn {
  readonly nodes: number;
  readonly groups: number;
  /** From the first message of the rollout to the last scored group. */
  readonly wallMs: number;
  /** CPU time in that span: of the nodes together, and of the mesh. */
  readonly nodesCpuMs: number;
  readonly meshCpuMs: number;
}

interface Member {
  readonly child: ChildProcess;
  readonly name: string;
}

async function joined(mesh: Mesh, gateway: GatewayClient, name: string): Promise<Member> {
  const { token } = await gateway.makeNode(name);
  const args = [...nodeArguments('cli/rollmesh'), 'node', '--mesh', mesh.url, '--threads', '1'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ROLLMESH_NODE_TOKEN: token },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (;;) {
    const node = (await gateway.listNodes()).find((one) => one.name === name);
    if (node?.state === 'idle' || node?.state === 'working') return { child, name };
    await sleep(POLL_MS);
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

async function playTurn(
  mesh: Mesh,
  gateway: GatewayClient,
  members: readonly Member[],
  seed: number,
): Promise<Turn> {
  const workerd = childrenNamed('workerd');
  const read = () => ({
    nodes: sum(members.map(({ child }) => cpuMs(child.pid!) ?? 0)),
    mesh: sum([process.pid, ...workerd].map((pid) => cpuMs(pid) ?? 0)),
  });
  const { round } = await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, { ...RUN, rounds: 1, seed });
  let begun: ReturnType<typeof read> | undefined;
  for (;;) {
    const state = await gateway.getRound(round!);
    if (state.state === 'failed') throw new Error(`the round failed: ${state.reason}`);
    if (!begun && state.state !== 'proposing') begun = read();
    if (state.state === 'training') {
      const ended = read();
      return {
        nodes: members.length,
        groups: state.expected,
        wallMs: state.trainingAt! - state.rolloutAt!,
        nodesCpuMs: ended.nodes - begun!.nodes,
        meshCpuMs: ended.mesh - begun!.mesh,
      };
    }
    await sleep(POLL_MS);
  }
}

/**
 * Groups a second on cores of their own: no part is faster than its CPU time, and all together have no more than `cores`. `node` and `mesh`:
 * CPU ms a group.
 */
const modelled = (nodes: number, node: number, mesh: number, cores: number): number =>
  1000 * Math.min(nodes / node, 1 / mesh, cores / (node + mesh));

/** `--turns N` (3) of each number of nodes, `--json`: one JSON object. Results also go to bench/results/nodes.json. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { turns: { type: 'string', default: '3' }, json: { type: 'boolean', default: false } },
  });
  const say = (line: string) => {
    if (!values.json) console.log(line);
  };
  const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-nodes-'));
  const mesh = await startMesh({
    stateDir,
    rateLimit: 1_000_000,
    vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '120' },
  });
  const members: Member[] = [];
  const turns: Turn[] = [];
  try {
    const gateway = new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN });
    await ensureShipped(gateway);
    let seed = 0;
    for (let turn = 0; turn <= Number(values.turns); turn++)
      for (const wanted of [1, 2]) {
        while (members.length < wanted)
          members.push(await joined(mesh, gateway, `bench-${turn}-${members.length + 1}`));
        while (members.length > wanted) {
          const { child } = members.pop()!;
          const ended = new Promise((resolve) => child.once('exit', resolve));
          child.kill('SIGTERM');
          await ended;
        }
        const played = await playTurn(mesh, gateway, members, seed++);
        // The first turn of each opens engines and compiles code.
        if (turn > 0) turns.push(played);
        const rate = (1000 * played.groups) / played.wallMs;
        say(
          `${turn > 0 ? '' : 'warm-up: '}${wanted} ${wanted === 1 ? 'node' : 'nodes'}: ${rate.toFixed(2)} groups a second; CPU a group: nodes ${(played.nodesCpuMs / played.groups).toFixed(0)} ms, mesh ${(played.meshCpuMs / played.groups).toFixed(0)} ms`,
        );
      }
  } finally {
    for (const { child } of members) child.kill('SIGTERM');
    await mesh.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
  const of = (nodes: number) => turns.filter((turn) => turn.nodes === nodes);
  const perGroup = (some: readonly Turn[], field: 'nodesCpuMs' | 'meshCpuMs') =>
    summarise(some.map((turn) => turn[field] / turn.groups));
  const cores = cpus().length;
  const measured = [1, 2].map((nodes) => {
    const rate = summarise(of(nodes).map(({ groups, wallMs }) => (1000 * groups) / wallMs));
    const [node, meshCpu] = [perGroup(of(nodes), 'nodesCpuMs'), perGroup(of(nodes), 'meshCpuMs')];
    return {
      nodes,
      groupsPerSecond: rate,
      nodesCpuMsPerGroup: node,
      meshCpuMsPerGroup: meshCpu,
      modelledGroupsPerSecond: modelled(nodes, node.median, meshCpu.median, cores),
    };
  });
  const [one, two] = measured as [(typeof measured)[number], (typeof measured)[number]];
  const gain = two.groupsPerSecond.median / one.groupsPerSecond.median;
  const modelledGain = two.modelledGroupsPerSecond / one.modelledGroupsPerSecond;
  const result = { bench: 'nodes', machine: thisMachine(), run: RUN, turns, measured, gain, modelledGain };
  say(
    `a second node gives ${gain.toFixed(2)}x the groups a second; by the CPU times, on ${cores} cores of their own, ${modelledGain.toFixed(2)}x`,
  );
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('bench/results', { recursive: true });
  writeFileSync('bench/results/nodes.json', `${JSON.stringify(result, null, 2)}\n`);
}
