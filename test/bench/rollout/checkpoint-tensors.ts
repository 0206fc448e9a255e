/** Reads a checkpoint's tensors out of a float32 weight file, in which they lie in the order of the forward pass. */
import { tensorShapes } from '../../../model/checkpoint.ts';
import type { ModelConfig } from '../../../model/config.ts';
import type { Tensor } from '../../../model/safetensors.ts';

export function* tensorsOf(config: ModelConfig, file: Uint8Array): Generator<readonly [string, Tensor]> {
  let at = file.byteOffset;
  for (const [name, shape] of tensorShapes(config)) {
    const length = shape.reduce((a, b) => a * b, 1);
    yield [name, { shape: [...shape], data: new Float32Array(file.buffer, at, length) }];
    at += 4 * length;
  }
}
