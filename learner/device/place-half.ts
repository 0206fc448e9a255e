/** Puts values of two bytes on the open device as such where it can hold them so, else as float32: the results are the same. */
import { fromBfloat16, fromHalf } from '../../model/half.ts';
import * as tf from '../tfjs.ts';
import { SimdBackend } from './simd-backend.ts';

/** The part of the GPU device that this needs, whose module is loaded only where a GPU is asked for. */
interface HoldsHalves {
  half(shape: number[], type: 'BF16' | 'F16', bits: Uint16Array): tf.TensorInfo;
}

/** A float32 tensor for tfjs, which must not be changed; it stays until it is disposed. */
export function placeHalf(shape: readonly number[], type: 'BF16' | 'F16', bits: Uint16Array): tf.Tensor {
  const backend = tf.backend();
  if (backend instanceof SimdBackend && type === 'BF16')
    return tf.keep(tf.engine().makeTensorFromTensorInfo(backend.half([...shape], bits)));
  if (tf.getBackend() === 'webgpu')
    return tf.keep(
      tf.engine().makeTensorFromTensorInfo((backend as unknown as HoldsHalves).half([...shape], type, bits)),
    );
  return tf.keep(tf.tensor(type === 'BF16' ? fromBfloat16(bits) : fromHalf(bits), [...shape], 'float32'));
}
