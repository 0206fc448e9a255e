/**
 * Supervised warm start: a model with random weights learns its roles from generated demonstrations. Every step has a fresh batch,
 * so no demonstration is seen twice. The loss is on completions only.
 */
import { Random } from '../../core/random.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import type { Demonstration } from '../../worlds/arithmetic/demonstrations.ts';
import type { WarmStart } from '../../worlds/warm-starts.ts';
import { AdamW } from '../nn/adamw.ts';
import { disposeResult, lossAndGrads } from '../nn/loss-and-grads.ts';
import { packSequences } from '../nn/pack.ts';
import type { ParamSet } from '../nn/params.ts';
import { tokenLogProbs } from '../nn/token-log-probs.ts';
import * as tf from '../tfjs.ts';

export interface WarmStartSettings {
  readonly seed: number;
  readonly steps: number;
  /** Demonstrations per step. */
  readonly batch: number;
  readonly learningRate: number;
  /** Steps of linear warm-up; after them the learning rate falls linearly to a tenth. */
  readonly warmup: number;
  readonly weightDecay: number;
}

export const WARM_START: WarmStartSettings = {
  seed: 0,
  steps: 2500,
  batch: 96,
  learningRate: 3e-3,
  warmup: 50,
  weightDecay: 0.01,
};

export interface WarmStartProgress {
  readonly step: number;
  /** Mean weighted negative log-likelihood of the last step, nats per token. */
  readonly loss: number;
  /** Tokens trained so far, prompts included. */
  readonly tokens: number;
}

const rateAt = (step: number, { learningRate, warmup, steps }: WarmStartSettings) =>
  learningRate *
  Math.min(step / warmup, 1 - (0.9 * Math.max(0, step - warmup)) / Math.max(1, steps - warmup));

/** Trains `params` in place. `report` is awaited every `every` steps and after the last. */
export async function warmStart(
  params: ParamSet,
  tokenizer: Tokenizer,
  { demonstrate, weights = {} }: Pick<WarmStart, 'demonstrate' | 'weights'>,
  settings: WarmStartSettings,
  every: number,
  report: (progress: WarmStartProgress) => Promise<void>,
): Promise<void> {
  const random = new Random(`warm-start/${settings.seed}`);
  const optimizer = new AdamW(params, {
    betas: [0.9, 0.95],
    weightDecay: settings.weightDecay,
    clipNorm: 1,
  });
  let tokens = 0;
  for (let step = 1; step <= settings.steps; step++) {
    const demonstrations = Array.from({ length: settings.batch }, () => demonstrate(random));
    const { loss, count } = trainStep(
      params,
      optimizer,
      tokenizer,
      demonstrations,
      weights,
      rateAt(step, settings),
    );
    tokens += count;
    if (step % every === 0 || step === settings.steps)
      await report({ step, loss: (await loss.data())[0]!, tokens });
    loss.dispose();
  }
  optimizer.dispose();
}

function trainStep(
  params: ParamSet,
  optimizer: AdamW,
  tokenizer: Tokenizer,
  demonstrations: readonly Demonstration[],
  roleWeights: NonNullable<WarmStart['weights']>,
  rate: number,
): { loss: tf.Scalar; count: number } {
  const sequences = demonstrations.map(({ prompt, completion }) => {
    const from = tokenizer.encode(prompt);
    return { ids: [...from, ...tokenizer.encode(completion)], from: from.length };
  });
  const batch = packSequences(sequences);
  const weights = demonstrations.flatMap(({ role, weight = roleWeights[role] ?? 1 }, i) =>
    new Array<number>(batch.scored[i]!).fill(weight / batch.targets.length),
  );
  const result = lossAndGrads(params, () => {
    const { logp } = tokenLogProbs(params, batch);
    return tf.neg(tf.sum(tf.mul(logp, tf.tensor1d(weights)))) as tf.Scalar;
  });
  optimizer.step(result.grads, rate).dispose();
  const loss = tf.keep(tf.clone(result.loss));
  disposeResult(result);
  return { loss, count: batch.ids.length };
}
