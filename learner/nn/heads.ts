/** Small heads on the trunk's hidden states: a value per token, a scalar score or k classes per sequence. */
import * as tf from '../tfjs.ts';
import { placeTensors, type Trainable } from './trainable.ts';

export interface HeadSettings {
  /** Prefix of the tensor names, such as `value_head`. */
  name: string;
  hiddenSize: number;
  /** 1 for a value or a score, k for classes. */
  outputs: number;
}

export class Head implements Trainable {
  readonly settings: HeadSettings;
  readonly tensors: ReadonlyMap<string, tf.Tensor>;

  /** `<name>.weight` [outputs, hidden] and `<name>.bias` [outputs]. */
  constructor(settings: HeadSettings, tensors: ReadonlyMap<string, tf.Tensor>) {
    this.settings = settings;
    this.tensors = tensors;
  }

  /** states [rows, hidden] -> [rows, outputs]. */
  outputs(states: tf.Tensor2D): tf.Tensor2D {
    const { name } = this.settings;
    const weight = this.tensors.get(`${name}.weight`) as tf.Tensor2D;
    return tf.add(tf.matMul(states, weight, false, true), this.tensors.get(`${name}.bias`)!);
  }

  dispose(): void {
    tf.dispose([...this.tensors.values()]);
  }
}

/** A new head with all weights 0: its output is 0 for every input, so it does not bias the first steps. */
export function createHead(settings: HeadSettings): Head {
  const { name, hiddenSize, outputs } = settings;
  const zeros = (...shape: number[]) => ({ shape, data: new Float32Array(shape.reduce((a, b) => a * b, 1)) });
  const tensors = placeTensors([
    [`${name}.weight`, zeros(outputs, hiddenSize)],
    [`${name}.bias`, zeros(outputs)],
  ]);
  return new Head(settings, tensors);
}
