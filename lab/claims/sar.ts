/** The claim of SAR: a bonus that does not count tokens makes answers shorter, and no less exact. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, endsAbove, endsNoLower, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { early, lately } from '../rule/curves.ts';

/** How many tokens longer the answers of one arm are than those of another, over the last five rounds. */
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
    formatArm('any well-formed answer is paid beside the bonus', { seedCount: 8 }),
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
  diagnosis:
    'Answers become shorter by 4.6 tokens than with exact answers alone and are exact as often (−0.3 ± 1.5 points); that part of the claim holds on every seed. The reason given for it does not. A plain payment for brevity shortens as much (0.3 tokens, −0.1 to 0.7) and costs no accuracy here (0.6 points below, at most 2.3), and the bonus of another question shortens nearly as well and ends at the same accuracy. Nor does the bonus tell right from wrong: in the first three rounds that of exact answers is 0.018 lower than that of others, on all eight seeds, where 0.02 more was asked. So what acts is that each further check makes an answer less likely per token whatever was asked, not how well the answer follows from its question. Greedy accuracy goes from 0 to 81 %, with exact answers alone it stays at 0: the likeliest next token of the start is one more check, so that a greedy answer never ends. This is a stop that is learned, and no skill in sums; the plain payment for brevity teaches it as well.',
};
