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
  diagnosis:
    'Judgments cost here and buy nothing. All arms begin at 33.0 % greedy; after the same tokens the searcher that is not asked ends at 80.9 %, the one that is asked and paid for answers alone at 58.6 %, the one that is paid for judgments too at 41.6 %. A part of the first gap is that judgments are tokens: 30,000 are six or seven rounds without them and four with them. The second gap is not, since both arms have four rounds: paid judgments draw the updates away from answers. After a find that it called useless the searcher searches on no more often (−4.7 points, −8.2 to −1.2), and does so 8 times in 10 from the start. More rounds were not tried. What is gained is not a matter of temperature (version 0 samples 25.5 %).',
};
