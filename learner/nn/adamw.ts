/**
 * AdamW with decoupled weight decay (Loshchilov and Hutter, 2019) and clipping by the global norm. It updates the trained tensors in
 * place and reads nothing from the device. Decay applies to matrices, not to norm gains and biases. An optimistic step (Daskalakis et al.,
 * "Training GANs with Optimism", 2018) is for players who learn against each other: it goes twice in the direction d of the new gradient
 * and once back in that of the step before, θ ← θ − η(2 d(t) − d(t−1)), where the plain one circles around the equilibrium of a game.
 */
import { wrongInput } from '../../core/errors.ts';
import type { Tensors } from '../../model/safetensors.ts';
import {
  type AdamWNumbers,
  adamWInto,
  gradientNorm,
  type Moments,
  PLACE_VALUES,
  type Places,
} from '../ops/in-place.ts';
import * as tf from '../tfjs.ts';
import type { Gradients } from './loss-and-grads.ts';
import type { Trainable } from './trainable.ts';

export interface AdamWSettings {
  /** Learning rate where `step` is given none. */
  lr: number;
  betas: readonly [number, number];
  eps: number;
  weightDecay: number;
  /** Largest global gradient norm; longer gradients are scaled down to it. Infinity: never. */
  clipNorm: number;
  /** The update is skipped where the global norm exceeds this, or is not finite. Absent: only norms that are not finite skip it. */
  skipNorm?: number;
}

/** A norm above this counts as infinite in float32. */
const LARGEST_NORM = 3e38;

export const ADAMW_DEFAULTS: AdamWSettings = {
  lr: 1e-4,
  betas: [0.9, 0.999],
  eps: 1e-8,
  weightDecay: 0,
  clipNorm: 1,
};

/** The state that a resumed run needs to continue exactly. */
export interface AdamWState {
  /** Updates done so far. */
  step: number;
  /** `mean.<parameter>` and `square.<parameter>`. */
  tensors: Tensors;
}

/** Where a parameter's moments lie. */
interface Slot {
  readonly name: string;
  readonly shape: readonly number[];
  readonly offset: number;
  readonly size: number;
}

/** Moments of neighbouring parameters in one buffer, so that a GPU updates several with one dispatch. */
interface MomentGroup {
  readonly slots: readonly Slot[];
  readonly length: number;
  moments: Moments;
}

/** Most values of a group of several parameters: GPUs bound the size of a buffer. */
const GROUP_VALUES = 1 << 24;
/** Values between two slots at least: a kernel of the CPU device may touch one vector past the end of an array. */
const APART_VALUES = 16;

/** Cuts the parameters, in their order, into groups. */
function slotsOf({ tensors }: Trainable): Pick<MomentGroup, 'slots' | 'length'>[] {
  const groups: { slots: Slot[]; length: number }[] = [];
  for (const [name, { shape, size }] of tensors) {
    const room = Math.ceil((size + APART_VALUES) / PLACE_VALUES) * PLACE_VALUES;
    let group = groups.at(-1);
    if (!group || group.length + room > GROUP_VALUES) {
      group = { slots: [], length: 0 };
      groups.push(group);
    }
    group.slots.push({ name, shape, offset: group.length, size });
    group.length += room;
  }
  return groups;
}

const KINDS = ['mean', 'square'] as const;

export class AdamW {
  readonly settings: AdamWSettings;
  readonly #params: Trainable;
  readonly #groups: readonly MomentGroup[];
  /** Where weight decay applies, if the device takes all gradients from one buffer. */
  #decayed: tf.Tensor1D | undefined;
  #step = 0;

  constructor(params: Trainable, settings: Partial<AdamWSettings> = {}) {
    this.#params = params;
    this.settings = { ...ADAMW_DEFAULTS, ...settings };
    const zeros = (length: number) => tf.keep(tf.zeros([length])) as tf.Tensor1D;
    this.#groups = slotsOf(params).map((group) => ({
      ...group,
      moments: { mean: zeros(group.length), square: zeros(group.length) },
    }));
  }

  /** Updates done so far. */
  get steps(): number {
    return this.#step;
  }

  /**
   * One update. Returns the gradients' global norm before clipping, still on the device; the caller disposes it. Where the norm is
   * not finite or exceeds `skipNorm` the update is skipped on the device: no NaN reaches the weights, and the caller sees it when it
   * reads the norm. A skipped step counts as a step. The step before an optimistic one may have been of either kind: the moments hold its
   * direction, so that no further state is kept.
   */
  step(grads: Gradients, lr = this.settings.lr, { optimistic = false } = {}): tf.Scalar {
    const { betas, eps, weightDecay, clipNorm, skipNorm = LARGEST_NORM } = this.settings;
    this.#step++;
    return tf.tidy(() => {
      const limits = { clipNorm, skipNorm: Math.min(skipNorm, LARGEST_NORM) };
      const places = this.#placesOf(grads);
      const { norm, scale, placed } = gradientNorm([...grads.values()], limits, places);
      const corrections = (step: number) => ({
        correct1: 1 / (1 - betas[0] ** step),
        correct2: 1 / (1 - betas[1] ** step),
      });
      const extrapolates = optimistic && this.#step > 1;
      const times = extrapolates ? 2 : 1;
      for (const { slots, moments } of this.#groups) {
        const targets = slots.flatMap(({ name, offset }) => {
          const gradient = grads.get(name);
          const parameter = this.#params.tensors.get(name)!;
          return gradient ? [{ parameter, gradient, offset, decays: parameter.rank >= 2 }] : [];
        });
        if (!targets.length) continue;
        const update = (decay: number, numbers: AdamWNumbers) =>
          adamWInto(
            targets.map(({ decays, ...target }) => ({ ...target, decay: decays ? decay : 0 })),
            moments,
            scale,
            numbers,
            placed && { gradients: placed, decayed: this.#decays(), decay },
          );
        // Back along the direction of the step before: with both betas at 1 the moments stay as they are.
        if (extrapolates) update(0, { rate: -lr, beta1: 1, beta2: 1, eps, ...corrections(this.#step - 1) });
        const [beta1, beta2] = betas;
        update(weightDecay / times, { rate: times * lr, beta1, beta2, eps, ...corrections(this.#step) });
      }
      return norm;
    });
  }

  /**
   * The gradients as the next step would scale them, g/(√v̂ + ε), with g² taken into the mean square v and v̂ corrected for its beginning at zero. Neither clipped nor
   * taken: nothing changes. The caller disposes of them.
   */
  scaled(grads: Gradients): Gradients {
    const [, beta2] = this.settings.betas;
    const correct2 = 1 / (1 - beta2 ** (this.#step + 1));
    const out: Gradients = new Map();
    for (const { slots, moments } of this.#groups)
      for (const { name, shape, offset, size } of slots) {
        const gradient = grads.get(name);
        if (!gradient) continue;
        const scaled = tf.tidy(() => {
          const square = tf.reshape(tf.slice(moments.square, [offset], [size]), [...shape]);
          const next = tf.add(tf.mul(square, beta2), tf.mul(tf.square(gradient), 1 - beta2));
          return tf.div(gradient, tf.add(tf.sqrt(tf.mul(next, correct2)), this.settings.eps));
        });
        out.set(name, tf.keep(scaled));
      }
    return out;
  }

  /** Where the gradients would lie in one buffer, as the moments do; undefined where there are several groups of them, or a parameter without a gradient. */
  #placesOf(grads: Gradients): Places | undefined {
    const [group, ...others] = this.#groups;
    if (!group || others.length || group.slots.some(({ name }) => !grads.has(name))) return undefined;
    const offsets = new Map(group.slots.map(({ name, offset }) => [name, offset]));
    const found = [...grads.keys()].flatMap((name) => offsets.get(name) ?? []);
    return found.length === grads.size ? { offsets: found, length: group.length } : undefined;
  }

  #decays(): tf.Tensor1D {
    if (this.#decayed) return this.#decayed;
    const [{ slots, length }] = this.#groups as [MomentGroup];
    const lines = new Float32Array(length / PLACE_VALUES);
    for (const { shape, offset, size } of slots)
      if (shape.length >= 2) lines.fill(1, offset / PLACE_VALUES, Math.ceil((offset + size) / PLACE_VALUES));
    this.#decayed = tf.keep(tf.tensor1d(lines));
    return this.#decayed;
  }

  /** Reads the moments from the device. */
  async exportState(): Promise<AdamWState> {
    const tensors: Tensors = new Map();
    for (const { slots, moments } of this.#groups) {
      const values = { mean: await moments.mean.data(), square: await moments.square.data() };
      for (const { name, shape, offset, size } of slots)
        for (const kind of KINDS)
          tensors.set(`${kind}.${name}`, {
            shape: [...shape],
            data: (values[kind] as Float32Array).subarray(offset, offset + size),
          });
    }
    return { step: this.#step, tensors };
  }

  /** Continues from an exported state. Throws `wrong-input` if it belongs to other parameters. */
  importState({ step, tensors }: AdamWState): void {
    for (const group of this.#groups) {
      const place = (kind: (typeof KINDS)[number]): tf.Tensor1D => {
        const values = new Float32Array(group.length);
        for (const { name, shape, offset } of group.slots) {
          const saved = tensors.get(`${kind}.${name}`);
          if (!saved || !tf.util.arraysEqual(saved.shape, [...shape]))
            throw wrongInput(
              'learner.optimiser-state',
              `The optimiser state has no fitting ${kind}.${name}.`,
              {
                expected: `shape [${shape.join(', ')}]`,
                next: 'Resume with the checkpoint of the same model.',
              },
            );
          values.set(saved.data, offset);
        }
        return tf.keep(tf.tensor1d(values));
      };
      const placed = { mean: place('mean'), square: place('square') };
      tf.dispose([group.moments.mean, group.moments.square]);
      group.moments = placed;
    }
    this.#step = step;
  }

  dispose(): void {
    for (const { moments } of this.#groups) tf.dispose([moments.mean, moments.square]);
    this.#decayed?.dispose();
    this.#decayed = undefined;
  }
}
