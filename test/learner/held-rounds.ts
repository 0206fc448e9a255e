/** Rounds of training on the held sets of a policy, as a learner takes them, without records. */

import type { AdapterSettings, OptimizerSettings } from '../../core/plan/training-plan.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import type { Device } from '../../learner/device/device.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import * as tf from '../../learner/tfjs.ts';
import { HeldSets } from '../../learner/train/held-sets.ts';
import { randomSequences } from './engine-tiny.ts';

const OPTIMIZER: OptimizerSettings = {
  learningRate: 1e-3,
  warmup: 0,
  betas: [0.9, 0.95],
  weightDecay: 0.01,
  clipNorm: 1,
  minibatches: 1,
};

/** The sets of a version with these files; `kept` says how the optimiser's settings keep moments and weights, `adapter` that one is trained. */
export const openSets = (
  files: VersionFiles,
  kept: Pick<OptimizerSettings, 'moments' | 'publish'> = {},
  start: VersionFiles = files,
  adapter?: AdapterSettings,
): HeldSets =>
  new HeldSets(
    files,
    { main: { optimizer: { ...OPTIMIZER, ...kept }, ...(adapter ? { adapter } : {}) } },
    () => Promise.resolve(start),
  );

/** Four steps on sequences of the round's own, then the files. */
export async function trainRound(device: Device, sets: HeldSets, number: number): Promise<VersionFiles> {
  const { params, adapter, optimizer } = await sets.learner('main');
  for (let i = 0; i < 4; i++) {
    const sequences = randomSequences([20, 9, 31], `${number}/${i}`);
    const result = lossAndGrads(adapter ?? params, () =>
      tf.neg(tf.mean(tokenLogProbs(params, packSequences(sequences), { adapter }).logp)),
    );
    optimizer.step(result.grads, OPTIMIZER.learningRate).dispose();
    disposeResult(result);
    await device.flush();
  }
  return sets.files();
}
