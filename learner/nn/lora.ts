/**
 * Low-rank adapters (Hu et al., "LoRA", 2021) in training: each adapted projection gets y + (alpha / rank) B A x while its own weight is
 * frozen. Their files are read and written by model/adapter.ts.
 */
import { wrongInput } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import { ADAPTER_TARGETS, adapterNames } from '../../model/adapter.ts';
import type { Tensors } from '../../model/safetensors.ts';
import type { LowRank } from '../ops/linear.ts';
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

  /** A and B of an adapted weight with alpha / rank in B, which is far smaller than what it is multiplied with. */
  addition(weight: string): LowRank | undefined {
    const pair = this.pair(weight);
    return pair && { a: pair.a, b: tf.mul(pair.b, this.settings.alpha / this.settings.rank) };
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
