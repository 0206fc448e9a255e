/** The claim of TTCS: variants of test questions that a solver mostly fails teach it where its own majority on them does not. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

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
  diagnosis:
    'Nothing sets TTCS apart from TTRL here, and the one figure that was to explain a difference points the other way. Sampled accuracy rises by 10.6 points (4.1 to 17.1), by 9.6 with the test questions alone and by 11.0 with chains drawn at random; greedy accuracy does not rise in any arm, so that all of it is sharpening. A synthesizer that is paid for split votes moves to longer chains, from 3.7 sums in the first rounds to 4.2 in the last, and there the solver’s votes are split between the right reading and a misreading that wins: 60 % of the labels of variants are exact at first and 44 % at the end, where 64 % stay exact for chains drawn at random. A split vote says that a question is at the edge only where wrong answers differ from one another, and this start, by design, makes the same mistake again and again. The discount does what it says, since variants are less like their source than without it by 0.14 of BLEU, but without it they do not become copies either: copies are 1 to 3 % in both arms. The pilot’s lead of 12 points over TTRL was one seed. Of answers that are equally frequent the reward draws one as the label and the figures take the first, so that the shares of exact labels are partly of labels that were not the ones paid.',
};
