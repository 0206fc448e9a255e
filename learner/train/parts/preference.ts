/** Preference part: losses on pairs of responses against a frozen reference, as the mean over the step's pairs. A pair is never split. */
import { wrongInput } from '../../../core/errors.ts';
import type { PreferencePair, PreferencePart } from '../../../core/plan/training-plan.ts';
import { dpo } from '../../losses/dpo.ts';
import { ipo } from '../../losses/ipo.ts';
import { kto } from '../../losses/kto.ts';
import { nll } from '../../losses/nll.ts';
import { orpo } from '../../losses/orpo.ts';
import type { PairLoss, Pairs, ResponseTokens, ScoredResponses } from '../../losses/pairs.ts';
import { simpo } from '../../losses/simpo.ts';
import { spin } from '../../losses/spin.ts';
import { sppo } from '../../losses/sppo.ts';
import { tReg } from '../../losses/t-reg.ts';
import * as tf from '../../tfjs.ts';
import {
  expectPerToken,
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
    pairs.map((pair, i) => {
      expectPair(pair, i, objective.kind);
      return [pair.chosen, pair.rejected];
    }),

  /** The token weights are for the NLL term that is added to the pair loss; they are 0 on rejected responses. */
  weights({ weight, sft = 0, pairs }, units) {
    const chosenTokens = sumOf(units, ({ sequences }) => sequences[0]!.ids.length);
    return units.map(({ item, sequences: [chosen, rejected] }) => {
      const own = weight * (pairs[item]!.weight ?? 1);
      const share = (own * sft) / chosenTokens;
      return {
        tokens: [...chosen!.ids.map(() => share), ...rejected!.ids.map(() => 0)],
        unit: own / units.length,
      };
    });
  },

  loss(part, slice) {
    const logprobs = slice.outputs[0] as tf.Tensor1D;
    const { loss: pairs, margins } = pairLoss(part, logprobs, slice);
    const loss = part.sft ? tf.add(pairs, nll({ logprobs, weights: tokenWeights(slice) }).loss) : pairs;
    return { loss: loss as tf.Scalar, counted: tf.sum(tf.cast(tf.greater(margins, 0), 'float32')) };
  },
};

/** Numbers that pairs have for the tokens of both of their responses [T]; `otherwise` where a pair has none. */
const perToken = (
  { pairs }: PreferencePart,
  { units }: PartSlice,
  numbersOf: (pair: PreferencePair) => readonly [readonly number[], readonly number[]] | undefined,
  otherwise: number,
): tf.Tensor1D =>
  packed(
    units.flatMap(({ item, sequences }) => {
      const numbers = numbersOf(pairs[item]!);
      return sequences.map(({ ids }, i) => numbers?.[i] ?? ids.map(() => otherwise));
    }),
  );

const HAVE_OFFSETS = ['dpo', 'spin', 't-reg'];

function expectPair(pair: PreferencePair, i: number, kind: PreferencePart['objective']['kind']): void {
  const { chosen, rejected, winRates, spans, offset, weight = 1, tokenRewards } = pair;
  if (kind === 'sppo' && !winRates)
    throw wrongInput('training-plan.win-rates', `Pair ${i} has no win rates.`, {
      expected: 'winRates [chosen, rejected], each from 0 to 1, which SPPO regresses to',
    });
  for (const [s, sequence] of [chosen, rejected].entries()) {
    if (spans) expectPerToken('span entries', i, spans[s]!, sequence);
    if (tokenRewards) expectPerToken('token rewards', i, tokenRewards[s]!, sequence);
  }
  if (spans) expectSpans(spans, i);
  if (kind === 't-reg' && !tokenRewards)
    throw wrongInput('training-plan.token-rewards', `Pair ${i} has no token rewards.`, {
      expected: 'tokenRewards [chosen, rejected] with a number for each token, by which T-REG weighs it',
      next: 'Without such rewards take the objective `dpo`.',
    });
  if (tokenRewards?.flat().some((reward) => !Number.isFinite(reward)))
    throw wrongInput('training-plan.token-rewards', `A token reward of pair ${i} is no finite number.`, {
      expected: 'finite numbers',
    });
  if (offset !== undefined && !(Number.isFinite(offset) && HAVE_OFFSETS.includes(kind)))
    throw wrongInput('training-plan.offset', `Pair ${i} has the offset ${offset} under ${kind}.`, {
      expected: `a finite number of nats, under one of ${HAVE_OFFSETS.join(', ')}`,
    });
  if (!(weight >= 0 && Number.isFinite(weight)))
    throw wrongInput('training-plan.weight', `Pair ${i} has the weight ${weight}.`, {
      expected: 'a finite number, at least 0',
    });
}

function expectSpans(spans: readonly (readonly number[])[], i: number): void {
  const entries = spans.flat();
  const other = entries.find((entry) => entry !== 0 && entry !== 1);
  if (other !== undefined)
    throw wrongInput('training-plan.spans', `The spans of pair ${i} have the entry ${other}.`, {
      expected: '1 for a token by which the pair is compared and 0 for any other',
    });
  if (!entries.includes(1))
    throw wrongInput('training-plan.spans', `The spans of pair ${i} leave no token to compare it by.`, {
      expected: 'a 1 in at least one of its two responses',
      next: 'Leave the pair out.',
    });
}

function pairLoss(part: PreferencePart, logprobs: tf.Tensor1D, slice: PartSlice): PairLoss {
  const { objective } = part;
  const tokens: ResponseTokens = {
    logprobs,
    mask: perToken(part, slice, ({ spans }) => spans, 1),
    sequences: sequencesOf(slice.units),
  };
  const indices = (offset: number) =>
    tf.tensor1d(
      slice.units.map((_, i) => 2 * i + offset),
      'int32',
    );
  const given = slice.units.map(({ item }) => part.pairs[item]!);
  const pairs: Pairs = {
    chosen: indices(0),
    rejected: indices(1),
    pairWeights: unitWeights(slice),
    ...(given.some(({ offset }) => offset)
      ? { offsets: packed([given.map(({ offset = 0 }) => offset)]) }
      : {}),
  };
  if (objective.kind === 'simpo') return simpo(tokens, pairs, objective);
  if (objective.kind === 'orpo') return orpo(tokens, pairs, objective);
  const reference = packed(slice.scores.map((score) => score.reference(part.reference)));
  const responses: ScoredResponses = { ...tokens, reference };
  switch (objective.kind) {
    case 'kto':
      return kto(responses, pairs, objective);
    case 'dpo':
      return dpo(responses, pairs, objective);
    case 't-reg': {
      const tokenRewards = perToken(part, slice, (pair) => pair.tokenRewards, 0);
      return tReg({ ...responses, tokenRewards }, pairs, objective);
    }
    case 'ipo': {
      const { tau: beta, level = 'mean' } = objective;
      return ipo(responses, pairs, { beta, level });
    }
    case 'spin':
      return spin(responses, pairs, objective);
    case 'sppo': {
      const winRate = (which: 0 | 1) => tf.tensor1d(given.map(({ winRates }) => winRates![which]));
      return sppo(responses, { ...pairs, chosenWinRate: winRate(0), rejectedWinRate: winRate(1) }, objective);
    }
  }
}
