/** A Worker that opens a policy of random weights in the kernels engine, piece by piece as they would come from R2, and generates with it. */
import { type KernelPolicy, loadKernelPolicy } from '../../../infer/kernels/kernel-policy.ts';
import { workerdEngines } from '../../../infer/workerd-engines.ts';
import { tensorShapes } from '../../../model/checkpoint.ts';
import { parseConfig } from '../../../model/config.ts';
import { benchPrompts, type Shape } from './prompts.ts';

export interface IsolateOpen {
  readonly config: unknown;
  readonly ref: { readonly engine: 'kernels'; readonly weights?: 'int8' | 'w8a8' };
}
export interface IsolateRun extends Shape {
  readonly prompt: number;
  readonly maxNew: number;
}

/** The rows that arrive at a time. */
const ROWS = 64;

let opened: { readonly policy: KernelPolicy; readonly vocabSize: number } | undefined;

function open({ config: json, ref }: IsolateOpen): KernelPolicy {
  const config = parseConfig(json);
  const loading = loadKernelPolicy(workerdEngines.kernels(), { name: 'bench', version: 0, ...ref }, config);
  let state = 1;
  for (const [name, shape] of tensorShapes(config)) {
    const [rows, width] = [shape[0]!, shape[1] ?? 1];
    const step = shape.length === 1 ? rows : ROWS;
    const bound = Math.sqrt(3 / width);
    for (let row = 0; row < rows; row += step) {
      const data = new Float32Array(Math.min(step, rows - row) * width);
      for (let i = 0; i < data.length; i++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        data[i] = shape.length === 1 ? 1 : bound * (state / 2 ** 31 - 1);
      }
      loading.write({ name, shape, row, data });
    }
  }
  const policy = loading.finish();
  opened = { policy, vocabSize: config.vocabSize };
  return policy;
}

export default {
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === '/open') {
      const { heapBytes, parameters } = open(JSON.parse(await request.text()));
      return Response.json({ heapBytes, parameters });
    }
    if (!opened) return new Response('No policy is open.', { status: 409 });
    const { prompt, maxNew, ...shape }: IsolateRun = JSON.parse(await request.text());
    const prompts = benchPrompts(shape, prompt, opened.vocabSize);
    const start = performance.now();
    await opened.policy.generate(prompts, { maxNew, temperature: 1, stop: [] });
    return Response.json({ ms: performance.now() - start, heapBytes: opened.policy.heapBytes });
  },
};
