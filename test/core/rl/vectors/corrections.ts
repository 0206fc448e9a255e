/** Reference vectors of KL estimates, importance correction and staleness; both versions where there are two. */
import * as v from 'valibot';
import {
  admissionCapacity,
  importanceRatios,
  type KlEstimator,
  keepInBand,
  klTokens,
  logRatios,
  maskedFraction,
  offPolicyMask,
  proportionalKlWeight,
  type RatioLevel,
  truncatedWeights,
} from '../../../../core/rl/corrections/index.ts';
import * as device from '../../../../learner/losses/importance.ts';
import { klToReference } from '../../../../learner/losses/kl.ts';
import * as tf from '../../../../learner/tfjs.ts';
import { expectClose } from '../../../learner/losses/finite-difference.ts';
import { numbers, numbersOrNan, vectorCase } from './case.ts';

const klInput = v.object({ new: numbersOrNan, ref: numbersOrNan, mask: numbers });

function expectKl(estimator: KlEstimator, input: v.InferOutput<typeof klInput>, expected: number[]): void {
  expectClose(klTokens(estimator, input.new, input.ref, input.mask), expected, 1e-8);
  const { loss, perToken } = klToReference(
    {
      logprobs: tf.tensor1d(input.new),
      reference: tf.tensor1d(input.ref),
      weights: tf.tensor1d(input.mask),
    },
    { estimator },
  );
  const weighted = Array.from(perToken.dataSync(), (value, t) => value * input.mask[t]!);
  expectClose(weighted, expected, 1e-6);
  expectClose(loss.dataSync(), [expected.reduce((a, b) => a + b, 0)], 1e-6);
}

/** The same tokens of one sequence for the plain and for the tfjs version. */
function oneSequence(logratio: number[], mask = logratio.map(() => 1)) {
  const sequence = logratio.map(() => 0);
  return {
    plain: { logRatios: logratio, mask, sequence },
    tensors: {
      trainer: tf.tensor1d(logratio.map((log) => log - 2)),
      sampler: tf.fill([logratio.length], -2) as tf.Tensor1D,
      weights: tf.tensor1d(mask),
      sequences: { index: tf.tensor1d(sequence, 'int32'), count: 1 },
    },
  };
}

function expectWeights(
  { logratio, mask, cap }: { logratio: number[]; mask?: number[] | undefined; cap: number },
  level: RatioLevel,
  expected: number[],
): void {
  const { plain, tensors } = oneSequence(logratio, mask);
  expectClose(truncatedWeights(plain, level, cap), expected, 1e-8);
  expectClose(device.truncatedWeights(tensors, level, cap).dataSync(), expected, 1e-6);
}

const tisInput = v.object({ logratio: numbers, mask: v.optional(numbers), cap: v.number() });
const band = v.tuple([v.number(), v.number()]);

export const correctionCases = [
  vectorCase(
    /^kl$/,
    klInput,
    v.object({ k1: numbers, abs: numbers, k2: numbers, k3: numbers }),
    (input, expected) => {
      for (const estimator of ['k1', 'abs', 'k2', 'k3'] as const)
        expectKl(estimator, input, expected[estimator]);
    },
  ),
  vectorCase(/^kl\.nan_masked$/, klInput, v.object({ k1: numbers }), (input, expected) =>
    expectKl('k1', input, expected.k1),
  ),
  vectorCase(
    /^adaptive_kl$/,
    v.object({
      init: v.number(),
      target: v.number(),
      horizon: v.number(),
      current: v.number(),
      n: v.number(),
    }),
    v.number(),
    ({ init, target, horizon, current, n }, expected) =>
      expectClose(
        [proportionalKlWeight(init, { kl: current, target, samples: n, horizon })],
        [expected],
        1e-12,
      ),
  ),
  vectorCase(/^tis\.token$/, tisInput, numbers, (input, expected) => expectWeights(input, 'token', expected)),
  vectorCase(/^tis\.seq(\.cap|\.mask)?$/, tisInput, v.number(), (input, expected) =>
    // one weight for the sequence; 1 stands at the masked places
    expectWeights(
      input,
      'sequence',
      input.logratio.map((_, t) => (input.mask?.[t] === 0 ? 1 : expected)),
    ),
  ),
  vectorCase(
    /^seqmask\.geo$/,
    v.object({ band, cases: v.array(v.string()) }),
    v.array(v.picklist(['keep', 'reject'])),
    (input, expected) => {
      for (const [i, text] of input.cases.entries()) {
        const ratio = Number(text.split(' ').at(-1));
        // two tokens whose mean log-ratio is that of the case
        const { plain, tensors } = oneSequence([Math.log(ratio) + 0.3, Math.log(ratio) - 0.3]);
        const keep = expected[i] === 'keep' ? 1 : 0;
        expectClose(keepInBand(plain, 'geometric', input.band), [keep, keep]);
        expectClose(device.keepInBand(tensors, 'geometric', input.band).dataSync(), [keep, keep]);
      }
    },
  ),
  vectorCase(
    /^seqmask\.product$/,
    v.object({ logratio: numbers, band }),
    v.object({ ratio: v.number(), keep: v.number() }),
    (input, expected) => {
      const { plain, tensors } = oneSequence(input.logratio);
      const keep = input.logratio.map(() => expected.keep);
      expectClose([importanceRatios(plain, 'sequence')[0]!], [expected.ratio], 1e-8);
      expectClose(keepInBand(plain, 'sequence', input.band), keep);
      expectClose(device.keepInBand(tensors, 'sequence', input.band).dataSync(), keep);
    },
  ),
  vectorCase(
    /^tis\.rejection$/,
    v.object({ old: v.number(), rollout: numbers, T: v.number(), cap: v.number(), band }),
    v.object({ weights: numbers, keep: numbers, masked_fraction: v.number() }),
    (input, expected) => {
      const sequence = input.rollout.flatMap((_, i) => new Array<number>(input.T).fill(i));
      const sampler = sequence.map((i) => input.rollout[i]!);
      const trainer = sequence.map(() => input.old);
      const mask = sequence.map(() => 1);
      const tokens = { logRatios: logRatios(trainer, sampler), mask, sequence };
      const keep = keepInBand(tokens, 'token', input.band);
      expectClose(
        truncatedWeights(tokens, 'token', input.cap),
        sequence.map((i) => expected.weights[i]!),
        1e-8,
      );
      expectClose(
        keep,
        sequence.map((i) => expected.keep[i]!),
      );
      expectClose([maskedFraction(keep, mask)], [expected.masked_fraction]);
    },
  ),
  vectorCase(
    /^offpolicy_mask$/,
    v.object({ adv: numbers, kl: numbers, threshold: v.number() }),
    numbers,
    ({ adv, kl, threshold }, expected) => {
      expectClose(offPolicyMask(adv, kl, threshold), expected);
      // on tensors: sequences of one token whose mean log(old/π) is the KL
      const keep = device.offPolicyMask(
        {
          logprobs: tf.tensor1d(kl.map((value) => -1 - value)),
          oldLogprobs: tf.fill([kl.length], -1),
          advantages: tf.tensor1d(adv),
          weights: tf.ones([kl.length]),
          sequences: {
            index: tf.tensor1d(
              kl.map((_, i) => i),
              'int32',
            ),
            count: kl.length,
          },
        },
        threshold,
      );
      expectClose(keep.dataSync(), expected);
    },
  ),
  vectorCase(
    /^staleness\./,
    v.object({
      max_concurrent: v.number(),
      running: v.number(),
      accepted: v.number(),
      eta: v.number(),
      version: v.number(),
      batch: v.number(),
    }),
    v.number(),
    ({ max_concurrent, eta, ...rest }, expected) =>
      expectClose(
        [admissionCapacity({ ...rest, maxConcurrent: max_concurrent, maxBehind: eta })],
        [expected],
      ),
  ),
];
