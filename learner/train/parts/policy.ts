/** Policy part: policy gradient on sampled tokens by any objective of learner/losses, with KL to a reference and an entropy bonus. */
import { aggregationWeights } from '../../../core/rl/aggregation.ts';
import { logRatios, truncatedWeights } from '../../../core/rl/corrections/index.ts';
import type { PolicyPart, WeightsRef } from '../../../core/training-plan.ts';
import { entropyBonus } from '../../losses/entropy.ts';
import { klToReference } from '../../losses/kl.ts';
import type { ObjectiveTokens } from '../../losses/objective-tokens.ts';
import { policyObjective } from '../../losses/policy-objective.ts';
import * as tf from '../../tfjs.ts';
import { expectPerToken, type PartKind, type PartSlice, packed, sequencesOf, tokenWeights } from './kind.ts';

/** Cap on the importance weight of a token (verl's default). */
const IMPORTANCE_CAP = 2;

/** Version 0, which every policy starts from: reports give the KL to it. */
export const startOf = (set: string): WeightsRef => ({ set, version: 0 });

export const policy: PartKind<PolicyPart> = {
  readout: 'logprobs',
  monitor: { name: 'clipFraction', per: 'token' },
  ownScores: true,
  references: ({ kl }, set) => [startOf(set), ...(kl ? [kl.reference] : [])],

  sequences: ({ items }) =>
    items.map(({ sample, advantage }, i) => {
      expectPerToken('log-probabilities', i, sample.logprobs, sample);
      if (typeof advantage !== 'number') expectPerToken('advantages', i, advantage, sample);
      return [sample];
    }),

  weights(part, units) {
    const sequence = units.flatMap(({ item, sequences }) => sequences[0]!.ids.map(() => item));
    const mask = sequence.map(() => 1);
    const all = aggregationWeights(part.aggregation, { mask, sequence }).map(
      (weight) => weight * part.weight,
    );
    let at = 0;
    return units.map(({ sequences }) => {
      const tokens = all.slice(at, at + sequences[0]!.ids.length);
      at += tokens.length;
      return { tokens, unit: 0 };
    });
  },

  loss(part, slice) {
    const { kl, entropy: bonus = 0, objective } = part;
    const [logprobs, entropy] = slice.outputs as [tf.Tensor1D, tf.Tensor1D];
    const weights = tokenWeights(slice);
    const tokens = { ...ratioTokens(part, slice), logprobs, weights };
    const { loss: surrogate, clippedTokens: counted } = policyObjective(tokens, objective);
    let loss = surrogate;
    if (kl && kl.weight !== 0) {
      const reference = packed(slice.scores.map((score) => score.reference(kl.reference)));
      const drift = klToReference({ logprobs, reference, weights }, { estimator: kl.estimator });
      loss = tf.add(loss, tf.mul(drift.loss, kl.weight));
    }
    if (bonus !== 0) loss = tf.add(loss, tf.mul(entropyBonus({ entropy, weights }).loss, bonus));
    return { loss, counted };
  },
};

/** Advantages, the old log-probabilities that ratios are taken against, and the correction that belongs to them. */
function ratioTokens(
  part: PolicyPart,
  { units, scores }: PartSlice,
): Omit<ObjectiveTokens, 'logprobs' | 'weights'> {
  const items = units.map(({ item }) => part.items[item]!);
  const advantages = packed(
    items.map(({ sample, advantage }) =>
      typeof advantage === 'number' ? sample.ids.map(() => advantage) : advantage,
    ),
  );
  const common = { advantages, sequences: sequencesOf(units) };
  const sampled = items.map(({ sample }) => sample.logprobs);
  if (oldOf(part) === 'sampler') return { ...common, oldLogprobs: packed(sampled) };
  const own = scores.map((score) => score.own!.logprobs);
  const oldLogprobs = packed(own);
  if (part.objective.kind === 'decoupled-ppo') return { ...common, oldLogprobs, behaviour: packed(sampled) };
  const correction = packed(own.map((now, i) => correctionOf(now, sampled[i]!)));
  return { ...common, oldLogprobs, correction };
}

function oldOf({ old, objective }: PolicyPart): 'proximal' | 'sampler' {
  if (objective.kind === 'decoupled-ppo') return 'proximal';
  return old ?? (objective.kind === 'aipo' || objective.kind === 'dppo-tv' ? 'sampler' : 'proximal');
}

/**
 * Truncated importance weights min(π before the update / π when sampled, cap) [tokens]. They correct for samples of an older version;
 * where the version is the same they are 1 up to rounding.
 */
function correctionOf(now: Float32Array, sampled: readonly number[]): number[] {
  const mask = sampled.map(() => 1);
  const sequence = sampled.map(() => 0);
  return truncatedWeights({ logRatios: logRatios(now, sampled), mask, sequence }, 'token', IMPORTANCE_CAP);
}
