/** Reference vectors of policy and preference objectives, on the tfjs functions. */
import * as v from 'valibot';
import { aggregationWeights } from '../../../../core/rl/aggregation.ts';
import { cispo } from '../../../../learner/losses/cispo.ts';
import { dpo } from '../../../../learner/losses/dpo.ts';
import { dppoTv } from '../../../../learner/losses/dppo-tv.ts';
import { gspo } from '../../../../learner/losses/gspo.ts';
import { truncatedWeights } from '../../../../learner/losses/importance.ts';
import { ipo } from '../../../../learner/losses/ipo.ts';
import { ppoClip } from '../../../../learner/losses/ppo-clip.ts';
import { sapo } from '../../../../learner/losses/sapo.ts';
import { meanPerSequence } from '../../../../learner/losses/sequences.ts';
import type { PolicyTokens } from '../../../../learner/losses/tokens.ts';
import * as tf from '../../../../learner/tfjs.ts';
import { backprop, expectClose, ofVector } from '../../../learner/losses/finite-difference.ts';
import { numbers, pack, rows, vectorCase } from './case.ts';

/** Tokens of one step with weight 1 each, so that the loss is the sum. */
const tokens = (
  logprobs: number[],
  old: number[],
  advantages: number[],
  weights?: number[],
): PolicyTokens => ({
  logprobs: tf.tensor1d(logprobs),
  oldLogprobs: tf.tensor1d(old),
  advantages: tf.tensor1d(advantages),
  weights: tf.tensor1d(weights ?? logprobs.map(() => 1)),
});

const sequences = (index: number[]) => ({
  index: tf.tensor1d(index, 'int32'),
  count: Math.max(...index) + 1,
});

/** One pair whose first response is better than the reference by `margin` nats in all, over `length` tokens. */
const pairOf = (margin: number, length: number) => ({
  responses: {
    logprobs: tf.fill([length + 1], margin / length) as tf.Tensor1D,
    reference: tf.tensor1d([...new Array<number>(length).fill(0), margin / length]),
    mask: tf.ones([length + 1]) as tf.Tensor1D,
    sequences: sequences([...new Array<number>(length).fill(0), 1]),
  },
  pairs: {
    chosen: tf.tensor1d([0], 'int32'),
    rejected: tf.tensor1d([1], 'int32'),
    pairWeights: tf.tensor1d([1]),
  },
});

const clipInput = v.object({
  adv: numbers,
  old: numbers,
  new: numbers,
  rollout: v.optional(numbers),
  eps: v.number(),
  c: v.optional(v.number()),
});
const perTokenAndSum = v.object({ per_token: numbers, sum: v.number() });
const clip = (eps: number) => ({ clipLow: eps, clipHigh: eps });

export const lossCases = [
  vectorCase(/^ppo\.(clip|dual)$/, clipInput, perTokenAndSum, (input, expected) => {
    const options = { ...clip(input.eps), ...(input.c === undefined ? {} : { dualClip: input.c }) };
    const { loss, perToken } = ppoClip(tokens(input.new, input.old, input.adv), options);
    expectClose(perToken.dataSync(), expected.per_token);
    expectClose(loss.dataSync(), [expected.sum]);
  }),
  vectorCase(
    /^ppo\.dual\.slime$/,
    v.object({ ratios: numbers, adv: numbers, eps: v.number(), c: v.number() }),
    numbers,
    ({ ratios, adv, eps, c }, expected) => {
      const old = ratios.map(() => -1.5);
      const logprobs = ratios.map((ratio) => -1.5 + Math.log(ratio));
      const { perToken } = ppoClip(tokens(logprobs, old, adv), { ...clip(eps), dualClip: c });
      expectClose(perToken.dataSync(), expected);
    },
  ),
  vectorCase(
    /^ppo\.3x3\.agg$/,
    v.object({ new: rows, old: rows, adv: rows, mask: rows, eps: v.number() }),
    v.object({ token_mean: v.number(), seq_mean: v.number() }),
    (input, expected) => {
      const { flat: mask, sequence } = pack(input.mask);
      const run = (mode: 'token-mean' | 'seq-mean-token-mean'): tf.Scalar => {
        const weights = aggregationWeights({ mode }, { mask, sequence });
        return ppoClip(tokens(input.new.flat(), input.old.flat(), input.adv.flat(), weights), clip(input.eps))
          .loss;
      };
      expectClose(run('token-mean').dataSync(), [expected.token_mean], 1e-6);
      expectClose(run('seq-mean-token-mean').dataSync(), [expected.seq_mean], 1e-6);
    },
  ),
  vectorCase(
    /^ppo\.with_tis$/,
    v.object({ ...v.required(clipInput, ['rollout']).entries, cap: v.number() }),
    v.object({ sum_without: v.number(), sum_with: v.number(), weight: numbers }),
    (input, expected) => {
      const plain = tokens(input.new, input.old, input.adv);
      const correction = truncatedWeights(
        {
          trainer: plain.oldLogprobs,
          sampler: tf.tensor1d(input.rollout),
          weights: plain.weights,
          sequences: sequences([0, 0, 0]),
        },
        'token',
        input.cap,
      );
      expectClose(correction.dataSync(), expected.weight);
      expectClose(ppoClip(plain, clip(input.eps)).loss.dataSync(), [expected.sum_without]);
      expectClose(ppoClip({ ...plain, correction }, clip(input.eps)).loss.dataSync(), [expected.sum_with]);
    },
  ),
  vectorCase(/^cispo(\.rollout_anchor)?$/, clipInput, perTokenAndSum, (input, expected) => {
    const anchor = input.rollout ?? input.old;
    const { loss, perToken } = cispo(tokens(input.new, anchor, input.adv), clip(input.eps));
    expectClose(perToken.dataSync(), expected.per_token);
    expectClose(loss.dataSync(), [expected.sum]);
  }),
  vectorCase(
    /^cispo\.slime\./,
    v.object({ ratios: numbers, adv: numbers, logp: numbers, eps: v.tuple([v.number(), v.number()]) }),
    v.object({ coef: numbers, loss: numbers, grad: numbers }),
    ({ ratios, adv, logp, eps: [clipLow, clipHigh] }, expected) => {
      const old = logp.map((logprob, t) => logprob - Math.log(ratios[t]!));
      const run = (logprobs: tf.Tensor1D) =>
        cispo({ ...tokens(logp, old, adv), logprobs }, { clipLow, clipHigh });
      expectClose(run(tf.tensor1d(logp)).perToken.dataSync(), expected.loss);
      const gradient = backprop(
        ofVector((logprobs) => run(logprobs).loss),
        logp,
      );
      expectClose(gradient, expected.grad);
      expectClose(
        gradient.map((g, t) => -g / adv[t]!),
        expected.coef,
      );
    },
  ),
  vectorCase(
    /^gspo\.3x8$/,
    v.object({ adv: rows, new: rows, old: v.number(), mask: rows, eps: v.number() }),
    v.object({
      ppo_sum: v.number(),
      gspo_sum: v.number(),
      seq_ratio: numbers,
      gspo_seq_mean_token_mean: v.number(),
    }),
    (input, expected) => {
      const { flat: mask, sequence } = pack(input.mask);
      const old = mask.map(() => input.old);
      const withWeights = (weights: number[]) => ({
        ...tokens(input.new.flat(), old, input.adv.flat(), weights),
        sequences: sequences(sequence),
      });
      const summed = withWeights(mask);
      expectClose(ppoClip(summed, clip(input.eps)).loss.dataSync(), [expected.ppo_sum]);
      expectClose(gspo(summed, clip(input.eps)).loss.dataSync(), [expected.gspo_sum]);
      const ratios = tf.exp(
        meanPerSequence(tf.sub(summed.logprobs, summed.oldLogprobs), summed.weights, summed.sequences),
      );
      expectClose(ratios.dataSync(), expected.seq_ratio);
      const averaged = withWeights(aggregationWeights({ mode: 'seq-mean-token-mean' }, { mask, sequence }));
      expectClose(gspo(averaged, clip(input.eps)).loss.dataSync(), [expected.gspo_seq_mean_token_mean]);
    },
  ),
  vectorCase(
    /^sapo$/,
    v.object({ adv: numbers, logratio: numbers, tau_pos: v.number(), tau_neg: v.number() }),
    perTokenAndSum,
    ({ adv, logratio, tau_pos, tau_neg }, expected) => {
      const old = adv.map(() => -1);
      const logprobs = logratio.map((log) => log - 1);
      const { loss, perToken } = sapo(tokens(logprobs, old, adv), {
        tauPositive: tau_pos,
        tauNegative: tau_neg,
      });
      expectClose(perToken.dataSync(), expected.per_token);
      expectClose(loss.dataSync(), [expected.sum]);
    },
  ),
  vectorCase(
    /^dppo_tv\./,
    v.object({ old: numbers, new: numbers, adv: numbers, delta: v.number() }),
    v.object({ mask: numbers, loss_sum: v.number() }),
    (input, expected) => {
      const { loss, perToken, clippedTokens } = dppoTv(tokens(input.new, input.old, input.adv), {
        delta: input.delta,
      });
      expectClose(loss.dataSync(), [expected.loss_sum]);
      expectClose(
        Array.from(perToken.dataSync(), (value) => (value === 0 ? 0 : 1)),
        expected.mask,
      );
      expectClose(clippedTokens.dataSync(), [expected.mask.filter((keep) => keep === 0).length]);
    },
  ),
  vectorCase(
    /^dpo\./,
    v.object({ margin: v.number(), beta: v.optional(v.number(), 0.1) }),
    v.number(),
    ({ margin, beta }, expected) => {
      const { responses, pairs } = pairOf(margin, 4);
      expectClose(dpo(responses, pairs, { beta }).loss.dataSync(), [expected], 1e-6);
    },
  ),
  vectorCase(
    /^ipo\.zero$/,
    v.object({ beta: v.number(), margin_per_token_mean: v.number() }),
    v.number(),
    ({ beta, margin_per_token_mean }, expected) => {
      for (const length of [1, 3, 8]) {
        const { responses, pairs } = pairOf(margin_per_token_mean * length, length);
        expectClose(ipo(responses, pairs, { beta }).loss.dataSync(), [expected], 1e-6);
      }
    },
  ),
];
