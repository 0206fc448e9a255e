/** The usual way to generate, as the bench's baseline: a `session.run` for every token, sampling in JavaScript. */
import type * as Ort from 'onnxruntime-web/wasm';
import { uniforms } from '../../../core/random.ts';
import type { Runtime } from '../../../infer/runtime.ts';
import type { ModelConfig } from '../../../model/config.ts';
import { cacheNames } from '../../../model/onnx/policy-graph.ts';
import { WEIGHTS_FILE } from '../../../model/onnx/weights.ts';
import { stepGraph } from './step-graph.ts';

export interface StepLoop {
  /** Generates one completion per row, of `maxNew` tokens; all prompts are equally long. */
  generate(
    prompts: readonly (readonly number[])[],
    rowIds: readonly string[],
    maxNew: number,
  ): Promise<number[][]>;
  release(): Promise<void>;
}

/** Inverse of the cumulative distribution of softmax(logits) at `uniform`. */
function sample(logits: Float32Array, uniform: number): number {
  let top = Number.NEGATIVE_INFINITY;
  for (const x of logits) if (x > top) top = x;
  const powers = logits.map((x) => Math.exp(x - top));
  let total = 0;
  for (const p of powers) total += p;
  let left = uniform * total;
  for (let i = 0; i < powers.length; i++) {
    left -= powers[i]!;
    if (left < 0) return i;
  }
  return powers.length - 1;
}

export async function openStepLoop(
  runtime: Runtime,
  config: ModelConfig,
  weights: Uint8Array,
): Promise<StepLoop> {
  const { ort } = runtime;
  const session = await ort.InferenceSession.create(stepGraph(config), {
    executionProviders: ['wasm'],
    graphOptimizationLevel: 'all',
    externalData: [{ path: WEIGHTS_FILE, data: weights }],
  });
  const past = cacheNames(config, 'past');
  const present = cacheNames(config, 'present');
  const int64 = (values: readonly number[], dims: number[]) =>
    new ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);

  async function generate(
    prompts: readonly (readonly number[])[],
    rowIds: readonly string[],
    maxNew: number,
  ): Promise<number[][]> {
    const rows = prompts.length;
    const drawn = rowIds.map((id) => uniforms(id, maxNew));
    const out: number[][] = prompts.map(() => []);
    const empty = () =>
      new ort.Tensor('float32', new Float32Array(0), [rows, config.kvHeads, 0, config.headDim]);
    let caches: Record<string, Ort.Tensor> = Object.fromEntries(past.map((name) => [name, empty()]));
    let ids = int64(prompts.flat(), [rows, prompts[0]!.length]);
    let last = prompts[0]!.length - 1;
    for (let turn = 0; turn < maxNew; turn++) {
      const result = await session.run({
        ids,
        last_position: new ort.Tensor('int32', new Int32Array(rows).fill(last), [rows]),
        ...caches,
      });
      const logits = result.logits!.data as Float32Array;
      const { vocabSize } = config;
      const tokens = drawn.map((numbers, row) =>
        sample(logits.subarray(row * vocabSize, (row + 1) * vocabSize), numbers[turn]!),
      );
      tokens.forEach((token, row) => {
        out[row]!.push(token);
      });
      caches = Object.fromEntries(past.map((name, i) => [name, result[present[i]!]!]));
      ids = int64(tokens, [rows, 1]);
      last++;
    }
    return out;
  }

  return { generate, release: () => session.release() };
}
