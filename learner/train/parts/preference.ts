/** Preference part: losses on pairs of responses against a frozen reference, as the mean over the step's pairs. A pair is never split. */
import { wrongInput } from '../../../core/errors.ts';
import type { PreferencePart } from '../../../core/training-plan.ts';
import { dpo } from '../../losses/dpo.ts';
import { ipo } from '../../losses/ipo.ts';
import { kto } from '../../losses/kto.ts';
import { nll } from '../../losses/nll.ts';
import { orpo } from '../../losses/orpo.ts';
import type { PairLoss, Pairs, ResponseTokens, ScoredResponses } from '../../losses/pairs.ts';
import { simpo } from '../../losses/simpo.ts';
import { spin } from '../../losses/spin.ts';
import { sppo } from '../../losses/sppo.ts';
import * as tf from '../../tfjs.ts';
import {
  type PartKind,
  type PartSlice,
  packed,
  sequencesOf,
  sumOf,
  tokenWeights,
  unitWeights,
} from './kind.ts';

const isReferenceFree = ({ objective }: PreferencePart): boolean =>
  objective.kind === 'simpo' || objective.kind === 'orpo';

export const preference: PartKind<PreferencePart> = {
  readout: 'logprobs',
  monitor: { name: 'accuracy', per: 'unit' },
  references: (part) => (isReferenceFree(part) ? [] : [part.reference]),

  sequences: ({ pairs, objective }) =>
    pairs.map(({ chosen, rejected, winRates }, i) => {
      if (objective.kind === 'sppo' && !winRates)
        throw wrongInput('training plan.win-rates', `Pair ${i} has no win rates.`, {
          expected: 'winRates [chosen, rejected], each from 0 to 1, which SPPO regresses to',
        });
      return [chosen, rejected];
    }),

  /** The token weights are for the NLL term that is added to the pair loss; they are 0 on rejected responses. */
  weights({ weight, sft = 0 }, units) {
    const chosenTokens = sumOf(units, ({ sequences }) => sequences[0]!.ids.length);
    const share = (weight * sft) / chosenTokens;
    return units.map(({ sequences: [chosen, rejected] }) => ({
      tokens: [...chosen!.ids.map(() => share), ...rejected!.ids.map(() => 0)],
      unit: weight / units.length,
    }));
  },

  loss(part, slice) {
    const logprobs = slice.outputs[0] as tf.Tensor1D;
    const { loss: pairs, margins } = pairLoss(part, logprobs, slice);
    const loss = part.sft ? tf.add(pairs, nll({ logprobs, weights: tokenWeights(slice) }).loss) : pairs;
    return { loss: loss as tf.Scalar, counted: tf.sum(tf.cast(tf.greater(margins, 0), 'float32')) };
  },
};

function pairLoss(part: PreferencePart, logprobs: tf.Tensor1D, slice: PartSlice): PairLoss {
  const { objective } = part;
  const tokens: ResponseTokens = {
    logprobs,
    mask: tf.onesLike(logprobs),
    sequences: sequencesOf(slice.units),
  };
  const indices = (offset: number) =>
    tf.tensor1d(
      slice.units.map((_, i) => 2 * i + offset),
      'int32',
    );
  const pairs: Pairs = { chosen: indices(0), rejected: indices(1), pairWeights: unitWeights(slice) };
  if (objective.kind === 'simpo') return simpo(tokens, pairs, objective);
  if (objective.kind === 'orpo') return orpo(tokens, pairs, objective);
  const reference = packed(slice.scores.map((score) => score.reference(part.reference)));
  const responses: ScoredResponses = { ...tokens, reference };
  switch (objective.kind) {
    case 'kto':
      return kto(responses, pairs, objective);
    case 'dpo':
      return dpo(responses, pairs, objective);
    case 'ipo': {
      const { tau: beta, level = 'mean' } = objective;
      return ipo(responses, pairs, { beta, level });
    }
    case 'spin':
      return spin(responses, pairs, objective);
    case 'sppo': {
      const winRate = (which: 0 | 1) =>
        tf.tensor1d(slice.units.map(({ item }) => part.pairs[item]!.winRates![which]));
      return sppo(responses, { ...pairs, chosenWinRate: winRate(0), rejectedWinRate: winRate(1) }, objective);
    }
  }
}
