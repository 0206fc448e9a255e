/** The claim of RLP: thoughts that are paid for what they tell about the next token make it likelier, more than as many tokens of plain pretraining do. */
import type { Claim } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { atEnd, early, lately } from '../../core/claims/curves.ts';

export const claim: Claim = {
  description:
    'A policy that is paid for the gain in likelihood that its thoughts bring predicts digits that can be worked out more often than one that spends as many tokens on next-token prediction, whether that one thinks or not. Thoughts come to be worth something where there is something to work out, and nothing where there is not.',
  // An earlier attempt had 30 to 37.
  seeds: [38, 39, 40, 41, 42, 43, 44, 45],
  rounds: 12,
  evaluateEvery: 12,
  pictures: {
    sampled: 'Digits predicted after a thought, sampled at temperature 1',
    accuracy: 'Digits predicted after a thought, greedy',
    plainSampled: 'Digits predicted without a thought, sampled',
    plain: 'Digits predicted without a thought, greedy',
    exactThoughts: 'Greedy thoughts that go through all running totals',
  },
  arms: [
    { name: 'rlp', description: 'as published' },
    { name: 'nll', variant: 'nll', description: 'next-token prediction on as many tokens' },
    {
      name: 'uncentred',
      variant: 'uncentred',
      seedCount: 4,
      description: 'the gain over the slower copy is the advantage, other thoughts are not compared with',
    },
    {
      name: 'frozen baseline',
      variant: 'frozen-baseline',
      seedCount: 4,
      description: 'the gain over the start policy is the advantage',
    },
    {
      name: 'no baseline',
      variant: 'no-baseline',
      seedCount: 4,
      description: 'the log-likelihood after the thought is the advantage',
    },
    coinArm('a coin pays thoughts'),
    formatArm('any well-formed thought is paid'),
  ],
  conditions: [
    rises('rlp', POINTS),
    endsAbove('rlp', 'nll'),
    {
      description: 'sampled accuracy at the end, rlp after a thought above nll without one',
      measure: (r, s) => atEnd(r, 'rlp', s, 'sampled') - atEnd(r, 'nll', s, 'plainSampled'),
      atLeast: POINTS,
    },
    {
      description: 'rlp: sampled accuracy at the end, after a thought above that without one',
      measure: (r, s) => atEnd(r, 'rlp', s, 'sampled') - atEnd(r, 'rlp', s, 'plainSampled'),
      atLeast: POINTS,
    },
    endsAbove('uncentred', 'frozen baseline'),
    endsAbove('uncentred', 'no baseline'),
    {
      description: 'rlp: gain where digits can be worked out, nats, last five rounds above the first three',
      measure: (r, s) => lately(r, 'rlp', s, 'gain') - early(r, 'rlp', s, 'gain'),
      atLeast: 0.1,
    },
    {
      description: 'rlp: gain where digits follow from nothing, nats, last five rounds',
      measure: (r, s) => lately(r, 'rlp', s, 'noiseGain'),
      atMost: 0.05,
      control: true,
    },
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [rises('rlp', POINTS, 'accuracy'), endsAbove('rlp', 'uncentred', 0.02)],
};
