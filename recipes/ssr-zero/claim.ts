/** The claim of SSR-Zero: paid by its own judgment, a translator gets better as long as that judgment is better than chance. */
import type { Claim } from '../../core/claims/claim.ts';
import {
  coinArm,
  doesNotRise,
  endsAbove,
  endsNoLower,
  formatArm,
  POINTS,
  rises,
} from '../../core/claims/conditions.ts';
import { atEnd } from '../../core/claims/curves.ts';

export const claim: Claim = {
  description:
    'Paid by nothing but its own judgment of its translations, a policy translates sentences that it has not seen better, nearly as well as with an exact checker’s word beside it. With scores that say nothing about which translation is better it does not, and its judgment stays better than chance.',
  rounds: 12,
  evaluateEvery: 6,
  pictures: {
    sampled: 'Sampled accuracy on held-out sentences',
    ownVerification: 'Balanced accuracy of the judge on the version’s own translations',
  },
  arms: [
    { name: 'ssr-zero', description: 'as published' },
    {
      name: 'exact scorer added',
      reward: 'self-and-exact',
      description: 'an exact translation is paid 1 beside the score',
    },
    {
      name: 'chance judge',
      variant: 'chance-judge',
      description: 'scores change places among the translations of a sentence',
    },
    { name: 'frozen judge', freeze: ['judge'], description: 'the judge stays at version 0' },
    coinArm('a fair coin pays each translation'),
    formatArm('any sentence of the other language is paid'),
  ],
  conditions: [
    rises('ssr-zero', 0.1),
    rises('ssr-zero', POINTS, 'accuracy'),
    endsAbove('ssr-zero', 'chance judge'),
    endsAbove('exact scorer added', 'ssr-zero', 0.03),
    endsNoLower('ssr-zero', 'exact scorer added', 0.1),
    {
      description: 'ssr-zero: balanced accuracy of the judge on the version’s own translations, at the end',
      measure: (r, s) => atEnd(r, 'ssr-zero', s, 'ownVerification'),
      atLeast: 0.55,
    },
    doesNotRise('chance judge'),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [endsAbove('ssr-zero', 'frozen judge', 0.03), endsAbove('frozen judge', 'ssr-zero', 0.03)],
};
