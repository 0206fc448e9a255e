/** The claim of SCMA: priced by importance, tokens of filler go and totals stay; priced alike, both go. */
import type { Claim, Measure } from '../../core/claims/claim.ts';
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
import { lately } from '../../core/claims/curves.ts';

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
    filler: 'Tokens of filler in a held-out answer',
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
};
