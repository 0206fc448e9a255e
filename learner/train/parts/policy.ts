/** Policy part: policy gradient on sampled tokens by any objective of learner/losses, with KL to a reference, an entropy bonus and a band of entropy. */
import { wrongInput } from '../../../core/errors.ts';
import type {
  EntropyBounds,
  PolicyItem,
  PolicyPart,
  Sequence,
  WeightsRef,
} from '../../../core/plan/training-plan.ts';
import { aggregationWeights } from '../../../core/rl/aggregation.ts';
import { logRatios, truncatedWeights } from '../../../core/rl/corrections/index.ts';
import { entropyBand, entropyBonus } from '../../losses/entropy.ts';
import { klToReference } from '../../losses/kl.ts';
import type { ObjectiveTokens } from '../../losses/objective-tokens.ts';
import { policyObjective } from '../../losses/policy-objective.ts';
import * as tf from '../../tfjs.ts';
import {
  expectPerToken,
  type PartKind,
  type PartSlice,
  packed,
  sequencesOf,
  sumOf,
  tokenWeights,
  type Unit,
  type UnitScores,
} from './kind.ts';

/** Cap on the importance weight of a token (verl's default). */
const IMPORTANCE_CAP = 2;

/** More than the entropy of any vocabulary, nats. */
const ANY_ENTROPY = 1e6;

/** Version 0, which every policy starts from: reports give the KL to it. */
export const startOf = (set: string): WeightsRef => ({ set, version: 0 });

export const policy: PartKind<PolicyPart> = {
  readout: 'logprobs',
  monitor: { name: 'clipFraction', per: 'token' },
  ownScores: true,
  references: ({ kl }, set) => [startOf(set), ...(kl ? [kl.reference] : [])],

  sequences: ({ items }) =>
    items.map(({ sample, advantage, mask, band }, i) => {
      expectPerToken('log-probabilities', i, sample.logprobs, sample);
      if (mask) expectMask(i, mask, sample);
      if (band) expectBounds(i, band);
      if (typeof advantage !== 'number') expectPerToken('advantages', i, advantage, sample);
      return [sample];
    }),

  weights(part, units) {
    const sequence = units.flatMap(({ item, sequences }) => sequences[0]!.ids.map(() => item));
    const mask = units.flatMap(({ item }) => maskOf(part.items[item]!));
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

  countedTokens: ({ items }, { item }) => sumOf(maskOf(items[item]!), (m) => m),

  loss(part, slice) {
    const { kl, entropy: bonus = 0, entropyBand: band = 0, objective } = part;
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
    if (band !== 0) loss = tf.add(loss, tf.mul(bandLoss(part, slice, { entropy, weights }), band));
    return { loss, counted };
  },
};

/** Whether each of an item's tokens is trained, 1 or 0 [tokens]. */
const maskOf = ({ sample, mask }: PolicyItem): readonly number[] => mask ?? sample.ids.map(() => 1);

function expectMask(item: number, mask: readonly number[], sample: Sequence): void {
  expectPerToken('mask entries', item, mask, sample);
  const other = mask.find((m) => m !== 0 && m !== 1);
  if (other !== undefined)
    throw wrongInput('training-plan.mask', `The mask of item ${item} has the entry ${other}.`, {
      expected: '1 for a token that is trained and 0 for one that is not',
      next: 'To train tokens by different amounts, give the item one advantage a token.',
    });
}

function expectBounds(item: number, { low, high }: EntropyBounds): void {
  if (!(low <= high))
    throw wrongInput('training-plan.band', `The band of item ${item} goes from ${low} to ${high} nats.`, {
      expected: 'two numbers, low at most as large as high',
    });
}

/** The hinge of the items' bands. What has no band has one that every entropy is in. */
function bandLoss(
  { items }: PolicyPart,
  { units }: PartSlice,
  tokens: { readonly entropy: tf.Tensor1D; readonly weights: tf.Tensor1D },
): tf.Scalar {
  const bound = (of: (band: EntropyBounds) => number, none: number) =>
    packed(
      units.map(({ item }) => {
        const { sample, band } = items[item]!;
        return sample.ids.map(() => (band ? of(band) : none));
      }),
    );
  const low = bound((band) => band.low, 0);
  const high = bound((band) => band.high, ANY_ENTROPY);
  return entropyBand({ ...tokens, low, high }).loss;
}

/** Of each token of a sample: its advantage, the log-probability that its ratio is taken against, and what belongs to that. */
export interface RatioNumbers {
  readonly advantages: readonly number[];
  readonly old: ArrayLike<number>;
  readonly correction?: readonly number[];
  readonly behaviour?: readonly number[];
}

export function ratioNumbers(part: PolicyPart, { item }: Unit, { own }: UnitScores): RatioNumbers {
  const { sample, advantage } = part.items[item]!;
  const advantages = typeof advantage === 'number' ? sample.ids.map(() => advantage) : advantage;
  if (oldOf(part) === 'sampler') return { advantages, old: sample.logprobs };
  const old = own!.logprobs;
  if (part.objective.kind === 'decoupled-ppo') return { advantages, old, behaviour: sample.logprobs };
  return { advantages, old, correction: correctionOf(old, sample.logprobs) };
}

/** The same as tensors, for all tokens of a slice. Either all samples have a correction, or none has; so with `behaviour`. */
function ratioTokens(
  part: PolicyPart,
  { units, scores }: PartSlice,
): Omit<ObjectiveTokens, 'logprobs' | 'weights'> {
  const each = units.map((unit, i) => ratioNumbers(part, unit, scores[i]!));
  const [first] = each;
  return {
    advantages: packed(each.map(({ advantages }) => advantages)),
    sequences: sequencesOf(units),
    oldLogprobs: packed(each.map(({ old }) => old)),
    ...(first?.correction ? { correction: packed(each.map(({ correction }) => correction!)) } : {}),
    ...(first?.behaviour ? { behaviour: packed(each.map(({ behaviour }) => behaviour!)) } : {}),
  };
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
