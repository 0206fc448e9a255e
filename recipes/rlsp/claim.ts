/** The claim of RLSP: a small bonus for checks makes answers exact more often, and a large one pads them. */
import type { Claim, Measure } from '../../core/claims/claim.ts';
import {
  coinArm,
  doesNotRise,
  endsAbove,
  endsNoLower,
  formatArm,
  POINTS,
  rises,
} from '../../core/claims/conditions.ts';
import { early, lately } from '../../core/claims/curves.ts';

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
};
