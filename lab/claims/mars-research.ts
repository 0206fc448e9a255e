/** The claim of MARS (deep research): to train the reader with the searcher is worth more than to train the searcher alone. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, rises } from '../rule/conditions.ts';
import { early, lately } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'A searcher that is shown what a reader writes of documents answers more held-out questions after the same tokens where the reader is trained with it, than where the reader stays version 0, and than where the searcher reads the documents itself.',
  rounds: 8,
  tokens: 20_000,
  evaluateEvery: 8,
  arms: [
    { name: 'both trained', description: 'as published: searcher and reader are trained by the same end' },
    { name: 'pinned reader', variant: 'pinned-reader', description: 'the reader is version 0' },
    {
      name: 'no reader',
      variant: 'truncation',
      seedCount: 4,
      description: 'the searcher reads what it finds itself, cut to 200 characters',
    },
    coinArm('a fair coin pays each episode'),
  ],
  conditions: [
    endsAbove('both trained', 'pinned reader', 0.05, 'accuracy'),
    rises('both trained', 0.1, 'accuracy'),
    doesNotRise('random', 0.05, 'accuracy'),
  ],
  observations: [
    endsAbove('both trained', 'pinned reader', 0.05),
    endsAbove('both trained', 'no reader', 0.05, 'accuracy'),
    {
      description:
        'both trained: share of answers that were found and are still in what the reader writes, last two rounds less first two',
      measure: (r, s) => lately(r, 'both trained', s, 'recall', 2) - early(r, 'both trained', s, 'recall', 2),
      atLeast: 0.03,
    },
  ],
  diagnosis:
    'There was nothing for the reader to learn: of the answers that are found, 98 % and more survive what readers write of a document in the first round, and nothing moves (−0.1 points, −0.9 to 0.7). All arms but the coin learn to search in four or five rounds, which are all that the tokens buy, from 33.0 to 95.3 % greedy with both trained, 97.3 % with the pinned reader and 99.6 % without one. Near 100 % differences between arms are small: a harder world, in which documents do not fit and a reader loses answers, would be a fairer test. Sampled answers, which have room, are 2.7 points apart (−2.3 to 7.7).',
};
