/** Random weights for a new model: normal, with the projections into the residual stream scaled down by depth as in GPT-2. */
import { Random } from '../../core/random.ts';
import { tensorShapes } from '../../model/checkpoint.ts';
import type { ModelConfig } from '../../model/config.ts';
import type { Tensors } from '../../model/safetensors.ts';

/** The same config and id give the same weights. Gains are 1, biases 0, matrices normal with standard deviation 1 / sqrt(in). */
export function initialTensors(config: ModelConfig, id: string): Tensors {
  const tensors: Tensors = new Map();
  for (const [name, shape] of tensorShapes(config)) {
    const size = shape.reduce((a, b) => a * b, 1);
    const data = new Float32Array(size);
    if (shape.length === 1) data.fill(name.endsWith('bias') ? 0 : 1);
    else {
      const intoResidual = name.endsWith('o_proj.weight') || name.endsWith('down_proj.weight');
      const isTable = name === 'model.embed_tokens.weight';
      const deviation = isTable ? 0.02 : 1 / Math.sqrt(shape[1]! * (intoResidual ? 2 * config.layers : 1));
      const random = new Random(`${id}/${name}`);
      for (let i = 0; i < size; i++) data[i] = deviation * random.normal();
    }
    tensors.set(name, { shape: [...shape], data });
  }
  return tensors;
}
