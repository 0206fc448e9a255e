/** The claim of Self-play SWE-RL: who repairs bugs that the policy injected itself repairs more than who repairs bugs at random. */
import type { Claim } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { early, lately } from '../../core/claims/curves.ts';

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
      description: 'a bug is set if it is in form, whether or not a test fails and every edit matters',
    },
    { name: 'first order', variant: 'first-order', description: 'failed repairs do not become bugs' },
    {
      name: 'frozen injector',
      freeze: ['injector'],
      description: 'the injector stays at version 0',
    },
    coinArm('a coin says what is repaired'),
    formatArm('any program in form is a repair'),
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
};
