/**
 * The weights of one model on the device, by their Hugging Face names. The class only holds them: the caller decides what is trained,
 * frozen or averaged, and several sets may exist at once. What is trained is float32; frozen matrices may be held in two bytes a value, see `placeHalf`.
 */
import { wrongInput } from '../../core/errors.ts';
import { checkCheckpoint, tensorShapes } from '../../model/checkpoint.ts';
import type { ModelConfig } from '../../model/config.ts';
import type { Rope } from '../../model/layers.ts';
import { ropeTable } from '../../model/rope.ts';
import {
  decode,
  readStoredFloats,
  type StorageType,
  type StoredTensor,
  type Tensors,
} from '../../model/safetensors.ts';
import { placeHalf } from '../device/place-half.ts';
import { copyOf, scaleAddInto } from '../ops/in-place.ts';
import * as tf from '../tfjs.ts';
import { placeTensors, readTensors, type Trainable } from './trainable.ts';

export class ParamSet implements Trainable {
  readonly config: ModelConfig;
  /** In a fixed order; the tensors are changed in place by the optimiser and stay the same objects. */
  readonly tensors: ReadonlyMap<string, tf.Tensor>;
  readonly #rotary: Map<Rope | null, tf.Tensor2D>;

  constructor(
    config: ModelConfig,
    tensors: ReadonlyMap<string, tf.Tensor>,
    rotary = new Map<Rope | null, tf.Tensor2D>(),
  ) {
    this.config = config;
    this.tensors = tensors;
    this.#rotary = rotary;
  }

  /** The tensor of that name; names come from the model definition, so a missing one is a bug. */
  get(name: string): tf.Tensor {
    const tensor = this.tensors.get(name);
    if (!tensor) throw new Error(`internal: there is no parameter ${name}.`);
    return tensor;
  }

  /** The gain of a norm, by the name of its weight. */
  gain(name: string): tf.Tensor {
    const { gainOffset } = this.config;
    return gainOffset ? tf.add(this.get(name), gainOffset) : this.get(name);
  }

  /** Cosines and sines [positions, headDim] of a layer's rope for at least this many positions; kept and grown as needed. */
  rotary(rope: Rope | null, positions: number): tf.Tensor2D {
    const { config } = this;
    if (positions > config.maxPositions)
      throw wrongInput('learner.length', `A sequence has ${positions} tokens.`, {
        expected: `at most ${config.maxPositions}, the model's max_position_embeddings`,
      });
    const known = this.#rotary.get(rope);
    if (known && known.shape[0] >= positions) return known;
    known?.dispose();
    // Twice as many positions as asked for, so that slowly growing lengths do not rebuild the table every step.
    const rows = Math.min(config.maxPositions, Math.max(64, 2 * positions));
    const table = ropeTable(rope, config.headDim, rows);
    const made = tf.keep(tf.tensor2d(table, [rows, config.headDim]));
    this.#rotary.set(rope, made);
    return made;
  }

  /** A copy with data of its own, unaffected by later updates of this one. */
  clone(): ParamSet {
    return new ParamSet(this.config, new Map([...this.tensors].map(([name, t]) => [name, copyOf(t)])));
  }

  /** The same model with other tensors in place of some. All else is shared, so that only one of the two may be disposed of. */
  having(others: ReadonlyMap<string, tf.Tensor>): ParamSet {
    return new ParamSet(this.config, new Map([...this.tensors, ...others]), this.#rotary);
  }

  /** this = tau * other + (1 - tau) * this, tensor by tensor, in place. */
  emaFrom(other: ParamSet, tau: number): void {
    for (const [name, target] of this.tensors) scaleAddInto(target, other.get(name), tau, 1 - tau);
  }

  /** The values, read from the device. */
  toTensors(): Promise<Tensors> {
    return readTensors(this);
  }

  dispose(): void {
    tf.dispose([...this.#rotary.values()]);
    this.#rotary.clear();
    tf.dispose([...this.tensors.values()]);
  }
}

/**
 * Puts the tensors of a checkpoint's file on the device, for weights that are not trained: matrices that the file has in two bytes a value are held so, in
 * half the memory, where the device can. Throws `wrong-input` as `paramsFrom` and `readSafetensors` do.
 */
export function frozenParamsFrom(config: ModelConfig, file: Uint8Array): ParamSet {
  const stored = readStoredFloats(file);
  const widened = ({ dtype, bytes }: StoredTensor<StorageType>): Float32Array => decode(dtype, bytes);
  // One tensor at a time is widened to be checked.
  const lazily = [...stored].map(([name, tensor]) => {
    const piece = {
      shape: [...tensor.shape],
      get data() {
        return widened(tensor);
      },
    };
    return [name, piece] as const;
  });
  checkCheckpoint(config, new Map(lazily));
  const place = (tensor: StoredTensor<StorageType>): tf.Tensor =>
    tensor.dtype !== 'F32' && tensor.shape.length === 2
      ? placeHalf(tensor.shape, tensor.dtype, halvesOf(tensor.bytes))
      : tf.keep(tf.tensor(widened(tensor), [...tensor.shape], 'float32'));
  const names = [...tensorShapes(config).keys()];
  return new ParamSet(config, new Map(names.map((name) => [name, place(stored.get(name)!)])));
}

/** Bytes of values of two bytes as such; a copy where they do not lie at a multiple of two. */
const halvesOf = (bytes: Uint8Array): Uint16Array =>
  bytes.byteOffset % 2 === 0
    ? new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2)
    : new Uint16Array(new Uint8Array(bytes).buffer);

/** Puts a checkpoint's tensors on the device. Throws `wrong-input` where names or shapes do not fit the config. */
export function paramsFrom(config: ModelConfig, tensors: Tensors): ParamSet {
  checkCheckpoint(config, tensors);
  const names = [...tensorShapes(config).keys()]; // in this order, without an exporter's redundant tensors
  return new ParamSet(config, placeTensors(names.map((name) => [name, tensors.get(name)!] as const)));
}
