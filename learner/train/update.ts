/** One optimiser step: the clipped objective with its KL term, accumulated over micro-batches, then AdamW. */
import { RollmeshError } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe.ts';
import { klToReference } from '../losses/kl.ts';
import { ppoClip } from '../losses/ppo-clip.ts';
import type { AdamW } from '../nn/adamw.ts';
import { accumulate, disposeResult, type LossAndGrads, lossAndGrads } from '../nn/loss-and-grads.ts';
import type { ParamSet } from '../nn/params.ts';
import { tokenLogProbs } from '../nn/token-log-probs.ts';
import * as tf from '../tfjs.ts';
import { completionTokens, microBatches, type TrainingItem } from './minibatches.ts';
import { packItems, type Scores } from './scores.ts';

export interface StepSettings {
  readonly recipe: Recipe;
  /** Weight of the k3 KL to version 0 in the loss. */
  readonly kl: number;
  readonly rate: number;
  readonly tokenBudget: number;
}

export interface StepFigures {
  readonly loss: number;
  /** Before clipping. */
  readonly gradientNorm: number;
  readonly clipFraction: number;
}

/** Trains `params` in place. Throws `give-up` where the loss or the gradient is not finite: the weights are then void. */
export async function updateStep(
  params: ParamSet,
  optimizer: AdamW,
  items: readonly TrainingItem[],
  scores: Scores,
  settings: StepSettings,
): Promise<StepFigures> {
  const clipped: tf.Tensor[] = [];
  let total: LossAndGrads | undefined;
  for (const part of microBatches(items, settings.tokenBudget)) {
    const next = lossAndGrads(params, () => roleLosses(params, part, scores, settings));
    clipped.push(next.metrics.clipped!);
    if (total) accumulate(total, next);
    else total = next;
  }
  const norm = optimizer.step(total!.grads, settings.rate);
  const read = await Promise.all([total!.loss, norm, ...clipped].map((tensor) => tensor.data()));
  const [loss, gradientNorm, ...counts] = read.map((data) => data[0]!) as [number, number, ...number[]];
  disposeResult(total!);
  tf.dispose([norm, ...clipped]);
  if (!Number.isFinite(loss) || !Number.isFinite(gradientNorm))
    throw new RollmeshError(
      'give-up',
      'learner.non-finite',
      `The loss is ${loss} and the gradient norm ${gradientNorm}.`,
      {
        expected: 'finite numbers',
        next: 'Nothing of this round is published. Lower the learning rate, or look for damaged samples.',
      },
    );
  const active = counts.reduce((sum, count) => sum + count, 0);
  return { loss, gradientNorm, clipFraction: active / completionTokens(items) };
}

/** One forward pass for all roles; each role's objective sees its own tokens alone. */
function roleLosses(
  params: ParamSet,
  items: readonly TrainingItem[],
  scores: Scores,
  { recipe, kl }: StepSettings,
) {
  const { logp } = tokenLogProbs(params, packItems(items));
  const perToken = (value: (item: TrainingItem) => number) =>
    tf.tensor1d(items.flatMap((item) => item.sample.ids.map(() => value(item))));
  const common = {
    logprobs: logp,
    oldLogprobs: tf.tensor1d(items.flatMap((item) => Array.from(scores.get(item)!.logprobs))),
    correction: tf.tensor1d(items.flatMap((item) => scores.get(item)!.correction)),
    advantages: perToken((item) => item.advantage),
  };
  const surrogates = [...new Set(items.map((item) => item.role))].map((role) => {
    const weights = perToken((item) => (item.role === role ? item.tokenWeight : 0));
    return ppoClip({ ...common, weights }, recipe.objective[role]);
  });
  const add = (parts: readonly tf.Scalar[]) => parts.reduce((sum, part) => tf.add(sum, part));
  let loss = add(surrogates.map((surrogate) => surrogate.loss));
  if (kl > 0) {
    const reference = tf.tensor1d(items.flatMap((item) => Array.from(scores.get(item)!.reference)));
    const weights = perToken((item) => item.tokenWeight);
    const drift = klToReference({ logprobs: logp, reference, weights }, { estimator: 'k3' });
    loss = tf.add(loss, tf.mul(drift.loss, kl));
  }
  return { loss, metrics: { clipped: add(surrogates.map((surrogate) => surrogate.clippedTokens)) } };
}
