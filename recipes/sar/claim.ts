/** SAR’s claim: answers become shorter, and no less exact, by a bonus that does not count tokens. */
import type { Claim, Measure } from '../../core/claims/claim.ts';
import { coinArm, endsAbove, endsNoLower, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { early, lately } from '../../core/claims/curves.ts';

/** Tokens of an answer in the last five rounds, by which one arm's are longer than another's. */
const longer =
  (arm: string, other: string): Measure =>
  (r, s) =>
    lately(r, arm, s, 'length') - lately(r, other, s, 'length');

export const claim: Claim = {
  description:
    'With the bonus answers become shorter than without, and are exact no less often; a plain payment for brevity costs accuracy, and the bonus of another question does not do the same.',
  rounds: 24,
  evaluateEvery: 8,
  pictures: { sampled: 'Sampled accuracy on held-out tasks' },
  arms: [
    { name: 'sar', description: 'as published' },
    { name: 'exact', variant: 'exact', description: 'exact answers alone are paid' },
    { name: 'length', variant: 'length', description: 'the bonus is paid for brevity' },
    {
      name: 'shuffled question',
      variant: 'shuffled-question',
      description: 'the bonus is computed with another question',
    },
    coinArm('a coin is paid beside the bonus', { seedCount: 8 }),
    formatArm('any answer in form is paid beside the bonus', { seedCount: 8 }),
  ],
  conditions: [
    {
      description: 'tokens of an answer, last five rounds, exact above sar',
      measure: longer('exact', 'sar'),
      atLeast: 2,
    },
    {
      description: 'tokens of an answer, last five rounds, shuffled question above sar',
      measure: longer('shuffled question', 'sar'),
      atLeast: 1,
    },
    {
      description: 'bonus of exact answers above that of others, first three rounds of sar',
      measure: (r, s) => early(r, 'sar', s, 'bonusRight') - early(r, 'sar', s, 'bonusWrong'),
      atLeast: 0.02,
    },
    endsNoLower('sar', 'exact', POINTS),
    endsAbove('sar', 'length'),
    rises('sar', POINTS),
    endsAbove('sar', 'random'),
    endsAbove('sar', 'format'),
  ],
  observations: [
    endsAbove('sar', 'shuffled question'),
    endsAbove('sar', 'exact', POINTS, 'accuracy'),
    {
      description: 'tokens of an answer, last five rounds, sar above length',
      measure: longer('sar', 'length'),
      atLeast: 1,
    },
  ],
};
