/**
 * Low-rank adapters (Hu et al., "LoRA", 2021) in training: each adapted projection gets y + (alpha / rank) B A x while its own weight is
 * frozen. Their files are read and written by model/adapter.ts.
 */
import { wrongInput } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import { ADAPTER_TARGETS, adapterNames } from '../../model/adapter.ts';
import type { Tensors } from '../../model/safetensors.ts';
import { linear } from '../ops/linear.ts';
import * as tf from '../tfjs.ts';
import type { ParamSet } from './params.ts';
import { placeTensors, type Trainable } from './trainable.ts';

export interface LoraSettings {
  /** Inner width of the update. */
  rank: number;
  /** The update is scaled by alpha / rank. */
  alpha: number;
}

export class Lora implements Trainable {
  readonly settings: LoraSettings;
  readonly tensors: ReadonlyMap<string, tf.Tensor>;

  constructor(settings: LoraSettings, tensors: ReadonlyMap<string, tf.Tensor>) {
    this.settings = settings;
    this.tensors = tensors;
  }

  /** A [rank, in] and B [out, rank] of an adapted weight. */
  pair(weight: string): { a: tf.Tensor2D; b: tf.Tensor2D } | undefined {
    const names = adapterNames(weight);
    const a = this.tensors.get(names.a);
    const b = this.tensors.get(names.b);
    return a && b && { a: a as tf.Tensor2D, b: b as tf.Tensor2D };
  }

  /**
   * The adapter's additions to the projections of x [rows, in] by weights that all have adapters. The scale goes into B, which is far smaller
   * than the additions, and the products with A share one pass over x.
   */
  updates(weights: readonly string[], x: tf.Tensor2D): tf.Tensor2D[] {
    const pairs = weights.map((weight) => this.pair(weight)!);
    const inner = linear(
      x,
      pairs.map(({ a }) => a),
    );
    const scale = this.settings.alpha / this.settings.rank;
    return pairs.map(({ b }, i) => linear(inner[i]!, [tf.mul(b, scale)])[0]!);
  }

  dispose(): void {
    tf.dispose([...this.tensors.values()]);
  }
}

/** New adapters for the projections of a model: A normal, B zero, so that training starts from the base model. */
export function createLora(base: ParamSet, settings: LoraSettings, id: string): Lora {
  if (!Number.isInteger(settings.rank) || settings.rank < 1)
    throw wrongInput('learner.lora-rank', `The adapter's rank is ${settings.rank}.`, {
      expected: 'a positive integer',
    });
  const tensors: Tensors = new Map();
  for (const [name, { shape }] of base.tensors) {
    if (!ADAPTER_TARGETS.some((target) => name.endsWith(`.${target}.weight`))) continue;
    const [out, width] = shape as [number, number];
    const names = adapterNames(name);
    const random = new Random(`${id}/${name}`);
    const deviation = 1 / Math.sqrt(width);
    const a = Float32Array.from({ length: settings.rank * width }, () => deviation * random.normal());
    tensors.set(names.a, { shape: [settings.rank, width], data: a });
    tensors.set(names.b, {
      shape: [out, settings.rank],
      data: new Float32Array(out * settings.rank),
    });
  }
  return new Lora(settings, placeTensors(tensors));
}
