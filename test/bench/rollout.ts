/**
 * Measures how fast a Worker generates: a policy's graph (one run per batch, prompts shared) and the usual loop of one
 * `session.run` per token are interleaved in workerd. It also measures what smaller weights cost and save.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { SMALLER_WEIGHTS } from '../../core/policy/policy.ts';
import { thisMachine } from '../../local/machine.ts';
import { parameterCount } from '../../model/checkpoint.ts';
import { BenchWorker } from './rollout/bench-process.ts';
import { checkpoints } from './rollout/checkpoints.ts';
import { measureInChromium } from './rollout/chromium-peers.ts';
import { FORMS, type KernelRow, measureKernels } from './rollout/kernels.ts';
import { measurePrefill, measureShape, type Speed } from './rollout/measure.ts';
import type { AgainstPeer, BenchCheckpoint } from './rollout/peers.ts';
import type { Shape } from './rollout/prompts.ts';
import { measureSmaller, type SmallerResult } from './rollout/smaller-weights.ts';
import { measureNative } from './rollout/transformers.ts';

/** The shapes of batches: one answer; a group of sixteen, and half of it twice; four groups. */
const shapes: readonly Shape[] = [
  { groups: 1, samples: 1 },
  { groups: 1, samples: 16 },
  { groups: 2, samples: 8 },
  { groups: 4, samples: 16 },
];

const shapeText = ({ groups, samples }: Shape): string =>
  `  batch ${String(groups * samples).padStart(2)} (${groups} x ${String(samples).padEnd(2)})`;

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

const speedText = ({ graph, step, speedup, cpuSpeedup }: Speed): string =>
  `graph ${graph.median.toFixed(0).padStart(6)} tokens/s, a run a token ${step.median.toFixed(0).padStart(6)}: ` +
  `${speedup.median.toFixed(2)}x (${speedup.low.toFixed(2)}-${speedup.high.toFixed(2)}), ` +
  `by CPU time ${cpuSpeedup.median.toFixed(2)}x (${cpuSpeedup.low.toFixed(2)}-${cpuSpeedup.high.toFixed(2)})`;

const peerText = ({ at, peer, weights, perCpuSecond, ours, ...shape }: AgainstPeer): string[] => [
  `${shapeText(shape)}  ${peer}, ${weights}: ${perCpuSecond.median.toFixed(0)} tokens a CPU second`,
  ...ours.map(
    ({ way, perCpuSecond: own, speedup: { cpu, wall } }) =>
      `      in ${at} ${way.padEnd(5)} ${own.median.toFixed(0).padStart(6)}, by CPU time ` +
      `${cpu.median.toFixed(2)}x (${cpu.low.toFixed(2)}-${cpu.high.toFixed(2)}), by the wall clock ${wall.median.toFixed(2)}x`,
  ),
];

const kernelText = ({ form, perCpuSecond, againstGraph, againstStep, ...shape }: KernelRow): string =>
  `${shapeText(shape)}  kernels, ${form.padEnd(5)} ${perCpuSecond.median.toFixed(0).padStart(6)} tokens a CPU second, by CPU time ` +
  `${againstGraph.cpu.median.toFixed(2)}x the graph (${againstGraph.cpu.low.toFixed(2)}-${againstGraph.cpu.high.toFixed(2)}), ` +
  `${againstStep.cpu.median.toFixed(2)}x a run a token`;

const smallerText = ({ type, heapBytes, rows, error }: SmallerResult): string[] => [
  `  ${type}: ${mebibytes(heapBytes)} of wasm memory, log-probability off by ${error.mean.toFixed(4)} on average, ${error.max.toFixed(3)} at most`,
  ...rows.map(
    ({ speed, speedup, cpuSpeedup, ...shape }) =>
      `${shapeText(shape)}  ${speed.median.toFixed(0)} tokens/s, against float32 ${speedup.median.toFixed(2)}x ` +
      `(${speedup.low.toFixed(2)}-${speedup.high.toFixed(2)}), by CPU time ${cpuSpeedup.median.toFixed(2)}x`,
  ),
];

interface Options {
  readonly rounds: number;
  readonly sizes: readonly string[];
  /** `graph`: the ONNX policy beside a run a token, and all else. */
  readonly what: 'graph' | 'kernels' | 'peers';
}

/** For peers, which compute a prompt for each sample: sixteen prompts of one sample each instead of two groups. */
const peerShapes: readonly Shape[] = shapes.map((shape) =>
  shape.groups === 2 ? { groups: 16, samples: 1 } : shape,
);

async function measurePeers(
  worker: BenchWorker,
  rounds: number,
  checkpoint: BenchCheckpoint,
  say: (line: string) => void,
) {
  const against: AgainstPeer[] = [];
  const errors = [];
  for (const shape of peerShapes) {
    const native = await measureNative(worker, rounds, checkpoint, shape);
    const inPage = await measureInChromium(rounds, checkpoint, shape);
    errors.push({ ...shape, ...inPage.errors });
    against.push(...native, ...inPage.rows);
    for (const row of [...native, ...inPage.rows]) for (const line of peerText(row)) say(line);
  }
  return { against, errors };
}

async function measureSize(
  worker: BenchWorker,
  name: string,
  { rounds, what }: Options,
  say: (line: string) => void,
) {
  const { config, tensors } = await checkpoints[name]!();
  const heapBytes = await worker.open(config, tensors, 'float32', FORMS);
  say(
    `${name}: ${(parameterCount(config) / 1e6).toFixed(2)} M parameters, ${mebibytes(heapBytes)} of wasm memory`,
  );
  if (what === 'peers') {
    const measured = await measurePeers(worker, rounds, { name, config, tensors }, say);
    return { name, parameters: parameterCount(config), ...measured };
  }
  const kernels: KernelRow[] = [];
  for (const shape of shapes) {
    const measured = await measureKernels(worker, rounds, shape);
    kernels.push(...measured);
    for (const row of measured) say(kernelText(row));
  }
  if (what === 'kernels') return { name, parameters: parameterCount(config), kernels };
  const rows = [];
  for (const shape of shapes) {
    const row = { ...shape, ...(await measureShape(worker, rounds, shape)) };
    rows.push(row);
    say(`${shapeText(shape)}  decode ${speedText(row.decode)}`);
    say(`                    whole  ${speedText(row.whole)}`);
    say(`            matrix products: ${(100 * row.products.median).toFixed(0)} % of the graph's decoding`);
  }
  const prefill = await measurePrefill(worker, rounds);
  say(
    `  prefill of ${prefill.samples} samples: ${prefill.shared.median.toFixed(1)} ms shared, ` +
      `${prefill.apart.median.toFixed(1)} ms apart: ${(100 * prefill.ofPossible).toFixed(0)} % of what sharing can save`,
  );
  const smaller: SmallerResult[] = [];
  for (const type of SMALLER_WEIGHTS) {
    const result = await measureSmaller(worker, rounds, { config, tensors }, type);
    smaller.push(result);
    for (const line of smallerText(result)) say(line);
  }
  return {
    name,
    parameters: parameterCount(config),
    heapBytes,
    kernels,
    rows,
    prefill,
    smaller,
  };
}

/** Measures each size in a Worker of its own, since memory and compiled code of an earlier one would affect it. */
async function measure(options: Options, say: (line: string) => void) {
  const results = [];
  for (const name of options.sizes) {
    const worker = await BenchWorker.start();
    try {
      results.push(await measureSize(worker, name, options, say));
    } finally {
      await worker.stop();
    }
  }
  return { bench: 'rollout', machine: thisMachine(), rounds: options.rounds, results };
}

/**
 * `--rounds N` (11), `--size NAME` (again for more; all), `--json`: one JSON object. `--kernels`: only the kernels engine against the ONNX
 * policy. `--peers`: only both engines against transformers.js and wllama, which are installed into node_modules/.cache at the first use
 * (500 MB); it needs Chromium, in its usual place or named in CHROMIUM. Results also go to test/bench/results/rollout.json,
 * rollout-kernels.json or rollout-peers.json.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '11' },
      size: { type: 'string', multiple: true },
      peers: { type: 'boolean', default: false },
      kernels: { type: 'boolean', default: false },
      json: { type: 'boolean' },
    },
  });
  const { rounds, size: sizes = Object.keys(checkpoints) } = values;
  const what = values.peers ? 'peers' : values.kernels ? 'kernels' : 'graph';
  const result = await measure({ rounds: Number(rounds), sizes, what }, (line) => {
    if (!values.json) console.log(line);
  });
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('test/bench/results', { recursive: true });
  const file = what === 'graph' ? 'rollout' : `rollout-${what}`;
  writeFileSync(`test/bench/results/${file}.json`, `${JSON.stringify(result, null, 2)}\n`);
}
