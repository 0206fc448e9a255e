/**
 * How a training plan is said in Tinker's API. The losses that it knows are sent as they are, with weights and corrections multiplied into weights or
 * advantages. Any other loss of log-probabilities is computed here from those that the server gives, and its derivative is sent as the weights of
 * `cross_entropy`, whose gradient is then the loss's own. What needs more cannot be said (core/plan/by-server.ts).
 */
import { wrongInput } from '../../core/errors.ts';
import { isPatch } from '../../core/images/patches.ts';
import type { PolicyPart, Sequence, UpdatePart } from '../../core/plan/training-plan.ts';
import type { Unit, UnitScores, UnitWeights } from '../train/parts/kind.ts';
import { ratioNumbers } from '../train/parts/policy.ts';
import type { Datum, Inputs } from './messages.ts';
import type { LossName } from './wire.ts';

/** A loss that the server knows, and what it is given at each scored token of a unit. */
export interface Native {
  readonly loss: LossName;
  readonly config: Readonly<Record<string, number>>;
  readonly inputs: (unit: Unit, weights: UnitWeights, scores: UnitScores) => Inputs;
}

/** The server's own loss that a part's is; undefined where there is none. */
export function nativeOf(part: UpdatePart): Native | undefined {
  if (part.kind === 'sft')
    return { loss: 'cross_entropy', config: {}, inputs: (_, { tokens }) => ({ weights: tokens }) };
  if (part.kind !== 'policy' || part.kl?.weight) return undefined;
  const { objective } = part;
  switch (objective.kind) {
    case 'reinforce':
      return {
        loss: 'cross_entropy',
        config: {},
        inputs: (...of) => ({ weights: weighted(part, ...of).advantages }),
      };
    case 'ppo-clip':
      return objective.dualClip === undefined ? clipped(part, 'ppo', objective) : undefined;
    case 'cispo':
      return clipped(part, 'cispo', objective);
    default:
      return undefined;
  }
}

const clipped = (
  part: PolicyPart,
  loss: 'ppo' | 'cispo',
  { clipLow, clipHigh }: { readonly clipLow: number; readonly clipHigh: number },
): Native => ({
  loss,
  config: { clip_low_threshold: Math.max(0, 1 - clipLow), clip_high_threshold: 1 + clipHigh },
  inputs: (...of) => weighted(part, ...of),
});

/** Old log-probabilities, and advantages times the weight and the correction of their token, which are not negative: no clip sees them. */
function weighted(part: PolicyPart, unit: Unit, { tokens }: UnitWeights, scores: UnitScores) {
  const { advantages, old, correction } = ratioNumbers(part, unit, scores);
  return {
    logprobs: old,
    advantages: advantages.map((advantage, t) => advantage * tokens[t]! * (correction?.[t] ?? 1)),
  };
}

/** A sequence, and inputs of its scored tokens: in a datum each position is scored by the token after it, and those of the prompt count for nothing. */
export function datumOf({ prompt, ids }: Sequence, inputs: Inputs): Datum {
  const all = [...prompt, ...ids];
  if (all.some(isPatch))
    throw wrongInput('tinker.images', 'A sample shows an image.', {
      expected: 'text alone, for a learner that trains by a Tinker server',
      next: 'Train by a learner of this machine.',
    });
  const before = new Array<number>(prompt.length - 1).fill(0);
  return {
    tokens: all.slice(0, -1),
    inputs: {
      target_tokens: all.slice(1),
      ...Object.fromEntries(
        Object.entries(inputs).map(([name, numbers]) => [name, [...before, ...Array.from(numbers)]]),
      ),
    },
  };
}

/** Inputs of a unit cut into those of its sequences. */
export function dataOf({ sequences }: Unit, inputs: Inputs): Datum[] {
  let at = 0;
  return sequences.map((sequence) => {
    const from = at;
    at += sequence.ids.length;
    const own = Object.entries(inputs).map(([name, numbers]) => [name, Array.from(numbers).slice(from, at)]);
    return datumOf(sequence, Object.fromEntries(own));
  });
}

/** The rows of scored tokens of what a server gives for all positions. */
export const scoredRows = (sequences: readonly Sequence[], rows: readonly Float32Array[]): Float32Array[] =>
  sequences.map(({ prompt }, s) => rows[s]!.slice(prompt.length - 1));
