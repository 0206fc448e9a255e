/** The claim of SPECS: a cold start by preferences for form leaves more to learn by rewards than one by imitation. */

import { mean } from 'rollmesh';
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { monitorOf } from '../rule/curves.ts';

const ROUNDS = 16;
const COLD = 4;
/** Entropy of the answers in the first four rounds after the cold start, nats a token. */
const entropy =
  (arm: string): Measure =>
  (r, s) =>
    mean(monitorOf(r, arm, s, 'entropy').slice(COLD, 2 * COLD));

export const claim: Claim = {
  description:
    'After a cold start by preferences for form, rewards take a policy further on tasks deeper than it is trained on than after a cold start by imitation, and further than without any, and it keeps more entropy than after imitation.',
  rounds: ROUNDS,
  evaluateEvery: 4,
  pictures: {
    sampled: 'Sampled accuracy, unseen depth',
    seenSampled: 'Sampled accuracy, seen depth',
  },
  arms: [
    { name: 'specs', description: 'a cold start by preferences' },
    { name: 'sft start', variant: 'sft-start', description: 'a cold start by imitation' },
    { name: 'no start', variant: 'no-start', description: 'rewards from the first round on' },
    coinArm('a coin says which form is chosen, and pays answers later'),
    formatArm('any right form is paid after the cold start, in which any answer is written in two forms'),
  ],
  conditions: [
    endsAbove('specs', 'sft start', 0.03),
    endsAbove('specs', 'no start'),
    {
      description: 'entropy in the four rounds after the cold start, nats a token, specs above sft start',
      measure: (r, s) => entropy('specs')(r, s) - entropy('sft start')(r, s),
      atLeast: 0.02,
    },
    rises('specs', POINTS),
    endsAbove('specs', 'random'),
    endsAbove('specs', 'format', 0.03),
  ],
  observations: [endsAbove('specs', 'sft start', 0.03, 'seenSampled')],
  diagnosis:
    'A cold start by preferences for form keeps more entropy than one by imitation, by 0.040 nats a token, as published, and helps rewards on unseen depth by 9.2 points against none. But imitation helps more: it ends 4.4 points higher on unseen depth (0.3 to 8.5), and no lower on the depth that is trained on. Greedy accuracy is highest without any cold start (63.2 against 56.4 and 59.8), so that what both cold starts buy is sampled accuracy: sharpening. Form is all that they teach here, and it is short; whether imitation would forget more where form is long was not measured.',
};
