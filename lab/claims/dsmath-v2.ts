/**
 * The claim of DeepSeekMath-V2: with meta-verification the issues that a verifier names are real ones, the reward for honest self-analysis makes
 * provers honest, and both make proofs better.
 */
import type { Claim } from '../rule/claim.ts';
import {
  coinArm,
  difference,
  doesNotRise,
  endsAbove,
  endsNoLower,
  formatArm,
  POINTS,
  rises,
} from '../rule/conditions.ts';
import { atEnd } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'A verifier that is paid for its score alone names issues that do not exist; one that is also paid by a meta-verifier names real ones, at the same accuracy of its scores. A prover that is paid for an honest analysis of its own proof scores itself as the oracle does, and gains from rounds of proving and self-verification. A verifier that goes on learning from proofs that it labelled by many analyses keeps up with the prover.',
  rounds: 14,
  // Verifier and meta-verifier are trained for the first six rounds.
  quickRounds: 7,
  evaluateEvery: 14,
  tasks: 32,
  pictures: {
    issuePrecision: 'Share of the issues named on a fixed set that are real',
    analysisQuality: 'Mean quality of analyses on a fixed set',
    selfError: 'Mean distance of the provers’ own scores from exact ones',
    sequential8: 'Held-out accuracy after up to eight rounds of self-verification',
  },
  along: {
    title: 'Held-out accuracy by rounds of sequential self-verification',
    xTitle: 'at most so many rounds of proving and self-verification',
    at: { sequential1: 1, sequential2: 2, sequential4: 4, sequential8: 8 },
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
    formatArm('whatever is well-formed is paid'),
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
  diagnosis:
    'Of ten conditions one holds: the prover learns, from 25.4 to 70.2 % sampled. Its greedy accuracy is 100 % from the start, so this is sharpening and no skill. What the paper adds to a verifier that is paid for its score buys nothing at this size. The start already names real issues in 71 % of cases and loses by training in every arm: with the meta-verifier 65.4 % are real at the end, without it 65.5 %. Honest analyses of one’s own proof, which are paid for being right about it, move the provers’ scores of themselves no closer to the truth (a distance of 0.20, without that pay 0.17), and the prover is better without them: 7 points after eight rounds of self-verification. Eight rounds of self-verification are worth 4.7 points over one, a little under the bound of 5. Labels made by many analyses change nothing that could be measured. A verifier that learns is worth 1.8 points of sampled accuracy over one that is frozen, too little for the bound, but on each of eight seeds; read at equal tokens it costs 4.7. The controls show how easy the prover’s gain is: with pay by lot it rises by 6 points, with pay for form by 13. A verifier that had something to learn, from a start that names fewer real issues, would be the place to ask again.',
};
