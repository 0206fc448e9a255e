/**
 * What a run takes with each engine: `trio` with the settings of `npx rollmesh start`, sampled with ONNX Runtime and with the project's kernels, in
 * blocks of rounds that take turns on one local mesh, with one learner.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { superviseLearner } from '../../cli/learner/learner-process.ts';
import { totalUsage } from '../../core/cost/usage.ts';
import type { Engine } from '../../core/policy/policy.ts';
import type { RoundState } from '../../core/schema/answers.ts';
import { thisMachine } from '../../local/machine.ts';
import { startMesh } from '../../local/mesh/start.ts';
import { ensureShipped } from '../../local/starts.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { childrenNamed, cpuMs } from './processes.ts';
import { endedRounds, roundsOfBlock } from './rounds.ts';
import { type Summary, summarise } from './statistics.ts';

const ENGINES = ['onnx', 'kernels'] as const satisfies readonly Engine[];
type BenchEngine = (typeof ENGINES)[number];
const BLOCKS = 4;
const LEARNER = ['--device=cpu', '--idle-ms=20', '--eval-every=0'];
/** The Workers that compute policies. */
const SAMPLING = ['propose', 'rollout', 'judge'] as const;

/** One block of rounds. */
interface Block {
  readonly engine: BenchEngine;
  readonly rounds: number;
  /** From a round's creation to its end. */
  readonly wallMs: readonly number[];
  /** CPU time of the process that holds all Workers, its database and queues, a round; null where the system does not report it. */
  readonly processCpuMs: number | null;
  /** What the Workers that compute policies count as their CPU time, of each round. */
  readonly workerCpuMs: readonly number[];
  /** Dollars, at published prices. */
  readonly cost: readonly number[];
  /** Programs that wanted to run on the machine when the block began and when it ended. */
  readonly load: readonly [number, number];
}

interface EngineResult {
  readonly engine: BenchEngine;
  readonly rounds: number;
  readonly wallMs: Summary;
  readonly processCpuMs: Summary | null;
  readonly workerCpuMs: Summary;
  readonly cost: Summary;
  /** To open a version in a Worker that has opened one before. */
  readonly openMs: Summary;
  /** The first opening of each policy by a Worker since the mesh began. */
  readonly firstOpenMs: Summary;
}

const cpuOfWorkers = (round: RoundState): number =>
  totalUsage(SAMPLING.flatMap((stage) => round.usage?.stages[stage] ?? [])).cpuMs;

const costOfRound = (round: RoundState): number => round.usage?.cost.total ?? 0;

/** CPU milliseconds of the mesh's process so far. */
function meshCpuMs(): number | null {
  const spent = childrenNamed('workerd').map(cpuMs);
  return spent.length && spent.every((ms) => ms !== undefined)
    ? spent.reduce((sum, ms) => sum + (ms ?? 0), 0)
    : null;
}

interface Opening {
  readonly engine: BenchEngine;
  readonly version: number;
  readonly ms: number;
}

/** The versions that Workers opened, from the mesh's log. */
const openings = (log: string): Opening[] =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"policy.opened"'))
    .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Opening);

function resultOf(engine: BenchEngine, blocks: readonly Block[], opened: readonly Opening[]): EngineResult {
  const own = blocks.filter((block) => block.engine === engine);
  const cpu = own.flatMap(({ processCpuMs }) => processCpuMs ?? []);
  const times = (first: boolean) =>
    summarise(
      opened.filter((one) => one.engine === engine && (one.version === 0) === first).map(({ ms }) => ms),
    );
  return {
    engine,
    rounds: own.reduce((sum, { rounds }) => sum + rounds, 0),
    wallMs: summarise(own.flatMap(({ wallMs }) => wallMs)),
    processCpuMs: cpu.length ? summarise(cpu) : null,
    workerCpuMs: summarise(own.flatMap(({ workerCpuMs }) => workerCpuMs)),
    cost: summarise(own.flatMap(({ cost }) => cost)),
    openMs: times(false),
    firstOpenMs: times(true),
  };
}

const resultText = ({
  engine,
  rounds,
  wallMs,
  processCpuMs,
  workerCpuMs,
  cost,
  ...open
}: EngineResult): string =>
  `${engine.padEnd(8)} ${rounds} rounds: ${wallMs.median.toFixed(0)} ms a round, ` +
  `${processCpuMs?.median.toFixed(0) ?? '?'} ms of the mesh's CPU, ${workerCpuMs.median.toFixed(0)} ms counted by the Workers that sample, ` +
  `$${cost.median.toFixed(6)}; opening a version ${open.openMs.median.toFixed(0)} ms (the first ${open.firstOpenMs.median.toFixed(0)} ms)`;

/** `--rounds N` of each engine (40), `--json`: one JSON object. Results also go to test/bench/results/engines.json. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: { type: 'string', default: '40' }, json: { type: 'boolean', default: false } },
  });
  const size = roundsOfBlock(values.rounds, BLOCKS, 1);
  const say = (line: string) => {
    if (!values.json) console.log(line);
  };
  const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-engines-'));
  const mesh = await startMesh({ stateDir, cronMs: 60_000 });
  const learner = superviseLearner(mesh, stateDir, LEARNER);
  const gateway = new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN });
  const play = async (engine: BenchEngine, until: number): Promise<Block> => {
    const [before, spent] = [loadavg()[0]!, meshCpuMs()];
    const order = { recipe: 'trio', seed: 0, rounds: size, engine };
    const { run } = await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, order);
    const rounds = (await endedRounds(gateway, run, until)).slice(-size);
    const now = meshCpuMs();
    const block: Block = {
      engine,
      rounds: size,
      wallMs: rounds.map(({ createdAt, endedAt }) => endedAt! - createdAt),
      processCpuMs: spent === null || now === null ? null : (now - spent) / size,
      workerCpuMs: rounds.map(cpuOfWorkers),
      cost: rounds.map(costOfRound),
      load: [before, loadavg()[0]!],
    };
    say(
      `${engine}, rounds ${until - size + 1} to ${until}: ${summarise(block.wallMs).median.toFixed(0)} ms a round, ` +
        `${block.processCpuMs?.toFixed(0) ?? '?'} ms of the mesh's CPU, load ${block.load.map((value) => value.toFixed(1)).join(' to ')}`,
    );
    return block;
  };
  try {
    await ensureShipped(gateway);
    const blocks: Block[] = [];
    for (let block = 1; block <= BLOCKS; block++)
      // There and back, so that a machine that gets slower or faster does so for both.
      for (const engine of block % 2 ? ENGINES : ENGINES.toReversed())
        blocks.push(await play(engine, block * size));
    const opened = openings(join(stateDir, 'mesh.log'));
    const results = ENGINES.map((engine) => resultOf(engine, blocks, opened));
    const result = { bench: 'engines', machine: thisMachine(), recipe: 'trio', results, blocks };
    for (const one of results) say(resultText(one));
    if (values.json) console.log(JSON.stringify(result));
    mkdirSync('test/bench/results', { recursive: true });
    writeFileSync('test/bench/results/engines.json', `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await learner.stop();
    await mesh.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}
