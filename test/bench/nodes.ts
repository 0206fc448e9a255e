/**
 * Measures what a second node gains: rounds of one run of settings are sampled by one Node process and by two, in turns, while no learner
 * runs; once by the start policy, whose rollouts cost a node less than they cost the mesh, and once by the same policy made larger
 * (widened.ts), so that the rollouts are what takes the time. The machine may be busy with other work, so the processes' CPU times are measured too, and a model of them says what the same
 * work gives on cores of its own.
 *
 * Both nodes live through all turns, as they would through a run: what one compiles in its first round takes more than a second of a core, which is measured apart.
 * While one node is measured alone, the other one's process is stopped, and the mesh is told that it has left.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readStart } from '../../local/find-start.ts';
import { thisMachine } from '../../local/machine.ts';
import { nodeArguments } from '../../local/mesh/installation.ts';
import { type Mesh, startMesh } from '../../local/mesh/start.ts';
import { DEFAULT_START_POLICY, importPolicy } from '../../local/starts.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { WorkClient } from '../../workers/api/work-client.ts';
import type { Platform, Work } from './elastic/parameters.ts';
import { simulate } from './elastic/simulate.ts';
import { childrenNamed, cpuMs } from './processes.ts';
import { inTurns } from './rollout/turns.ts';
import { summarise } from './statistics.ts';
import { widened } from './widened.ts';

const POLL_MS = 50;
/** Rounds are played unmeasured for so long at least once both nodes have joined. */
const WARM_UP_MS = 5000;
/** While a turn is measured; a question takes the mesh some milliseconds of CPU, and when a round ended is in its answer. */
const MEASURED_POLL_MS = 1000;
const RUN = { recipe: 'trio', groupSize: 16 };
/** Units of the feed-forward layers: those of the start policy, and enough that a node works ten times as long on a group as the mesh. */
const WIDTHS = [176, 24_576];

interface Turn {
  readonly nodes: number;
  readonly groups: number;
  /** From the first message of the rollout to the last scored group. */
  readonly wallMs: number;
  /** CPU time in that span: of the nodes together, and of the mesh. */
  readonly nodesCpuMs: number;
  readonly meshCpuMs: number;
  /** Of the mesh's, that of workerd, where the Workers and the local D1, R2 and queues run; the rest is Miniflare's Node process. */
  readonly workerdCpuMs: number;
}

interface Member {
  readonly child: ChildProcess;
  /** Stops the process where it is, with nothing leased, and tells the mesh that the node is gone. */
  readonly pause: () => Promise<void>;
  readonly goOn: () => Promise<void>;
}

async function joined(mesh: Mesh, gateway: GatewayClient, name: string): Promise<Member> {
  const { token } = await gateway.makeNode(name);
  const args = [...nodeArguments('cli/rollmesh'), 'node', '--mesh', mesh.url, '--threads', '1'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ROLLMESH_NODE_TOKEN: token },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const heard = async () => {
    for (;;) {
      const node = (await gateway.listNodes()).find((one) => one.name === name);
      if (node?.state === 'idle' || node?.state === 'working') return;
      await sleep(POLL_MS);
    }
  };
  await heard();
  return {
    child,
    pause: async () => {
      child.kill('SIGSTOP');
      await new WorkClient({ url: mesh.url, token }).release();
    },
    goOn: async () => {
      child.kill('SIGCONT');
      await heard();
    },
  };
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

async function playTurn(
  mesh: Mesh,
  gateway: GatewayClient,
  members: readonly Member[],
  tasks: number,
  seed: number,
): Promise<Turn> {
  const workerd = childrenNamed('workerd');
  const read = () => ({
    nodes: sum(members.map(({ child }) => cpuMs(child.pid!) ?? 0)),
    mesh: sum([process.pid, ...workerd].map((pid) => cpuMs(pid) ?? 0)),
    workerd: sum(workerd.map((pid) => cpuMs(pid) ?? 0)),
  });
  const { round } = await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, {
    ...RUN,
    tasks,
    rounds: 1,
    seed,
  });
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
        workerdCpuMs: ended.workerd - begun!.workerd,
      };
    }
    await sleep(begun ? MEASURED_POLL_MS : POLL_MS);
  }
}

const NO_WORK = { batch: 0, task: 0, sample: 0 };

/**
 * Groups a second on cores of their own by the elastic model. The local mesh, whose Workers and database share a thread, is its one proposer,
 * which works on a group at a time and hands it on; a node is an isolate of the rollout. `node` and `mesh`: CPU ms a group.
 */
function modelled(tasks: number, nodes: number, node: number, mesh: number, cores: number): number {
  const work: Work = {
    open: 0,
    propose: { base: 0, task: mesh },
    rollout: { ...NO_WORK, sample: node / RUN.groupSize },
    judge: NO_WORK,
    learner: { base: 0, sample: 0, change: 0 },
  };
  const platform: Platform = {
    cores,
    concurrency: 1,
    queues: nodes,
    ramp: false,
    proposers: tasks,
    batch: 1,
    judgeWait: 0,
    delivery: 0,
    send: 0,
    d1: { read: 0, write: 0, row: 0, way: 0, reads: 0, writes: 1 },
    r2: { get: 0, put: 0 },
    learner: { poll: 0, pull: 0, fetch: 0, width: 1, publish: 0, speed: 1 },
  };
  const load = { isolates: nodes, rounds: 1, runs: 1, inFlight: 1, maxStaleness: 0 };
  const { groupSize: group } = RUN;
  return simulate(work, platform, { ...load, tasks, group }).samplesPerSecond / group;
}

/** Turns of one and of two nodes over a policy of some width, and what they come to. */
async function measure(width: number, tasks: number, turnsOfEach: number, say: (line: string) => void) {
  const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-nodes-'));
  const { files, parameters } = widened(await readStart(DEFAULT_START_POLICY), width);
  say(`feed-forward layers of ${width} units, ${parameters} parameters`);
  const mesh = await startMesh({
    stateDir,
    rateLimit: 1_000_000,
    vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '120' },
  });
  const members: Member[] = [];
  /** The first turn with each number of nodes, in which a node that has just started opens its engine and compiles code. */
  const started: Turn[] = [];
  const turns: Turn[] = [];
  try {
    const gateway = new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN });
    await importPolicy(gateway, DEFAULT_START_POLICY, files, {});
    let seed = 0;
    const play = async (nodes: number, what = ''): Promise<Turn> => {
      const played = await playTurn(mesh, gateway, members.slice(0, nodes), tasks, seed++);
      const rate = (1000 * played.groups) / played.wallMs;
      say(
        `${what}${nodes} ${nodes === 1 ? 'node' : 'nodes'}: ${rate.toFixed(2)} groups a second; CPU a group: nodes ${(played.nodesCpuMs / played.groups).toFixed(0)} ms, mesh ${(played.meshCpuMs / played.groups).toFixed(0)} ms`,
      );
      return played;
    };
    for (const nodes of [1, 2]) {
      members.push(await joined(mesh, gateway, `bench-${nodes}`));
      started.push(await play(nodes, 'just started: '));
    }
    for (let ms = 0; ms < WARM_UP_MS; ) ms += (await play(2, 'warm-up: ')).wallMs;
    const second = members[1]!;
    let paused = false;
    await inTurns(['1', '2'], turnsOfEach, async (nodes) => {
      const alone = nodes === '1';
      if (alone !== paused) await (alone ? second.pause() : second.goOn());
      paused = alone;
      turns.push(await play(Number(nodes)));
    });
  } finally {
    for (const { child } of members) child.kill('SIGKILL');
    await mesh.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
  const of = (nodes: number) => turns.filter((turn) => turn.nodes === nodes);
  const perGroup = (some: readonly Turn[], field: 'nodesCpuMs' | 'meshCpuMs' | 'workerdCpuMs') =>
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
      workerdCpuMsPerGroup: perGroup(of(nodes), 'workerdCpuMs'),
      modelledGroupsPerSecond: modelled(tasks, nodes, node.median, meshCpu.median, cores),
    };
  });
  const [one, two] = measured as [(typeof measured)[number], (typeof measured)[number]];
  const gain = two.groupsPerSecond.median / one.groupsPerSecond.median;
  const modelledGain = two.modelledGroupsPerSecond / one.modelledGroupsPerSecond;
  say(
    `a second node gives ${gain.toFixed(2)}x the groups a second; by the CPU times, on ${cores} cores of their own, ${modelledGain.toFixed(2)}x`,
  );
  return { feedForward: width, parameters, started, turns, measured, gain, modelledGain };
}

/** `--turns N` (3) of each number of nodes, `--tasks N` (16) a turn, `--json`: one JSON object. Results also go to test/bench/results/nodes.json. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      turns: { type: 'string', default: '3' },
      tasks: { type: 'string', default: '16' },
      json: { type: 'boolean', default: false },
    },
  });
  const tasks = Number(values.tasks);
  const sizes = [];
  for (const width of WIDTHS)
    sizes.push(
      await measure(width, tasks, Number(values.turns), (line) => {
        if (!values.json) console.log(line);
      }),
    );
  const result = {
    bench: 'nodes',
    machine: thisMachine(),
    load: loadavg()[0],
    run: { ...RUN, tasks },
    sizes,
  };
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync('test/bench/results/nodes.json', `${JSON.stringify(result, null, 2)}\n`);
}
