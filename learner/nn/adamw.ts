/**
 * AdamW with decoupled weight decay (Loshchilov and Hutter, 2019) and clipping by the global norm. It updates the trained tensors in
 * place and reads nothing from the device. Decay applies to matrices, not to norm gains and biases. An optimistic step (Daskalakis et al.,
 * "Training GANs with Optimism", 2018) is for players who learn against each other: it goes twice in the direction d of the new gradient
 * and once back in that of the step before, θ ← θ − η(2 d(t) − d(t−1)), where the plain one circles around the equilibrium of a game.
 */
import { wrongInput } from '../../core/errors.ts';
import type { Tensors } from '../../model/safetensors.ts';
import { adamWInto, SKIP_UPDATE, sumSquares } from '../ops/in-place.ts';
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

export class AdamW {
  readonly settings: AdamWSettings;
  readonly #params: Trainable;
  readonly #moments = new Map<string, { mean: tf.Tensor; square: tf.Tensor }>();
  #step = 0;

  constructor(params: Trainable, settings: Partial<AdamWSettings> = {}) {
    this.#params = params;
    this.settings = { ...ADAMW_DEFAULTS, ...settings };
    for (const [name, { shape }] of params.tensors)
      this.#moments.set(name, { mean: tf.keep(tf.zeros(shape)), square: tf.keep(tf.zeros(shape)) });
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
      // The squares are added two by two, because tf.addN binds one buffer per tensor, more than a GPU's shader stage may have.
      const squares = [...grads.values()].map((g) => sumSquares(g));
      const norm = tf.sqrt(squares.reduce((a, b) => tf.add(a, b), tf.scalar(0)));
      const clipped = Number.isFinite(clipNorm)
        ? tf.minimum(1, tf.div(clipNorm, tf.add(norm, 1e-6)))
        : tf.scalar(1);
      // A comparison, because GPU compilers may assume that NaN and infinity do not occur.
      const scale = tf.where(tf.lessEqual(norm, Math.min(skipNorm, LARGEST_NORM)), clipped, SKIP_UPDATE);
      const corrections = (step: number) => ({
        correct1: 1 / (1 - betas[0] ** step),
        correct2: 1 / (1 - betas[1] ** step),
      });
      const extrapolates = optimistic && this.#step > 1;
      for (const [name, gradient] of grads) {
        const parameter = this.#params.tensors.get(name)!;
        const tensors = { parameter, ...this.#moments.get(name)!, gradient, scale };
        // Back along the direction of the step before: with both betas at 1 the moments stay as they are.
        if (extrapolates)
          adamWInto(tensors, {
            rate: -lr,
            beta1: 1,
            beta2: 1,
            eps,
            decay: 0,
            ...corrections(this.#step - 1),
          });
        const times = extrapolates ? 2 : 1;
        adamWInto(tensors, {
          rate: times * lr,
          beta1: betas[0],
          beta2: betas[1],
          eps,
          decay: parameter.rank >= 2 ? weightDecay / times : 0,
          ...corrections(this.#step),
        });
      }
      return norm as tf.Scalar;
    });
  }

  /** Reads the moments from the device. */
  async exportState(): Promise<AdamWState> {
    const tensors: Tensors = new Map();
    for (const [name, moments] of this.#moments)
      for (const kind of ['mean', 'square'] as const) {
        const t = moments[kind];
        tensors.set(`${kind}.${name}`, { shape: [...t.shape], data: (await t.data()) as Float32Array });
      }
    return { step: this.#step, tensors };
  }

  /** Continues from an exported state. Throws `wrong-input` if it belongs to other parameters. */
  importState({ step, tensors }: AdamWState): void {
    for (const [name, moments] of this.#moments)
      for (const kind of ['mean', 'square'] as const) {
        const saved = tensors.get(`${kind}.${name}`);
        if (!saved || !tf.util.arraysEqual(saved.shape, moments[kind].shape))
          throw wrongInput('learner.optimiser-state', `The optimiser state has no fitting ${kind}.${name}.`, {
            expected: `shape [${moments[kind].shape.join(', ')}]`,
            next: 'Resume with the checkpoint of the same model.',
          });
        moments[kind].dispose();
        moments[kind] = tf.keep(tf.tensor(saved.data, [...saved.shape], 'float32'));
      }
    this.#step = step;
  }

  dispose(): void {
    for (const { mean, square } of this.#moments.values()) tf.dispose([mean, square]);
  }
}
