/**
 * Measures how long a training step takes, compared with PyTorch on the same machine at the same time: each contender is a resident
 * process, and they take turns of one step. It also measures whether a step of 60 M parameters fits into 4 GB on the CPU.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { type Machine, thisMachine } from '../../local/machine.ts';
import { parameterCount } from '../../model/checkpoint.ts';
import { Contender } from './contender.ts';
import { BENCH_CONFIGS, type BenchConfig, modelConfig } from './learner-configs.ts';
import { type BenchDevice, findTorch, lineUp, ours } from './learner-line-up.ts';
import { type Summary, summarise } from './statistics.ts';

/** Turns before the measured ones, in which code is compiled and buffers are allocated. */
const WARM_UP = 2;

const turn = v.object({
  ms: v.number(),
  /** CPU time of all threads; with two threads it includes their waiting for each other. */
  cpuMs: v.number(),
  loss: v.number(),
  gradientNorm: v.number(),
  peakBytes: v.object({ tensors: v.nullable(v.number()), resident: v.number() }),
});
type Turn = v.InferOutput<typeof turn>;
const ready = v.object({ ready: v.string() });

interface Row {
  readonly name: string;
  readonly description: string;
  readonly ms: Summary;
  readonly cpuMs: Summary;
  /** This contender's time over that of the fastest PyTorch of the line-up, in neighbouring turns; absent without PyTorch. */
  readonly ratio: Summary | undefined;
  /** The loss of the first step; weights and batch are the same, so all contenders must agree. */
  readonly loss: number;
  readonly gradientNorm: number;
  /** The peak of the whole process. */
  readonly peakResidentBytes: number;
}

interface Result {
  readonly bench: 'learner';
  readonly machine: Machine;
  /** The one-minute load average before and after: 1 is this benchmark alone. */
  readonly load: readonly [number, number];
  readonly configs: { readonly config: BenchConfig; readonly rows: Row[] }[];
  /** A step of the large configuration by micro-batches and recomputation, CPU only. */
  readonly large: { parameters: number; ms: number; peakResidentBytes: number } | undefined;
}

async function measureConfig(
  config: BenchConfig,
  device: BenchDevice,
  rounds: number,
  python?: string,
): Promise<Row[]> {
  const { specs, cleanUp } = await lineUp(config, device, python);
  const running: { contender: Contender; description: string; turns: Turn[] }[] = [];
  try {
    for (const spec of specs) {
      const { contender, first } = await Contender.start(spec);
      running.push({ contender, description: v.parse(ready, first).ready, turns: [] });
    }
    for (let round = 0; round < rounds + WARM_UP; round++)
      for (const { contender, turns } of running) turns.push(v.parse(turn, await contender.turn()));
  } finally {
    await Promise.all(running.map(({ contender }) => contender.stop()));
    await cleanUp();
  }
  const medianMs = (turns: readonly Turn[]) => summarise(turns.slice(WARM_UP).map(({ ms }) => ms)).median;
  const torch = running
    .filter(({ contender }) => contender.name.startsWith('torch'))
    .toSorted((a, b) => medianMs(a.turns) - medianMs(b.turns))[0]?.turns;
  return running.map(({ contender, description, turns }): Row => {
    const measured = turns.slice(WARM_UP);
    const ratios = torch && measured.map(({ ms }, i) => ms / torch[i + WARM_UP]!.ms);
    return {
      name: contender.name,
      description,
      ms: summarise(measured.map(({ ms }) => ms)),
      cpuMs: summarise(measured.map(({ cpuMs }) => cpuMs)),
      ratio: ratios && summarise(ratios),
      loss: turns[0]!.loss,
      gradientNorm: turns[0]!.gradientNorm,
      peakResidentBytes: Math.max(...turns.map(({ peakBytes }) => peakBytes.resident)),
    };
  });
}

/** Measures the second step, because the first one touches the optimiser's moments for the first time. */
async function measureLarge(config: BenchConfig): Promise<Result['large']> {
  const step = { device: { device: 'cpu' }, tokenBudget: 1024, recompute: true } as const;
  const { contender } = await Contender.start(ours(config, 'large', step));
  await contender.turn();
  const { ms, peakBytes } = v.parse(turn, await contender.turn());
  await contender.stop();
  return { parameters: parameterCount(modelConfig(config)), ms, peakResidentBytes: peakBytes.resident };
}

const line = ({ name, ms, ratio, peakResidentBytes, loss }: Row): string => {
  const time = `${ms.median.toFixed(0).padStart(6)} ms (${ms.low.toFixed(0)}-${ms.high.toFixed(0)})`;
  const beside = ratio ? `${ratio.median.toFixed(2)} (${ratio.low.toFixed(2)}-${ratio.high.toFixed(2)})` : '';
  const memory = `${(peakResidentBytes / 2 ** 20).toFixed(0)} MB`;
  return `  ${name.padEnd(28)} ${time.padEnd(24)} ${beside.padEnd(18)} ${memory.padStart(8)}  loss ${loss.toFixed(6)}`;
};

async function measure(
  names: readonly string[],
  device: BenchDevice,
  rounds: number,
  withLarge: boolean,
  say: (text: string) => void,
): Promise<Result> {
  const python = findTorch();
  if (!python) say('PyTorch is not installed: no ratios.');
  const before = loadavg()[0]!;
  const configs: Result['configs'] = [];
  for (const name of names) {
    const config = BENCH_CONFIGS[name];
    if (!config)
      throw new Error(`There is no configuration ${name}: use ${Object.keys(BENCH_CONFIGS).join(', ')}.`);
    const rows = await measureConfig(config, device, rounds, python);
    configs.push({ config, rows });
    say(`${name}: ${config.sequences} x ${config.length} tokens; ms a step, times the fastest PyTorch`);
    for (const row of rows) say(line(row));
  }
  const large = withLarge ? await measureLarge(BENCH_CONFIGS.large!) : undefined;
  if (large)
    say(
      `large: ${(large.parameters / 1e6).toFixed(1)} M parameters, ${(large.ms / 1000).toFixed(1)} s a step, ` +
        `${(large.peakResidentBytes / 2 ** 30).toFixed(2)} GB`,
    );
  return { bench: 'learner', machine: thisMachine(), load: [before, loadavg()[0]!], configs, large };
}

/**
 * `--rounds N` (15), `--config c1|c2|0.2M|12.8M|135M|gpu|large` (c1 and c2), `--device cpu|webgpu` (cpu), `--no-large`, `--json`: one JSON object;
 * results also go to test/bench/results/learner.json, with the device and the Node in its name where they are not the CPU and Node 20.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      rounds: { type: 'string', default: '15' },
      config: { type: 'string', multiple: true },
      device: { type: 'string', default: 'cpu' },
      large: { type: 'boolean', default: true },
      json: { type: 'boolean' },
    },
  });
  const device = values.device === 'webgpu' ? 'webgpu' : 'cpu';
  const withLarge = device === 'cpu' && values.large;
  const result = await measure(
    values.config ?? ['c1', 'c2'],
    device,
    Number(values.rounds),
    withLarge,
    (text) => {
      if (!values.json) console.log(text);
    },
  );
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('test/bench/results', { recursive: true });
  const major = process.versions.node.split('.')[0];
  const file = ['learner', device === 'cpu' ? '' : `-${device}`, major === '20' ? '' : `-node${major}`].join(
    '',
  );
  writeFileSync(`test/bench/results/${file}.json`, `${JSON.stringify(result, null, 2)}\n`);
}
