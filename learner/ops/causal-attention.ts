/**
 * Causal attention over packed sequences with grouped key-value heads; the rotation by position happens inside, and no
 * [length, length] tensor is stored.
 */
import * as tf from '../tfjs.ts';
import { incoming, runKernel, withoutGradient } from './run-kernel.ts';

/** Beyond any sequence, and small enough that a position can be added to it in 32 bits. */
const ALL_KEYS = 2 ** 30;

export interface AttentionShape {
  heads: number;
  kvHeads: number;
  /** Tokens of the longest sequence in the pack. */
  longest: number;
  /** How many keys a query sees, its own the last; all up to its own by default. */
  window?: number | null;
  /** Scores are divided by its root; the width of a head by default. */
  scalar?: number;
}

/**
 * q [tokens, heads * headDim], k and v [tokens, kvHeads * headDim], offsets int32 [sequences + 1] with sequence b owning the rows
 * offsets[b] … offsets[b+1]-1, rotary [positions, headDim] (cosines, then sines) -> [tokens, heads * headDim].
 * headDim is a multiple of 8. Rotary and offsets take no gradient.
 */
export const causalAttention = (
  q: tf.Tensor2D,
  k: tf.Tensor2D,
  v: tf.Tensor2D,
  offsets: tf.Tensor1D,
  rotary: tf.Tensor2D,
  { window, ...shape }: AttentionShape,
): tf.Tensor2D =>
  runKernel(
    'CausalAttention',
    { q, k, v, offsets, rotary },
    { scalar: q.shape[1] / shape.heads, ...shape, window: window ?? ALL_KEYS },
  )[0] as tf.Tensor2D;

// The kernel also gives q and k as its gradient takes them: a GPU has rotated them, the CPU rotates them again.
withoutGradient('CausalAttention', 1, 2, 3);
tf.registerGradient({
  kernelName: 'CausalAttention',
  inputsToSave: ['v', 'offsets', 'rotary'],
  outputsToSave: [true, true, true, true],
  gradFunc: (dys, saved, attributes) => {
    const [v, offsets, rotary, out, logSum, q, k] = saved as [
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
    ];
    const inputs = { q, k, v, offsets, rotary, out, logSum, dy: incoming(dys) };
    const [dq, dk, dv] = runKernel('CausalAttentionGrad', inputs, attributes);
    return {
      q: () => dq!,
      k: () => dk!,
      v: () => dv!,
      offsets: () => tf.zerosLike(offsets),
      rotary: () => tf.zerosLike(rotary),
    };
  },
});
