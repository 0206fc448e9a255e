/**
 * How long does a training step take, beside PyTorch on the same machine in the same minutes? Each contender is a resident process;
 * they take turns, one step each. Run: `npm run bench -- learner [--configs c1,c2] [--rounds N] [--json]`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { writeSafetensors } from '../model/safetensors.ts';
import { Contender, type ContenderSpec } from './contender.ts';
import { BENCH_CONFIGS, type BenchConfig, benchBatch, benchWeights } from './learner-configs.ts';
import { type Summary, summarise } from './statistics.ts';

const local = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const report = v.object({
  ms: v.number(),
  loss: v.number(),
  gradientNorm: v.number(),
  peakBytes: v.object({ tensors: v.nullable(v.number()), resident: v.number() }),
});
const ready = v.object({ ready: v.string() });

export interface LearnerBenchOptions {
  configs: readonly string[];
  /** Measured turns of each contender, after two for warming up. */
  rounds: number;
  /** A python with torch; undefined: leave PyTorch out. */
  python: string | undefined;
  device: 'cpu' | 'webgpu';
}

export interface ContenderResult {
  name: string;
  description: string;
  ms: Summary;
  /** Of the first step, from the same weights and batch: equal for all contenders. */
  loss: number;
  gradientNorm: number;
  /** Of the whole process. */
  peakResidentBytes: number;
}

export interface LearnerBenchResult {
  machine: { cpu: string; threads: number; node: string; loadBefore: number; loadAfter: number };
  commit: string;
  configs: { config: BenchConfig; contenders: ContenderResult[] }[];
}

/** The first python that has torch, or undefined. */
export function findTorch(
  candidates: readonly string[] = ['python3', '/usr/bin/python3'],
): string | undefined {
  return candidates.find((python) => {
    try {
      execFileSync(python, ['-c', 'import torch'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

function ours(config: string, name: string, device: Record<string, unknown>): ContenderSpec {
  const args = ['--import', 'tsx', local('learner-step.ts'), config, JSON.stringify({ device })];
  return { name, command: process.execPath, args };
}

function contenders(
  config: string,
  folder: string,
  { device, python }: LearnerBenchOptions,
): ContenderSpec[] {
  const torch = (name: string, where: string, threads: number, blas: number): ContenderSpec[] =>
    python
      ? [
          {
            name,
            command: python,
            args: [local('learner-torch.py'), folder, where, String(threads)],
            env: { OMP_NUM_THREADS: String(threads), OPENBLAS_NUM_THREADS: String(blas) },
          },
        ]
      : [];
  if (device === 'webgpu') return [ours(config, 'webgpu', { device }), ...torch('torch, cuda', 'cuda', 1, 1)];
  return [
    ours(config, 'cpu, 2 threads', { device, threads: 2 }),
    ours(config, 'cpu, 1 thread', { device, threads: 1 }),
    ours(config, 'cpu, 2 threads, plain SIMD', { device, threads: 2, fma: false }),
    // OpenMP's and OpenBLAS' threads fight; this is the fastest setting on two cores.
    ...torch('torch, 2 threads', 'cpu', 1, 2),
    ...torch('torch, 1 thread', 'cpu', 1, 1),
  ];
}

async function measure(config: string, options: LearnerBenchOptions): Promise<ContenderResult[]> {
  const bench = BENCH_CONFIGS[config]!;
  const folder = await mkdtemp(join(tmpdir(), 'rollmesh-bench-'));
  const { sequences, advantages } = benchBatch(bench);
  await writeFile(join(folder, 'config.json'), JSON.stringify(bench.hf));
  await writeFile(join(folder, 'model.safetensors'), writeSafetensors(benchWeights(bench)));
  await writeFile(
    join(folder, 'batch.json'),
    JSON.stringify({ ids: sequences.map(({ ids }) => ids), advantages }),
  );
  const running: { contender: Contender; description: string; turns: v.InferOutput<typeof report>[] }[] = [];
  for (const spec of contenders(config, folder, options)) {
    const { contender, first } = await Contender.start(spec);
    running.push({ contender, description: v.parse(ready, first).ready, turns: [] });
  }
  for (let round = 0; round < options.rounds + 2; round++)
    for (const { contender, turns } of running) turns.push(v.parse(report, await contender.turn()));
  await Promise.all(running.map(({ contender }) => contender.stop()));
  await rm(folder, { recursive: true });
  return running.map(({ contender, description, turns }) => ({
    name: contender.name,
    description,
    ms: summarise(turns.slice(2).map(({ ms }) => ms)),
    loss: turns[0]!.loss,
    gradientNorm: turns[0]!.gradientNorm,
    peakResidentBytes: Math.max(...turns.map(({ peakBytes }) => peakBytes.resident)),
  }));
}

export async function benchLearner(options: LearnerBenchOptions): Promise<LearnerBenchResult> {
  const loadBefore = loadavg()[0]!;
  const configs: LearnerBenchResult['configs'] = [];
  for (const name of options.configs)
    configs.push({ config: BENCH_CONFIGS[name]!, contenders: await measure(name, options) });
  const cpu = cpus()[0]?.model ?? 'unknown';
  const machine = {
    cpu,
    threads: availableParallelism(),
    node: process.version,
    loadBefore,
    loadAfter: loadavg()[0]!,
  };
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  return { machine, commit, configs };
}

/** Lines for people: medians, spread, memory, and the ratio to the contender named last. */
export function describe(result: LearnerBenchResult): string[] {
  return result.configs.flatMap(({ config, contenders: all }) => {
    const torch = all.find(({ name }) => name.startsWith('torch'));
    return [
      `${config.name}: ${config.sequences} x ${config.length} tokens`,
      ...all.map(({ name, ms, peakResidentBytes, loss }) => {
        const ratio = torch ? `${(ms.median / torch.ms.median).toFixed(2)} x ${torch.name}` : '';
        const spread = `${ms.median.toFixed(0)} ms (${ms.low.toFixed(0)} to ${ms.high.toFixed(0)}, best ${ms.min.toFixed(0)})`;
        return `  ${name.padEnd(28)} ${spread.padEnd(38)} ${ratio.padEnd(24)} ${(peakResidentBytes / 2 ** 20).toFixed(0)} MB, loss ${loss.toFixed(6)}`;
      }),
    ];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [configs = 'c1,c2', rounds = '15', device = 'cpu'] = process.argv.slice(2);
  const options = { configs: configs.split(','), rounds: Number(rounds), python: findTorch() };
  const result = await benchLearner({ ...options, device: device === 'webgpu' ? 'webgpu' : 'cpu' });
  for (const line of describe(result)) console.log(line);
  await writeFile(local('results/learner.json'), `${JSON.stringify(result, null, 2)}\n`);
}
