/** The claim of RLSP: a small bonus for checks makes answers exact more often, and a large one pads them. */
import type { Claim, Measure } from '../rule/claim.ts';
import {
  coinArm,
  doesNotRise,
  endsAbove,
  endsNoLower,
  formatArm,
  POINTS,
  rises,
} from '../rule/conditions.ts';
import { early, lately } from '../rule/curves.ts';

const LAST = 3;
const above =
  (figure: string, arm: string, other: string): Measure =>
  (r, s) =>
    lately(r, arm, s, figure, LAST) - lately(r, other, s, figure, LAST);

export const claim: Claim = {
  description:
    'With a small bonus for checks, which is paid whether or not the answer is exact, answers check more and are exact more often than without; a large bonus pads them with checks of what is settled, at no gain. The bonus of another answer does not do the same.',
  rounds: 12,
  evaluateEvery: 6,
  pictures: { sampled: 'Sampled accuracy on held-out tasks' },
  arms: [
    { name: 'rlsp', description: 'a check is paid 0.03' },
    { name: 'no bonus', variant: 'no-bonus', description: 'exact answers alone are paid' },
    { name: 'large bonus', variant: 'large-bonus', description: 'a check is paid 1' },
    {
      name: 'random bonus',
      variant: 'random-bonus',
      description: 'an answer is paid for the checks of another',
    },
    coinArm('a coin is paid beside the bonus'),
    formatArm('any well-formed answer is paid beside the bonus'),
  ],
  conditions: [
    {
      description: 'checks in an answer, last three rounds, rlsp above no bonus',
      measure: above('checks', 'rlsp', 'no bonus'),
      atLeast: 0.2,
    },
    endsAbove('rlsp', 'no bonus'),
    {
      description: 'rlsp: share of answers that checks mended, last three rounds above the first three',
      measure: (r, s) => lately(r, 'rlsp', s, 'mended', LAST) - early(r, 'rlsp', s, 'mended'),
      atLeast: 0.05,
    },
    {
      description: 'padding in an answer, last three rounds, large bonus above rlsp',
      measure: above('padding', 'large bonus', 'rlsp'),
      atLeast: 0.5,
    },
    endsNoLower('rlsp', 'large bonus', 0.03),
    endsAbove('rlsp', 'random bonus'),
    rises('rlsp', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  diagnosis:
    'The half of the claim that warns holds, and the half that promises does not. Paid 1 for a check, answers have 2.2 checks in the last rounds, 0.8 of them after two attempts have agreed; greedy answers do their sums again until they are cut off (from 99.5 to 0.7 % exact) and sampled accuracy loses 19 points. Paid 0.03, nothing changes: with it, without it and with the bonus of another answer sampled accuracy gains 18 points, and checks become rarer in all the same, from 0.44 to 0.47 an answer to 0.20 to 0.26. In the first rounds checks mend 4 % of the answers, while 7 % are wrong or do not come although their first attempt was exact. That seems to be why rewards for exact answers teach to check less; they also teach to slip less: first attempts are exact in 54 % of the answers at the beginning and in 66 % at the end. A bonus that outweighs this, 0.1 in a pilot of one seed, had more checks and lower accuracy. Search may pay where a policy can tell what is wrong in an attempt; this one only does the sums again. Greedy answers are exact from the beginning, so that what rises is sharpening.',
};
