/**
 * What overlap gains: the same run with 0, 1 and 2 rounds ahead, in blocks that take turns on one local mesh with one thread for the
 * Workers and one for the learner, beside what the elastic model predicts.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { superviseLearner } from '../../cli/learner/learner-process.ts';
import { wrongInput } from '../../core/errors.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { Evaluator } from '../../learner/loop/evaluator.ts';
import { thisMachine } from '../../local/machine.ts';
import { startMesh } from '../../local/mesh/start.ts';
import { ensureShipped } from '../../local/starts.ts';
import { shipped } from '../../recipes/index.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import type { Fit } from './elastic/fit.ts';
import { localPlatform, localWork } from './elastic/platforms.ts';
import { simulate } from './elastic/simulate.ts';
import { childrenNamed, cpuMs } from './processes.ts';
import { endedRounds, roundsOfBlock } from './rounds.ts';
import { type Summary, summarise } from './statistics.ts';

/** The tasks of a round for each engine with which rollouts and training take about equally long, by the work that the elastic model was fitted to. */
const TASKS = { onnx: 24, kernels: 64 };
const GROUP_SIZE = 8;
const AHEAD = [0, 1, 2];
const BLOCKS = 4;
const LEARNER = ['--device=cpu', '--threads=1', '--idle-ms=20', '--eval-every=0'];

interface Block {
  readonly ahead: number;
  readonly rounds: number;
  readonly roundsPerMinute: number;
  /** CPU time of mesh and learner a round, s; null where the system does not report it. */
  readonly cpuSecondsPerRound: number | null;
  /** Programs that wanted to run on the machine when the block began and when it ended. */
  readonly load: readonly [number, number];
}

interface Result {
  readonly ahead: number;
  readonly roundsPerMinute: Summary;
  readonly cpuSecondsPerRound: Summary | null;
  /** Of the medians, over that of 0 ahead. */
  readonly gain: number;
  readonly predictedGain: number;
  /** Greedy held-out accuracy of the last version, and its number of tasks. */
  readonly accuracy: number;
  readonly tasks: number;
}

/** The record of a bench with an engine. */
const recordOf = (bench: 'elastic' | 'overlap', engine: keyof typeof TASKS): string =>
  `test/bench/results/${bench}${engine === 'onnx' ? '' : `-${engine}`}.json`;

/** Rounds a minute over rounds on policy, as the elastic model predicts. */
function predicted(fit: Fit, tasks: number, rounds: number): number[] {
  const speeds = AHEAD.map((ahead) => {
    const load = {
      tasks,
      group: GROUP_SIZE,
      runs: 1,
      isolates: 1,
      rounds,
      inFlight: 1 + ahead,
      maxStaleness: ahead,
    };
    return rounds / simulate(localWork(fit), localPlatform(fit), load).totalMs;
  });
  return speeds.map((speed) => speed / speeds[0]!);
}

/** CPU milliseconds of this process's children so far; the mesh runs in `workerd` and the learner in `node`. */
function childrenCpuMs(): number | null {
  const spent = ['workerd', 'node', 'node-MainThread'].flatMap(childrenNamed).map(cpuMs);
  return spent.length && spent.every((ms) => ms !== undefined)
    ? spent.reduce((sum, ms) => sum + (ms ?? 0), 0)
    : null;
}

function resultsOf(blocks: readonly Block[], gains: readonly number[], ends: readonly Accuracy[]): Result[] {
  const speedOf = (ahead: number) =>
    summarise(blocks.filter((block) => block.ahead === ahead).map((block) => block.roundsPerMinute));
  return AHEAD.map((ahead, i) => {
    const cpu = blocks.flatMap((block) =>
      block.ahead === ahead && block.cpuSecondsPerRound !== null ? [block.cpuSecondsPerRound] : [],
    );
    return {
      ahead,
      roundsPerMinute: speedOf(ahead),
      cpuSecondsPerRound: cpu.length ? summarise(cpu) : null,
      gain: speedOf(ahead).median / speedOf(0).median,
      predictedGain: gains[i]!,
      ...ends[i]!,
    };
  });
}

type Accuracy = Pick<Result, 'accuracy' | 'tasks'>;

/** `--engine onnx|kernels` (onnx), `--rounds N` of each run (40), `--json`: one JSON object. Results also go to test/bench/results. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      engine: { type: 'string', default: 'onnx' },
      rounds: { type: 'string', default: '40' },
      json: { type: 'boolean', default: false },
    },
  });
  const engine = (Object.keys(TASKS) as (keyof typeof TASKS)[]).find((name) => name === values.engine);
  if (!engine)
    throw wrongInput('bench.engine', `There are no settings for the engine ${values.engine}.`, {
      expected: Object.keys(TASKS).join(' or '),
    });
  const tasks = TASKS[engine];
  const size = roundsOfBlock(values.rounds, BLOCKS, 2);
  const say = (line: string) => {
    if (!values.json) console.log(line);
  };
  const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-overlap-'));
  const mesh = await startMesh({ stateDir, cronMs: 60_000 });
  const learner = superviseLearner(mesh, stateDir, LEARNER);
  const gateway = new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN });
  const orderOf = (ahead: number) => ({
    recipe: 'trio',
    seed: 0,
    engine,
    tasks,
    groupSize: GROUP_SIZE,
    rounds: size,
    ahead,
  });
  const play = async (ahead: number, until: number): Promise<Block> => {
    const [before, spent] = [loadavg()[0]!, childrenCpuMs()];
    const { run } = await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, orderOf(ahead));
    const rounds = (await endedRounds(gateway, run, until)).slice(-size);
    const spentSince = childrenCpuMs();
    const ms = rounds.at(-1)!.endedAt! - rounds[0]!.createdAt;
    const block: Block = {
      ahead,
      rounds: size,
      roundsPerMinute: (60_000 * size) / ms,
      cpuSecondsPerRound: spent === null || spentSince === null ? null : (spentSince - spent) / (1000 * size),
      load: [before, loadavg()[0]!],
    };
    say(
      `${ahead} ahead, rounds ${until - size + 1} to ${until}: ${block.roundsPerMinute.toFixed(1)} a minute, load ${block.load.map((value) => value.toFixed(1)).join(' to ')}`,
    );
    return block;
  };
  try {
    await ensureShipped(gateway);
    const blocks: Block[] = [];
    for (let block = 1; block <= BLOCKS; block++)
      // There and back, so that a machine that gets slower or faster does so for all.
      for (const ahead of block % 2 ? AHEAD : AHEAD.toReversed())
        blocks.push(await play(ahead, block * size));
    await learner.stop();
    const device = await openDevice({ device: 'cpu', threads: 1 });
    const ends: Accuracy[] = [];
    const runs = await gateway.listRuns();
    for (const ahead of AHEAD) {
      const own = runs.find(({ settings }) => (settings.ahead ?? 0) === ahead)!;
      const last = (await endedRounds(gateway, own.id, BLOCKS * size)).at(-1)!;
      const report = await new Evaluator(gateway, shipped, 1).after(last, last.version!);
      const { accuracy, n } = report!.evaluation!.heldOut;
      ends.push({ accuracy, tasks: n });
    }
    device.close();
    const { fit } = JSON.parse(readFileSync(recordOf('elastic', engine), 'utf8')) as { fit: Fit };
    const results = resultsOf(blocks, predicted(fit, tasks, size), ends);
    const setting = {
      recipe: 'trio',
      engine,
      tasks,
      groupSize: GROUP_SIZE,
      rounds: BLOCKS * size,
      blocks: BLOCKS,
    };
    const result = { bench: 'overlap', machine: thisMachine(), setting, results, blocks };
    for (const { ahead, roundsPerMinute, cpuSecondsPerRound, gain, predictedGain, accuracy } of results)
      say(
        `${ahead} ahead: ${roundsPerMinute.median.toFixed(1)} rounds a minute (${roundsPerMinute.low.toFixed(1)} to ${roundsPerMinute.high.toFixed(1)}), ` +
          `${gain.toFixed(2)} times as many as on policy (predicted ${predictedGain.toFixed(2)}), ` +
          `${cpuSecondsPerRound?.median.toFixed(2) ?? '?'} CPU seconds a round, accuracy ${(100 * accuracy).toFixed(1)} %`,
      );
    if (values.json) console.log(JSON.stringify(result));
    mkdirSync('test/bench/results', { recursive: true });
    writeFileSync(recordOf('overlap', engine), `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await learner.stop();
    await mesh.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}
