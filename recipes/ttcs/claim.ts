/** The claim of TTCS: variants of test questions that a solver mostly fails teach it where its own majority on them does not. */
import type { Claim } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { lately } from '../../core/claims/curves.ts';

export const claim: Claim = {
  description:
    'On test questions that the start policy answers right one time in four, and of whose majorities most are wrong, training on variants beside them raises accuracy, and training on the questions alone does not. Variants that nobody pays for being different become copies, and chains drawn at random help less than variants.',
  rounds: 12,
  evaluateEvery: 6,
  arms: [
    { name: 'ttcs', description: 'as published' },
    {
      name: 'ttrl',
      variant: 'ttrl',
      description: 'test questions alone, each with its majority as the label',
    },
    {
      name: 'no discount',
      variant: 'no-discount',
      description: 'variants that are close to their source are paid as others are',
    },
    {
      name: 'random variants',
      variant: 'random-variants',
      description: 'chains drawn at random take the place of variants',
    },
    coinArm('a coin pays answers'),
    formatArm('any well-formed answer is paid'),
  ],
  conditions: [
    rises('ttcs', POINTS),
    endsAbove('ttcs', 'ttrl'),
    endsAbove('ttcs', 'random variants'),
    {
      description: 'share of exact labels among those trained on, last five rounds, ttcs above ttrl',
      measure: (r, s) => lately(r, 'ttcs', s, 'trainedLabels') - lately(r, 'ttrl', s, 'trainedLabels'),
      atLeast: 0.1,
    },
    {
      description: 'BLEU of a variant and its test question, last five rounds, no discount above ttcs',
      measure: (r, s) => lately(r, 'no discount', s, 'likeness') - lately(r, 'ttcs', s, 'likeness'),
      atLeast: 0.1,
    },
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [endsAbove('ttcs', 'no discount'), endsAbove('ttcs', 'ttrl', POINTS, 'accuracy')],
};
