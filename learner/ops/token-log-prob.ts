/**
 * Output projection, log-softmax, lookup and entropy in one op. Logits exist only a block of rows at a time, and again in the
 * backward pass; all of them can be kept for it instead, which saves their product there and gives the same bits.
 */
import * as tf from '../tfjs.ts';
import { incoming, runKernel, withoutGradient } from './run-kernel.ts';

export interface TokenLogProbs {
  /** Log-probability of each token, nats [tokens]. */
  logp: tf.Tensor1D;
  /** Entropy of the distribution each token was drawn from, nats [tokens]. */
  entropy: tf.Tensor1D;
  /** log sum exp of the scaled logits [tokens]; takes no gradient. */
  logSum: tf.Tensor1D;
}

export interface TokenLogProbSettings {
  /** Divides the logits; the log-probabilities are those of the distribution sampled at this temperature. */
  temperature?: number;
  /** False where the output matrix is frozen, which saves the matrix product of its gradient. */
  trainsWeight?: boolean;
  /**
   * Holds all logits, 4 · tokens · vocab bytes, until the backward pass; only where there will be one, and on the CPU device. Default false.
   */
  keepLogits?: boolean;
}

/** hidden [tokens, width], weight [vocab, width], ids int32 [tokens]. */
export function tokenLogProb(
  hidden: tf.Tensor2D,
  weight: tf.Tensor2D,
  ids: tf.Tensor1D,
  { temperature = 1, trainsWeight = true, keepLogits = false }: TokenLogProbSettings = {},
): TokenLogProbs {
  // Inside a kernel, which the forward pass of a customGrad is one of, no op is recorded: logits would be kept for nobody.
  const { gradientDepth, kernelDepth } = tf.engine().state;
  const recorded = gradientDepth > 0 && kernelDepth === 0;
  const attributes = {
    inverseTemperature: 1 / temperature,
    trainsWeight,
    keepLogits: keepLogits && recorded,
  };
  const outputs = runKernel('TokenLogProb', { hidden, weight, ids }, attributes);
  // This list is also the tape's. Logits are saved already, and an output on the tape without a gradient would be given zeros of its size.
  tf.dispose(outputs.splice(3));
  const [logp, entropy, logSum] = outputs;
  return { logp: logp as tf.Tensor1D, entropy: entropy as tf.Tensor1D, logSum: logSum as tf.Tensor1D };
}

withoutGradient('TokenLogProb', 2);
tf.registerGradient({
  kernelName: 'TokenLogProb',
  inputsToSave: ['hidden', 'weight', 'ids'],
  outputsToSave: [false, true, true, true],
  gradFunc: (dys, [hidden, weight, ids, entropy, logSum, logits], attributes) => {
    const inputs = {
      hidden: hidden!,
      weight: weight!,
      ids: ids!,
      entropy: entropy!,
      logSum: logSum!,
      dlogp: incoming(dys, 0),
      dentropy: incoming(dys, 1),
      ...(logits ? { logits } : {}),
    };
    const [dhidden, dweight] = runKernel('TokenLogProbGrad', inputs, attributes);
    return {
      hidden: () => dhidden!,
      weight: () => dweight ?? tf.zerosLike(weight!),
      ids: () => tf.zerosLike(ids!),
    };
  },
});
