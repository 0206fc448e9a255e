/** The claim of Vision-Zero: a game about pictures, played against oneself, teaches a policy to see. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, endsAbove, neverRises, rises, seesMore } from '../rule/conditions.ts';
import { atEnd, curveOf } from '../rule/curves.ts';

/** The least difference of accuracy that is of interest; the paper’s mean gain is three points. */
const LEAST = 0.03;
const FOUND = 'heldOutSpyFound';

export const claim: Claim = {
  description:
    'A policy that plays who is the spy against itself, and trains clues and votes in turns without labels, comes to answer questions about pictures better that nobody asks in the game, and to find spies among held-out pictures. Clues or votes alone teach less at equal sampled tokens, and votes beside other pictures nothing.',
  rounds: 40,
  tokens: 14_000,
  evaluateEvery: 40,
  pictures: {
    accuracy: 'Held-out questions, greedy',
    [FOUND]: 'Votes for the spy in games about held-out pictures',
  },
  arms: [
    { name: 'vision-zero', description: 'as published: clues and votes in turns' },
    { name: 'clues only', variant: 'clues-only', description: 'votes are never trained' },
    { name: 'votes only', variant: 'votes-only', description: 'clues are never trained' },
    {
      name: 'other pictures',
      variant: 'other-pictures',
      description: 'control: voters are shown other pictures than those that were spoken of',
    },
    coinArm('votes are drawn by lot'),
  ],
  conditions: [
    rises('vision-zero', LEAST, 'accuracy'),
    endsAbove('vision-zero', 'other pictures', LEAST, 'accuracy'),
    endsAbove('vision-zero', 'clues only', LEAST, FOUND),
    endsAbove('vision-zero', 'votes only', LEAST, FOUND),
    rises('vision-zero', 0.1, FOUND),
    neverRises('random', 0.05, FOUND),
  ],
  observations: [
    seesMore('vision-zero', LEAST),
    {
      description:
        'sampled accuracy at the end of vision-zero above the greedy accuracy of the start, which needs no training',
      measure: (r, s) => atEnd(r, 'vision-zero', s, 'sampled') - curveOf(r, 'vision-zero', s)[0]!,
      atLeast: LEAST,
    },
  ],
  gap: {
    figures: [],
    label: 'paid by the game',
    meaning: 'There is none. Votes pay clues, and the deal pays votes; no answer to a question is paid.',
  },
  diagnosis:
    'Nothing is learned in the game: the spy gets 21.9 % of the votes at the end, and got 23.3 % at the start (1.5 points fewer, 0.4 to 2.6), whether clues, votes or both are trained, or voters see other pictures. So nothing can carry over, and greedy accuracy on questions stays at 69 % in every arm (0.4 points more, −0.1 to 0.9). The runs are short: 14,000 tokens are ten rounds of the 40 that were allowed, as a game has four clues and three votes. Sampled accuracy falls by 1.3 points, with other pictures by as much. Version 0 answers 69 % greedily, above the 60 % at most that a claim is to begin with here; it was registered so. With other pictures the trained policy answers 22 points fewer. All seeds begin from one start. A longer run was not tried.',
};
