/** Puts values that are bfloat16 on the open device in two bytes each where it can hold them so, else as float32: the results are the same. */
import { fromBfloat16 } from '../../model/half.ts';
import * as tf from '../tfjs.ts';
import { SimdBackend } from './simd-backend.ts';

/** A float32 tensor for tfjs, which must not be changed; it stays until it is disposed. */
export function placeHalf(shape: readonly number[], bits: Uint16Array): tf.Tensor {
  const backend = tf.backend();
  return tf.keep(
    backend instanceof SimdBackend
      ? tf.engine().makeTensorFromTensorInfo(backend.half([...shape], bits))
      : tf.tensor(fromBfloat16(bits), [...shape], 'float32'),
  );
}
