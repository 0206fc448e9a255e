/** The claim of DeepSeekMath-V2: meta-verification makes named issues real, the term of honesty makes authors honest, and both make proofs better. */
import type { Claim } from '../../core/claims/claim.ts';
import {
  coinArm,
  difference,
  doesNotRise,
  endsAbove,
  endsNoLower,
  formatArm,
  POINTS,
  rises,
} from '../../core/claims/conditions.ts';
import { atEnd } from '../../core/claims/curves.ts';

export const claim: Claim = {
  description:
    'A verifier that is paid for its score alone names issues that do not exist; one that is also paid by a meta-verifier names real ones, at the same accuracy of its scores. A prover that is paid for an honest analysis of its own proof scores itself as the oracle does, and gains from rounds of proving and self-verification. A verifier that goes on learning from proofs that it labelled by many analyses keeps up with the prover.',
  rounds: 14,
  // Verifier and meta-verifier learn for six.
  quickRounds: 7,
  evaluateEvery: 14,
  tasks: 32,
  pictures: {
    issuePrecision: 'Share of the issues named on a fixed set that are real',
    analysisQuality: 'Mean quality of analyses on a fixed set',
    selfError: 'Mean distance of the provers’ own scores from exact ones',
    sequential8: 'Held-out accuracy after up to eight rounds of self-verification',
  },
  arms: [
    { name: 'dsmath-v2', description: 'as published' },
    { name: 'score only', variant: 'score-only', description: 'analyses are paid for their score alone' },
    { name: 'coin meta', variant: 'coin-meta', description: 'a coin stands in for the meta-verifier' },
    { name: 'no honesty', variant: 'no-honesty', description: 'provers are paid the verifier’s score alone' },
    { name: 'no labels', variant: 'no-labels', description: 'no proof is labelled by many analyses' },
    {
      name: 'imitation',
      variant: 'imitation',
      description: 'the verifier is fine-tuned on its analyses that earn 1 instead of being reinforced',
    },
    {
      name: 'frozen verifier',
      freeze: ['judge'],
      description: 'the verifier stays at version 0, and the prover learns from it',
    },
    coinArm('scores of proofs and analyses are drawn by lot'),
    formatArm('whatever is in form is paid'),
  ],
  partners: [{ partner: 'verifier', trained: 'dsmath-v2', frozen: 'frozen verifier' }],
  conditions: [
    endsAbove('dsmath-v2', 'score only', 0.1, 'issuePrecision'),
    endsAbove('dsmath-v2', 'coin meta', 0.1, 'issuePrecision'),
    endsNoLower('dsmath-v2', 'score only', 0.03, 'scoreAccuracy'),
    {
      description:
        'distance of the provers’ own scores from exact ones at the end, no honesty above dsmath-v2',
      measure: difference('no honesty', 'dsmath-v2', 'selfError'),
      atLeast: POINTS,
    },
    {
      description:
        'dsmath-v2: accuracy after eight rounds of self-verification above that after one, at the end',
      measure: (r, s) => atEnd(r, 'dsmath-v2', s, 'sequential8') - atEnd(r, 'dsmath-v2', s, 'sequential1'),
      atLeast: POINTS,
    },
    endsAbove('dsmath-v2', 'no labels', 0.02, 'ownScoreAccuracy'),
    rises('dsmath-v2', POINTS),
    doesNotRise('random'),
    doesNotRise('random', 0.03, 'issuePrecision'),
    doesNotRise('format'),
  ],
  observations: [
    endsAbove('dsmath-v2', 'imitation', POINTS, 'issuePrecision'),
    endsAbove('dsmath-v2', 'frozen verifier'),
    {
      description: 'accuracy after eight rounds of self-verification at the end, dsmath-v2 above no honesty',
      measure: difference('dsmath-v2', 'no honesty', 'sequential8'),
      atLeast: POINTS,
    },
  ],
};
