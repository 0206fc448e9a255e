/** The Worker that the rollout bench times: one checkpoint, two ways to generate from it, side by side. */
import { createPolicy, type OnnxPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort-workerd.ts';
import { parseConfig } from '../../model/config.ts';
import { openStepLoop, type StepLoop } from './step-loop.ts';

export type Way = 'graph' | 'step';

/** `groups` prompts with `samples` samples each; every run of the same shape does the same work. */
export interface TimedRun {
  readonly way: Way;
  readonly groups: number;
  readonly samples: number;
  readonly prompt: number;
  readonly maxNew: number;
}

let policy: OnnxPolicy | undefined;
let steps: StepLoop | undefined;
let vocabSize = 0;

async function open(configJson: string, weights: Uint8Array): Promise<number> {
  const config = parseConfig(JSON.parse(configJson));
  const runtime = await loadOrt();
  await policy?.dispose();
  await steps?.release();
  policy = await createPolicy({ runtime, ref: { name: 'bench', version: 0 }, config, weights });
  const heapBytes = runtime.heapBytes();
  steps = await openStepLoop(runtime, config, weights);
  vocabSize = config.vocabSize;
  return heapBytes;
}

/** Milliseconds and the first row's tokens. The clock of a local Worker runs; a deployed one's would stand still. */
async function time({
  way,
  groups,
  samples,
  prompt,
  maxNew,
}: TimedRun): Promise<{ ms: number; first: number[] }> {
  if (!policy || !steps) throw new Error('Open a checkpoint first.');
  const prompts = Array.from({ length: groups }, (_, g) => ({
    ids: Array.from({ length: prompt }, (_, i) => (g * 7 + i * i * 3 + i) % vocabSize),
    sampleIds: Array.from({ length: samples }, (_, s) => `bench/${g}/${s}`),
  }));
  const start = performance.now();
  if (way === 'graph') {
    const out = await policy.generate(prompts, { maxNew, temperature: 1, stop: [] });
    return { ms: performance.now() - start, first: out[0]![0]!.ids };
  }
  const rows = prompts.flatMap(({ ids, sampleIds }) => sampleIds.map((id) => ({ ids, id })));
  const out = await steps.generate(
    rows.map(({ ids }) => ids),
    rows.map(({ id }) => id),
    maxNew,
  );
  return { ms: performance.now() - start, first: out[0]! };
}

export default {
  async fetch(request: Request): Promise<Response> {
    const config = request.headers.get('x-config');
    if (config)
      return Response.json({ heapBytes: await open(config, new Uint8Array(await request.arrayBuffer())) });
    const run: TimedRun = JSON.parse(await request.text());
    return Response.json(await time(run));
  },
};
