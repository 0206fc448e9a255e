/** Measures a smaller weight type against float32: memory, tokens per second, and the error of its log-probabilities. */
import type { SmallerWeights } from '../../../core/policy/policy.ts';
import { createPolicy } from '../../../infer/onnx-policy.ts';
import { loadOrt } from '../../../infer/ort.ts';
import type { ModelConfig } from '../../../model/config.ts';
import type { Tensors } from '../../../model/safetensors.ts';
import { type Summary, summarise } from '../statistics.ts';
import { BenchWorker } from './bench-process.ts';
import { MAX_NEW, PROMPT, warmUp } from './measure.ts';
import type { Shape } from './prompts.ts';

const shapes: readonly Shape[] = [
  { groups: 1, samples: 1 },
  { groups: 1, samples: 16 },
];

interface Checkpoint {
  readonly config: ModelConfig;
  readonly tensors: Tensors;
}

export interface SmallerResult {
  readonly type: SmallerWeights;
  /** The bytes of wasm memory with the policy open. */
  readonly heapBytes: number;
  readonly rows: readonly (Shape & {
    /** Tokens a second, prefill included. */
    readonly speed: Summary;
    /** Against float32 in a Worker beside it, of neighbouring runs: by the wall clock, and by CPU time. */
    readonly speedup: Summary;
    readonly cpuSpeedup: Summary;
  })[];
  /** Differences of log-probabilities (nats) to float32, on the tokens that float32 sampled. */
  readonly error: { readonly mean: number; readonly max: number };
}

/** In a Worker of its own: wasm memory never shrinks, and would tell what other weights had needed. `plain` has the float32 weights open. */
export async function measureSmaller(
  plain: BenchWorker,
  rounds: number,
  checkpoint: Checkpoint,
  type: SmallerWeights,
): Promise<SmallerResult> {
  const { config, tensors } = checkpoint;
  const worker = await BenchWorker.start();
  try {
    const heapBytes = await worker.open(config, tensors, type);
    const rows = [];
    for (const shape of shapes) rows.push(await against(worker, plain, rounds, shape));
    return { type, heapBytes, rows, error: await errorOf(checkpoint, type) };
  } finally {
    await worker.stop();
  }
}

async function against(worker: BenchWorker, plain: BenchWorker, rounds: number, shape: Shape) {
  const timed = (which: BenchWorker) =>
    which.time({ way: 'graph', ...shape, prompt: PROMPT, maxNew: MAX_NEW });
  await warmUp(async () => {
    await timed(worker);
    await timed(plain);
  });
  const pairs = [];
  for (let i = 0; i < rounds; i++) {
    const first = i % 2 ? await timed(plain) : undefined;
    const mine = await timed(worker);
    pairs.push({ mine, float32: first ?? (await timed(plain)) });
  }
  const tokens = shape.groups * shape.samples * MAX_NEW;
  const good = pairs.filter(({ mine, float32 }) => Math.min(mine.cpu, float32.cpu) > 0);
  return {
    ...shape,
    speed: summarise(pairs.map(({ mine }) => (1000 * tokens) / mine.ms)),
    speedup: summarise(pairs.map(({ mine, float32 }) => float32.ms / mine.ms)),
    cpuSpeedup: summarise(good.map(({ mine, float32 }) => float32.cpu / mine.cpu)),
  };
}

async function errorOf({ config, tensors }: Checkpoint, weightType: SmallerWeights) {
  const runtime = await loadOrt();
  const ref = { name: 'bench', version: 0 };
  const plain = await createPolicy({ runtime, ref, config, weights: tensors });
  const prompts = Array.from({ length: 8 }, (_, p) => ({ ids: [p + 2], sampleIds: [`error/${p}`] }));
  const samples = await plain.generate(prompts, { maxNew: 64, temperature: 1, stop: [] });
  const sequences = samples.map(([sample], p) => [...prompts[p]!.ids, ...sample!.ids]);
  const exact = await plain.score(sequences);
  await plain.dispose();
  const small = await createPolicy({ runtime, ref, config, weights: tensors, weightType });
  const rounded = await small.score(sequences);
  await small.dispose();
  const errors = exact.flatMap(({ logprobs }, s) =>
    logprobs.map((x, i) => Math.abs(x - rounded[s]!.logprobs[i]!)),
  );
  return { mean: errors.reduce((a, b) => a + b, 0) / errors.length, max: Math.max(...errors) };
}
