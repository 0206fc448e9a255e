/** The claim of SCMA: priced by importance, tokens of filler go and totals stay; priced alike, both go. */
import type { Claim, Measure } from '../rule/claim.ts';
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
import { lately } from '../rule/curves.ts';

const LAST = 3;
/** How much more important totals are to the readers than filler, over the last three rounds. */
const apart =
  (arm: string): Measure =>
  (r, s) =>
    lately(r, arm, s, 'totalImportance', LAST) - lately(r, arm, s, 'fillerImportance', LAST);

export const claim: Claim = {
  description:
    'Where a token costs the less the more important a scorer calls its chunk, a reasoner leaves out filler and goes on stating its totals; where every token costs the same it leaves out totals too and is exact less often. Scores that are shuffled among answers do not do the same, and readers that learn with the reasoner go on telling totals from filler.',
  rounds: 16,
  evaluateEvery: 8,
  pictures: {
    sampled: 'Sampled accuracy on held-out tasks',
    kept: 'Share of the totals that a held-out answer states',
  },
  arms: [
    { name: 'scma', description: 'as published' },
    { name: 'exact', variant: 'exact', description: 'exact answers alone are paid' },
    { name: 'length', variant: 'length', description: 'every token costs the same' },
    {
      name: 'shuffled importance',
      variant: 'shuffled-importance',
      description: 'scores change places among the chunks of all answers to a task',
    },
    {
      name: 'frozen readers',
      freeze: ['segmenter', 'scorer'],
      description: 'segmenter and scorer stay at version 0',
    },
    coinArm('a coin is paid, less what tokens cost'),
    formatArm('any well-formed answer is paid, less what its tokens cost'),
  ],
  partners: [{ partner: 'segmenter and scorer', trained: 'scma', frozen: 'frozen readers' }],
  conditions: [
    {
      description: 'tokens of filler in an answer at the end, exact above scma',
      measure: difference('exact', 'scma', 'filler'),
      atLeast: 2,
    },
    {
      description: 'tokens of filler in an answer at the end, shuffled importance above scma',
      measure: difference('shuffled importance', 'scma', 'filler'),
      atLeast: 1,
    },
    endsAbove('scma', 'length', POINTS, 'kept'),
    endsAbove('scma', 'length'),
    endsNoLower('scma', 'exact', 0.03),
    {
      description: 'scma: importance of totals above that of filler, last three rounds',
      measure: apart('scma'),
      atLeast: 1,
    },
    rises('scma', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    endsAbove('scma', 'frozen readers'),
    {
      description: 'tokens of filler in an answer at the end, frozen readers above scma',
      measure: difference('frozen readers', 'scma', 'filler'),
      atLeast: 1,
    },
  ],
  gap: {
    label: 'price of tokens',
    meaning:
      'The reward is that of an exact answer less a price for each token before it. The gap rises where answers get shorter and where the scorer calls more of them important, and does not tell the two apart.',
  },
  diagnosis:
    'A price by importance does what it is meant for, and the roles that learn to set it undo it. Tokens of filler go from 12.2 to 3.2 where the answer’s reward alone leaves 13.1, and answers state 63 % of their totals after 66 %, while a price by length leaves 12 %, with 17 points less of greedy accuracy. But the scorer earns what its answer earns, so that calling filler important pays: the mean score of filler goes from 2.4 to 4.0, that of totals from 3.9 to 4.7, and where form alone is paid to 4.7 and 4.9. Readers that stay at version 0 keep their scores (2.2 and 4.3) and leave 1.4 tokens of filler at the same accuracy. Shuffled scores, which are worth no more than their mean, remove nearly as much filler (3.8 tokens): most of what shortens is that tokens cost something, and importance decides what is spared. Sampled accuracy gains 2 points (0.8 to 3.2), and 9 with exact answers alone, which teach to state more totals (85 %); greedy accuracy rises by 8.3 points, as it does with frozen readers and with shuffled scores, because a greedy answer of the start is often lost in filler. So compression here does not come with the gain in accuracy that the paper reports.',
};
