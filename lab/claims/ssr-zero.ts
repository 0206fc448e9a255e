/** The claim of SSR-Zero: paid by its own judgment, a translator gets better as long as that judgment is better than chance. */
import type { Claim } from '../rule/claim.ts';
import {
  coinArm,
  doesNotRise,
  endsAbove,
  endsNoLower,
  formatArm,
  POINTS,
  rises,
} from '../rule/conditions.ts';
import { atEnd } from '../rule/curves.ts';

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
  partners: [{ partner: 'judge', trained: 'ssr-zero', frozen: 'frozen judge' }],
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
  diagnosis:
    'Paid by its own judgment alone, the translator goes from 39.3 to 66.0 % sampled and from 30.3 to 99.9 % greedy on sentences that it has not seen; with the same scores dealt to other translations of the sentence, with a coin and for form it stays where it was. By the measure of this page that is skill. It is also a choice that the start had already: its demonstrations translate false friends rightly in 45 % of the cases, and its judge, whose greedy verdicts are 99 % right, says which way is right. Judging is the easier task here by construction, and the reward spreads what the judge knows to the translator. An exact checker’s word beside the score is worth 3.3 points (2.7 to 4.0), just around the bound of 3. That the judge shares the weights that are trained makes no difference: a judge that stays at version 0 teaches as much (0.6 points, −0.8 to 2.0). The judge’s accuracy on the version’s own translations falls from 99.4 to 96.8 %, also on those of the start, though nobody trains it; in longer runs that may matter. Its scores do not drift away from the truth: they exceed the share of right words by 0.04 at the beginning and by 0.02 at the end.',
};
