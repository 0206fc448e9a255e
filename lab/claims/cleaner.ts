/** The claim of CLEANER: episodes without their failed searches teach a searcher faster than episodes as they were sampled. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

const failedLess =
  (arm: string, other: string): Measure =>
  (r, s) =>
    lately(r, other, s, 'failed', 2) - lately(r, arm, s, 'failed', 2);

export const claim: Claim = {
  description:
    'A searcher that is trained on episodes from which failed searches were taken out, where a later one made up for them, answers more held-out questions after the same few tokens than one that is trained on the episodes as they were, and its searches fail less often.',
  startPolicy: 'search-stumbling',
  rounds: 12,
  tokens: 30_000,
  evaluateEvery: 12,
  arms: [
    { name: 'cleaner', description: 'as published' },
    { name: 'grpo', variant: 'grpo', description: 'episodes are trained on as they were sampled' },
    {
      name: 'drop failed',
      variant: 'drop-failed',
      seedCount: 4,
      description: 'episodes in which a search failed and was made up for are left out',
    },
    coinArm('a fair coin pays each episode'),
  ],
  conditions: [
    endsAbove('cleaner', 'grpo', 0.05, 'accuracy'),
    {
      description: 'share of searches that fail, last two rounds, cleaner below grpo',
      measure: failedLess('cleaner', 'grpo'),
      atLeast: 0.03,
    },
    rises('cleaner', 0.1, 'accuracy'),
    doesNotRise('random', 0.05, 'accuracy'),
  ],
  observations: [endsAbove('cleaner', 'grpo', 0.05), endsAbove('cleaner', 'drop failed', 0.05, 'accuracy')],
  diagnosis:
    'Episodes without their failed searches teach more for the same tokens: 76.4 % greedy from 35.5 % in six rounds, where episodes as they were come to 67.1 %, 9.4 points less (3.6 to 15.1); the lower end of that interval lies below the bound of 5, so that the effect is smaller than asked. Leaving such episodes out as a whole gives 67.5 % on its four seeds, 8.9 points less (4.5 to 13.3): it is the cleaned episode that teaches, and not what is left out. Six seeds of eight gain 8.5 points or more, two nothing. Searches do not fail clearly less often (1.6 points, −0.2 to 3.3). Sampled answers gain half of that (4.8, 3.5 to 6.0).',
};
