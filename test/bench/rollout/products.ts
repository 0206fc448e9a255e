/** Runs the matrix products of generation alone. */
import type { Runtime } from '../../../infer/runtime.ts';
import type { ModelConfig } from '../../../model/config.ts';
import { WEIGHTS_FILE, type WeightType } from '../../../model/onnx/weights.ts';
import { productsGraph } from './products-graph.ts';

export interface Products {
  run(rows: number, turns: number): Promise<void>;
  release(): Promise<void>;
}

export async function openProducts(
  runtime: Runtime,
  config: ModelConfig,
  type: WeightType,
  weights: Uint8Array,
): Promise<Products> {
  const { ort } = runtime;
  const session = await ort.InferenceSession.create(productsGraph(config, type), {
    externalData: [{ path: WEIGHTS_FILE, data: weights }],
    // The products are not used, so an optimizer would remove them.
    graphOptimizationLevel: 'disabled',
    logSeverityLevel: 3,
  });
  const input = (rows: number, width: number) =>
    new ort.Tensor(
      'float32',
      new Float32Array(rows * width).map((_, i) => Math.sin(i)),
      [rows, 1, width],
    );
  return {
    async run(rows, turns) {
      await session.run({
        hidden: input(rows, config.hiddenSize),
        attended: input(rows, config.heads * config.headDim),
        gated: input(rows, config.intermediateSize),
        turns: new ort.Tensor('int64', BigInt64Array.of(BigInt(turns)), []),
      });
    },
    release: () => session.release(),
  };
}
