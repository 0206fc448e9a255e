/** The claim of Self-play SWE-RL: repairing bugs that the policy injected itself teaches more repair than repairing random bugs. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { early, lately } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'A policy that injects bugs into programs and repairs them learns to inject bugs that can be set, and repairs more held-out bugs than one that repairs random bugs, one whose bugs pass no gate, and one whose injector does not learn.',
  rounds: 24,
  evaluateEvery: 12,
  arms: [
    { name: 'ssr-swe', description: 'as published' },
    { name: 'repair only', variant: 'repair-only', description: 'bugs are random edits; nobody injects' },
    {
      name: 'no gates',
      variant: 'no-gates',
      description: 'a bug is set if it is well-formed, whether or not a test fails and every edit matters',
    },
    { name: 'first order', variant: 'first-order', description: 'failed repairs do not become bugs' },
    {
      name: 'frozen injector',
      freeze: ['injector'],
      description: 'the injector stays at version 0',
    },
    coinArm('a coin says what is repaired'),
    formatArm('any well-formed program is a repair'),
  ],
  partners: [{ partner: 'injector', trained: 'ssr-swe', frozen: 'frozen injector' }],
  conditions: [
    {
      description:
        'ssr-swe: share of injected bugs that pass the gates, last five rounds above the first three',
      measure: (r, s) => lately(r, 'ssr-swe', s, 'valid') - early(r, 'ssr-swe', s, 'valid'),
      atLeast: 0.1,
    },
    endsAbove('ssr-swe', 'repair only'),
    endsAbove('ssr-swe', 'no gates'),
    endsAbove('ssr-swe', 'frozen injector'),
    rises('ssr-swe', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [endsAbove('ssr-swe', 'first order')],
  gap: {
    label: 'from −1 to 1',
    meaning:
      'The reward of a repair is 1 where all tests pass and −1 otherwise, so that the gap rises with the share of repairs that pass. The tests pay, and they are what gold is.',
  },
  diagnosis:
    'A policy that repairs random bugs repairs more than one that repairs its own: 2.6 points of sampled accuracy (0.7 to 4.6). Gates, a trained injector and bugs of higher order change nothing that can be told from chance. Sampled accuracy does rise, by 5.6 points (4.4 to 6.9), greedy accuracy does not in any arm: the policies are sharpened. The injector does not learn to set more bugs either, 4 points more at the end (3 less to 11 more). Three reasons are likely and none is tested by an arm: held-out bugs are random edits, which is what the arm without an injector trains on; a policy of this size repairs one bug in nine, so that most of its own bugs teach nothing; and the injector shares the weights and half of the updates of the solver.',
};
