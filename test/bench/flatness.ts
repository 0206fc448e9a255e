/**
 * Measures whether the memory of each local process stays flat over many rounds: mesh and learner run as processes of their own, rounds are
 * tiny, and each process's resident memory is read after every round.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { thisMachine } from '../../local/machine.ts';
import { ensureShipped } from '../../local/starts.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { Cluster } from '../faults/cluster.ts';
import { forwardAll } from '../faults/proxy.ts';
import { flatnessOf, MOST, WARM_UP, WINDOW } from './flatness/flat.ts';
import { residentBytes } from './flatness/resident.ts';

const POLL_MS = 100;
const RUN = { recipe: 'trio', seed: 0, tasks: 4, groupSize: 2 };

type Readings = Record<string, number[]>;

function read(cluster: Cluster, into: Readings): void {
  for (const which of ['mesh', 'learner'] as const) {
    const group = cluster.groupOf(which);
    if (group === undefined) continue;
    for (const [name, bytes] of Object.entries(residentBytes(group))) {
      // The Node process is named by its role, and the processes that it started by their own names.
      const process = name.startsWith('node') || name === 'MainThread' ? which : `${name} of the ${which}`;
      into[process] = [...(into[process] ?? []), bytes];
    }
  }
}

async function measure(rounds: number, say: (line: string) => void): Promise<Readings> {
  const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-flatness-'));
  const cluster = await Cluster.create({
    root: process.cwd(),
    stateDir,
    vars: {},
    cronMs: 60_000,
    learnerArgs: ['--device=cpu', '--threads=1', '--idle-ms=50', '--eval-every=0'],
    handler: () => forwardAll,
    onEvent: () => {},
  });
  const parses: Readings = {};
  try {
    await cluster.start('mesh');
    await cluster.start('learner');
    const gateway = new GatewayClient({ url: cluster.url, token: cluster.secrets.LEARNER_TOKEN });
    await ensureShipped(gateway);
    const { run } = await orderRounds(cluster.url, cluster.secrets.WEBHOOK_SECRET, { ...RUN, rounds });
    for (let done = 0; done < rounds; ) {
      const listed = await gateway.listRounds(run);
      const failed = listed.find(({ state }) => state === 'failed');
      if (failed) throw new Error(`round ${failed.index} failed, see /api/rounds/${failed.id}`);
      const ended = listed.filter(({ state }) => state === 'done').length;
      // A round that ended between two readings has no reading of its own.
      if (ended > done) {
        read(cluster, parses);
        done = ended;
        if (done % 10 === 0) say(`${done} rounds`);
      } else await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    await cluster.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
  return parses;
}

const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);

/** `--rounds N` (100), `--json`: one JSON object. Results also go to test/bench/results/flatness.json. Exit status 1 where a process grows. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: { type: 'string', default: '100' }, json: { type: 'boolean', default: false } },
  });
  const say = (line: string) => {
    if (!values.json) console.log(line);
  };
  const began = performance.now();
  const parses = await measure(Number(values.rounds), say);
  const processes = Object.fromEntries(
    Object.entries(parses).map(([name, bytes]) => [
      name,
      { ...flatnessOf(bytes), mebibytes: bytes.map(mebibytes) },
    ]),
  );
  const result = {
    bench: 'flatness',
    machine: thisMachine(),
    rounds: Number(values.rounds),
    seconds: Math.round((performance.now() - began) / 1000),
    rule: { warmUp: WARM_UP, window: WINDOW, most: MOST },
    processes,
  };
  for (const [name, { early, late, growth, flat }] of Object.entries(processes))
    say(
      growth === undefined
        ? `${name}: too few rounds to say`
        : `${name}: ${mebibytes(early!)} MiB, then ${mebibytes(late!)} MiB (${growth.toFixed(3)}x): ${flat ? 'flat' : 'GROWS'}`,
    );
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync('test/bench/results/flatness.json', `${JSON.stringify(result, null, 2)}\n`);
  if (Object.values(processes).some(({ flat }) => flat === false)) process.exitCode = 1;
}
