/** The Worker that the rollout bench times: one checkpoint, ways to generate from it, side by side. */
import type { Policy } from '../../../core/policy/policy.ts';
import { type Form, REFS } from '../../../infer/kernels/forms.ts';
import { createKernelPolicy } from '../../../infer/kernels/kernel-policy.ts';
import { createPolicy, type OnnxPolicy } from '../../../infer/onnx-policy.ts';
import { loadOrt } from '../../../infer/ort-workerd.ts';
import { workerdEngines } from '../../../infer/workerd-engines.ts';
import { parseConfig } from '../../../model/config.ts';
import type { WeightType } from '../../../model/onnx/weights.ts';
import { tensorsOf } from './checkpoint-tensors.ts';
import { openProducts, type Products } from './products.ts';
import { type BenchPrompt, benchPrompts, type Shape } from './prompts.ts';
import { openStepLoop, type StepLoop } from './step-loop.ts';
import { TURN_MS, type Turn, turnOf } from './turns.ts';

/** `graph`: the policy's. `step`: a run a token. `products`: only the matrix products of as many turns. Else a form of the kernels engine. */
export type Way = 'graph' | 'step' | 'products' | Form;

export interface OpenRequest {
  readonly config: unknown;
  readonly weightType: WeightType;
  /** Forms of the kernels engine that are opened beside it; of float32 weights only. */
  readonly forms: readonly Form[];
}

export interface TimedRun extends Shape {
  readonly way: Way;
  readonly prompt: number;
  readonly maxNew: number;
  /** Runs as often as fill a turn, and answers with the mean time. */
  readonly wholeTurn?: boolean;
}

interface Opened {
  readonly policy: OnnxPolicy;
  readonly products: Products;
  /** Present only for float32 weights. */
  readonly steps?: StepLoop | undefined;
  readonly kernels: Partial<Record<Form, Policy>>;
  readonly vocabSize: number;
}

let opened: Opened | undefined;

/** Opens the checkpoint; returns the bytes of wasm memory with only the policy open. */
async function open({ config: json, weightType, forms }: OpenRequest, weights: Uint8Array): Promise<number> {
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
  const kernels: Partial<Record<Form, Policy>> = {};
  for (const form of forms) {
    const ref = { name: 'bench', version: 0, ...REFS[form] };
    kernels[form] = createKernelPolicy(workerdEngines.kernels(), ref, config, tensorsOf(config, weights));
  }
  opened = { policy, steps, products, kernels, vocabSize: config.vocabSize };
  return heapBytes;
}

/** Milliseconds and the first row's tokens. The clock of a local Worker runs; a deployed one's would stand still. */
async function time(run: TimedRun): Promise<Turn & { first: number[] }> {
  if (!opened) throw new Error('Open a checkpoint first.');
  const policies = opened;
  const prompts = benchPrompts(run, run.prompt, policies.vocabSize);
  let first: number[] = [];
  const turn = await turnOf(
    async () => {
      first = await generate(policies, prompts, run);
    },
    run.wholeTurn ? TURN_MS : 0,
  );
  return { ...turn, first };
}

async function generate(
  { policy, steps, products, kernels }: Opened,
  prompts: readonly BenchPrompt[],
  { way, groups, samples, maxNew }: TimedRun,
): Promise<number[]> {
  if (way === 'products') {
    await products.run(groups * samples, maxNew);
    return [];
  }
  if (way !== 'step') {
    const chosen = way === 'graph' ? policy : kernels[way];
    if (!chosen) throw new Error(`${way} is not open.`);
    const out = await chosen.generate(prompts, { maxNew, temperature: 1, stop: [] });
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
