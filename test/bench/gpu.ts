/**
 * What a GPU does for the learner: the speed of its products, which device `auto` chooses for policies of three sizes,
 * how far a run that it trains is from one of the CPU, and whether training again, in one process and in another one, gives the same bytes.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { wrongInput } from '../../core/errors.ts';
import { sha256Hex } from '../../core/random.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { multiply } from '../../learner/device/webgpu/gemm.ts';
import type { GpuBackend } from '../../learner/device/webgpu/gpu-backend.ts';
import { AdamW } from '../../learner/nn/adamw.ts';
import { chooseDevice } from '../../learner/nn/device-trial.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import { readTensors } from '../../learner/nn/trainable.ts';
import * as tf from '../../learner/tfjs.ts';
import { type Machine, thisMachine } from '../../local/machine.ts';
import { playInProcess } from '../../local/run/in-process.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors } from '../../model/safetensors.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { BENCH_CONFIGS, benchBatch, benchWeights, modelConfig } from './learner-configs.ts';
import { type Summary, summarise } from './statistics.ts';

const RESULT = 'test/bench/results/gpu.json';
const SIZES = ['0.2M', '12.8M', '135M'] as const;
/** [m, n, k]: products of the learner's benches, and a large one. */
const PRODUCTS: readonly (readonly [number, number, number])[] = [
  [64, 64, 4096],
  [4096, 64, 64],
  [4096, 128, 128],
  [4096, 384, 384],
  [4096, 1024, 384],
  [384, 1024, 4096],
  [4096, 576, 576],
  [4096, 1536, 576],
  [4096, 576, 1536],
  [576, 1536, 4096],
  [682, 49152, 576],
  [4096, 4096, 4096],
];
/** Products between two looks at the clock, and how often it is looked at. */
const REPEATED = 20;
const TURNS = 7;

interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly ms: Summary;
  /** Root of the summed squared differences from float64 over that of the values, on the first 64 rows and columns. */
  readonly error: number;
}

interface Result {
  readonly bench: 'gpu';
  readonly machine: Machine;
  readonly device: string;
  readonly products: Product[];
  readonly auto: { readonly size: string; readonly device: string; readonly why: string | undefined }[];
  readonly steps: { readonly size: string; readonly digests: string[] }[];
  readonly run: {
    readonly recipe: string;
    /** Of the weights of the last version: of the CPU's run, and of two of the GPU's. */
    readonly digests: { readonly cpu: string; readonly gpu: readonly [string, string] };
    /** How far the GPU's weights are from the CPU's over how far these moved. */
    readonly apart: number;
    /** Milliseconds of the learner in the last round. */
    readonly learnerMs: { readonly cpu: number; readonly gpu: readonly [number, number] };
  };
}

async function measureProduct([m, n, k]: readonly [number, number, number]): Promise<Product> {
  const backend = tf.backend() as GpuBackend;
  const [a, b] = [tf.randomNormal([m, k], 0, 1, 'float32', 1), tf.randomNormal([n, k], 0, 1, 'float32', 2)];
  const c = tf.zeros([m, n]);
  const product = () => multiply(backend, { m, n, k, a, b, c, transposeB: true });
  const times: number[] = [];
  for (let turn = -2; turn < TURNS; turn++) {
    const began = performance.now();
    for (let i = 0; i < REPEATED; i++) product();
    await backend.finish();
    if (turn >= 0) times.push((performance.now() - began) / REPEATED);
  }
  const [left, right, got] = [await a.data(), await b.data(), await c.data()];
  let [apart, whole] = [0, 0];
  for (let i = 0; i < 64; i++)
    for (let j = 0; j < 64; j++) {
      let sum = 0;
      for (let p = 0; p < k; p++) sum += left[i * k + p]! * right[j * k + p]!;
      apart += (got[i * n + j]! - sum) ** 2;
      whole += sum ** 2;
    }
  for (const each of [a, b, c]) each.dispose();
  return { m, n, k, ms: summarise(times), error: Math.sqrt(apart / whole) };
}

/** Random weights take longer to draw than the steps. */
const drawn = new Map<string, ReturnType<typeof benchWeights>>();

/** The digest of the weights after three steps from the same weights on the same sequences. */
async function digestOfSteps(name: string): Promise<string> {
  const bench = BENCH_CONFIGS[name]!;
  const weights = drawn.get(name) ?? benchWeights(bench);
  drawn.set(name, weights);
  const params = paramsFrom(modelConfig(bench), weights);
  const optimiser = new AdamW(params, { lr: 1e-4 });
  const batch = packSequences(benchBatch(bench).sequences);
  for (let i = 0; i < 3; i++) {
    const result = lossAndGrads(
      params,
      () => tf.neg(tf.mean(tokenLogProbs(params, batch).logp)) as tf.Scalar,
    );
    optimiser.step(result.grads).dispose();
    disposeResult(result);
  }
  const hashes: string[] = [];
  for (const { data } of (await readTensors(params)).values())
    hashes.push(sha256Hex(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)));
  optimiser.dispose();
  params.dispose();
  return sha256Hex(new TextEncoder().encode(hashes.join()));
}

/** Two rounds of trio in this process; the weights of the last version, and the learner's time of the last round. */
async function playedOn(device: 'cpu' | 'webgpu') {
  const run = runOf(shipped, {
    ...{ recipe: 'trio', seed: 1, freeze: [], rounds: 2 },
    ...{ tasks: 8, groupSize: 8, engine: 'kernels' as const },
  });
  const store = new MemoryRunStore();
  const { policy } = run.settings;
  await store.commitVersion(
    { name: policy, version: 0 },
    await readPolicyFolder(`models/${run.recipe.startPolicy}`),
  );
  let learnerMs = 0;
  await playInProcess(
    run,
    { device, revectorize: true, evalEvery: 2 },
    store,
    {
      started: () => {},
      evaluatedStart: () => {},
      round: ({ report }) => {
        learnerMs = report.learnerMs ?? 0;
      },
      finished: () => {},
    },
    { ...HELD_OUT, most: 8 },
  );
  const weights = async (version: number) =>
    (await store.loadVersion({ name: policy, version }))['model.safetensors']!;
  return { learnerMs, start: await weights(0), end: await weights(2) };
}

type Played = Awaited<ReturnType<typeof playedOn>>;

/** The distance of two runs' last weights, over how far the first one's moved. */
function apartOf(cpu: Played, gpu: Played): number {
  const [start, wanted, got] = [cpu.start, cpu.end, gpu.end].map((file) => readSafetensors(file));
  let [moved, apart] = [0, 0];
  for (const [name, { data }] of got!)
    for (const [i, value] of data.entries()) {
      const goal = wanted!.get(name)!.data[i]!;
      moved += (goal - start!.get(name)!.data[i]!) ** 2;
      apart += (value - goal) ** 2;
    }
  return Math.sqrt(apart / moved);
}

async function measure(say: (text: string) => void): Promise<Result> {
  const device = await openDevice({ device: 'webgpu' });
  say(device.description);
  const products: Result['products'] = [];
  for (const shape of PRODUCTS) {
    const product = await measureProduct(shape);
    products.push(product);
    const { m, n, k, ms, error } = product;
    const speed = ((2e-9 * m * n * k) / ms.median).toFixed(1);
    say(
      `${shape.join(' x ')}: ${ms.median.toFixed(3)} ms, ${speed} TFLOP/s, error ${error.toExponential(1)}`,
    );
  }
  const steps: Result['steps'] = [];
  for (const size of SIZES) {
    const digests = [await digestOfSteps(size), await digestOfSteps(size)];
    steps.push({ size, digests });
    say(
      `${size}, three steps twice: ${digests[0] === digests[1] ? 'the same bytes' : 'other bytes'} (${digests[0]})`,
    );
  }
  device.close();
  const auto: Result['auto'] = [];
  for (const size of SIZES) {
    const chosen = await chooseDevice({ device: 'auto' }, modelConfig(BENCH_CONFIGS[size]!));
    auto.push({ size, device: chosen.device.description, why: chosen.why });
    say(`auto at ${size}: ${chosen.device.description} (${chosen.why})`);
    chosen.device.close();
  }
  const [cpu, first, second] = [await playedOn('cpu'), await playedOn('webgpu'), await playedOn('webgpu')];
  const run: Result['run'] = {
    recipe: 'trio',
    digests: { cpu: sha256Hex(cpu.end), gpu: [sha256Hex(first.end), sha256Hex(second.end)] },
    apart: apartOf(cpu, first),
    learnerMs: { cpu: cpu.learnerMs, gpu: [first.learnerMs, second.learnerMs] },
  };
  say(`two rounds of trio: ${JSON.stringify(run)}`);
  return { bench: 'gpu', machine: thisMachine(), device: device.description, products, auto, steps, run };
}

/** `--json`: one JSON object; results also go to test/bench/results/gpu.json. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean' } } });
  const result = await measure((text) => {
    if (!values.json) console.log(text);
  });
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync(RESULT, `${JSON.stringify(result, null, 2)}\n`);
  if (result.steps.some(({ digests }) => new Set(digests).size > 1))
    throw wrongInput('bench.gpu', 'Training again gave other bytes.', { expected: 'the same bytes' });
}
