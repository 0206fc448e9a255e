/** The Worker that the rollout bench times: one checkpoint, ways to generate from it, side by side. */
import { createPolicy, type OnnxPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort-workerd.ts';
import { parseConfig } from '../../model/config.ts';
import type { WeightType } from '../../model/onnx/weights.ts';
import { openProducts, type Products } from './products.ts';
import { type BenchPrompt, benchPrompts, type Shape } from './prompts.ts';
import { openStepLoop, type StepLoop } from './step-loop.ts';

/** `graph`: the policy's. `step`: a run a token. `products`: only the matrix products of as many turns. */
export type Way = 'graph' | 'step' | 'products';

export interface OpenRequest {
  readonly config: unknown;
  readonly weightType: WeightType;
}

export interface TimedRun extends Shape {
  readonly way: Way;
  readonly prompt: number;
  readonly maxNew: number;
}

interface Opened {
  readonly policy: OnnxPolicy;
  readonly products: Products;
  /** Only for float32. */
  readonly steps?: StepLoop | undefined;
  readonly vocabSize: number;
}

let opened: Opened | undefined;

/** Bytes of wasm memory with the policy alone. */
async function open({ config: json, weightType }: OpenRequest, weights: Uint8Array): Promise<number> {
  await Promise.all([opened?.policy.dispose(), opened?.steps?.release(), opened?.products.release()]);
  const config = parseConfig(json);
  const runtime = await loadOrt();
  const policy = await createPolicy({
    runtime,
    ref: { name: 'bench', version: 0 },
    config,
    weights,
    weightType,
  });
  const heapBytes = runtime.heapBytes();
  const steps = weightType === 'float32' ? await openStepLoop(runtime, config, weights) : undefined;
  const products = await openProducts(runtime, config, weightType, weights);
  opened = { policy, steps, products, vocabSize: config.vocabSize };
  return heapBytes;
}

/** Milliseconds and the first row's tokens. The clock of a local Worker runs; a deployed one's would stand still. */
async function time(run: TimedRun): Promise<{ ms: number; first: number[] }> {
  if (!opened) throw new Error('Open a checkpoint first.');
  const prompts = benchPrompts(run, run.prompt, opened.vocabSize);
  const start = performance.now();
  const first = await generate(opened, prompts, run);
  return { ms: performance.now() - start, first };
}

async function generate(
  { policy, steps, products }: Opened,
  prompts: readonly BenchPrompt[],
  { way, groups, samples, maxNew }: TimedRun,
): Promise<number[]> {
  if (way === 'products') {
    await products.run(groups * samples, maxNew);
    return [];
  }
  if (way === 'graph') {
    const out = await policy.generate(prompts, { maxNew, temperature: 1, stop: [] });
    return out[0]![0]!.ids;
  }
  if (!steps) throw new Error('Only float32 is opened for a run a token.');
  const rows = prompts.flatMap(({ ids, sampleIds }) => sampleIds.map((id) => ({ ids, id })));
  const out = await steps.generate(
    rows.map(({ ids }) => ids),
    rows.map(({ id }) => id),
    maxNew,
  );
  return out[0]!;
}

export default {
  async fetch(request: Request): Promise<Response> {
    const asked = request.headers.get('x-open');
    if (asked) {
      const heapBytes = await open(JSON.parse(asked), new Uint8Array(await request.arrayBuffer()));
      return Response.json({ heapBytes });
    }
    const run: TimedRun = JSON.parse(await request.text());
    return Response.json(await time(run));
  },
};
