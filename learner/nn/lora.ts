/**
 * Low-rank adapters (Hu et al., "LoRA", 2021): each adapted projection gets y + (alpha / rank) B A x while its own weight is frozen.
 * Names follow PEFT, so adapters travel as files of their own; `mergeLora` folds them into ordinary weights for publishing.
 */
import { wrongInput } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import type { Tensors } from '../../model/safetensors.ts';
import { copyOf } from '../ops/in-place.ts';
import { linear } from '../ops/linear.ts';
import * as tf from '../tfjs.ts';
import { ParamSet } from './params.ts';
import { placeTensors, type Trainable } from './trainable.ts';

export const LORA_TARGETS = [
  'q_proj',
  'k_proj',
  'v_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'down_proj',
] as const;

export interface LoraSettings {
  /** Inner width of the update. */
  rank: number;
  /** The update is scaled by alpha / rank. */
  alpha: number;
  /** Projections that get an adapter, in every layer. */
  targets: readonly (typeof LORA_TARGETS)[number][];
}

const stem = (weight: string): string => weight.replace(/\.weight$/, '');

export class Lora implements Trainable {
  readonly settings: LoraSettings;
  readonly tensors: ReadonlyMap<string, tf.Tensor>;

  constructor(settings: LoraSettings, tensors: ReadonlyMap<string, tf.Tensor>) {
    this.settings = settings;
    this.tensors = tensors;
  }

  /** A [rank, in] and B [out, rank] of an adapted weight. */
  pair(weight: string): { a: tf.Tensor2D; b: tf.Tensor2D } | undefined {
    const a = this.tensors.get(`${stem(weight)}.lora_A.weight`);
    const b = this.tensors.get(`${stem(weight)}.lora_B.weight`);
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

/** New adapters for a model: A normal, B zero, so that training starts from the base model. */
export function createLora(base: ParamSet, settings: LoraSettings, id: string): Lora {
  if (!Number.isInteger(settings.rank) || settings.rank < 1)
    throw wrongInput('learner.lora-rank', `The adapter's rank is ${settings.rank}.`, {
      expected: 'a positive integer',
    });
  const tensors: Tensors = new Map();
  for (const [name, { shape }] of base.tensors) {
    if (!settings.targets.some((target) => name.endsWith(`.${target}.weight`))) continue;
    const [out, width] = shape as [number, number];
    const random = new Random(`${id}/${name}`);
    const deviation = 1 / Math.sqrt(width);
    const a = Float32Array.from({ length: settings.rank * width }, () => deviation * random.normal());
    tensors.set(`${stem(name)}.lora_A.weight`, { shape: [settings.rank, width], data: a });
    tensors.set(`${stem(name)}.lora_B.weight`, {
      shape: [out, settings.rank],
      data: new Float32Array(out * settings.rank),
    });
  }
  return new Lora(settings, placeTensors(tensors));
}

/** The base weights with the adapters folded in: an ordinary, independent parameter set. */
export function mergeLora(base: ParamSet, lora: Lora): ParamSet {
  const scale = lora.settings.alpha / lora.settings.rank;
  const merged = [...base.tensors].map(([name, weight]): [string, tf.Tensor] => {
    const pair = lora.pair(name);
    if (!pair) return [name, copyOf(weight)];
    return [name, tf.keep(tf.tidy(() => tf.add(weight, tf.mul(tf.matMul(pair.b, pair.a), scale))))];
  });
  return new ParamSet(base.config, new Map(merged));
}
