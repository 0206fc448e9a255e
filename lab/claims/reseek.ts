/** The claim of ReSeek: a searcher that judges what it finds, and is paid for right judgments, learns more than one that is paid for answers alone. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'A searcher that says of all it finds whether that helps, and is paid for saying so rightly, answers more held-out questions after the same tokens than one that is not asked and is paid for answers alone, and than one whose judgments are paid nothing.',
  startPolicy: 'search-stumbling',
  rounds: 12,
  tokens: 30_000,
  evaluateEvery: 12,
  arms: [
    { name: 'reseek', description: 'as published' },
    {
      name: 'no judgments',
      variant: 'no-judgments',
      description: 'the searcher is not asked whether what it found helps',
    },
    {
      name: 'unpaid judgments',
      variant: 'em-only',
      seedCount: 4,
      description: 'it is asked, and its judgments are paid nothing',
    },
    coinArm('a fair coin says what is right, of answers and of judgments'),
  ],
  conditions: [
    endsAbove('reseek', 'no judgments', 0.05, 'accuracy'),
    rises('reseek', 0.1, 'accuracy'),
    doesNotRise('random', 0.05, 'accuracy'),
  ],
  observations: [
    endsAbove('reseek', 'no judgments', 0.05),
    endsAbove('reseek', 'unpaid judgments', 0.05, 'accuracy'),
    {
      description:
        'share of finds called useless that another search follows, last two rounds, reseek above unpaid judgments',
      measure: (r, s) =>
        lately(r, 'reseek', s, 'searchedAgain', 2) - lately(r, 'unpaid judgments', s, 'searchedAgain', 2),
      atLeast: 0.05,
    },
  ],
};
