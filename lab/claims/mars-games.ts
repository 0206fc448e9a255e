/** The claim of MARSHAL: in games of several turns and seats, credit by turn and by seat teaches more than the return of an episode, compared over all seats. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, difference } from '../rule/conditions.ts';
import { rise } from '../rule/curves.ts';

const HINT = 'score.hint';
const POKER = 'return.kuhn';
const HELD_OUT = 'score.tic-tac-toe';
const LEAST = 0.05;

export const claim: Claim = {
  description:
    'A policy that plays a hint game with itself and Kuhn poker against itself learns more where a turn is credited with what its seat earned from it on and compared with turns of the same seat, than where every turn has the return of the episode and is compared with all seats, at equal sampled tokens. A game that it never trained on gains too.',
  rounds: 36,
  tokens: 58_000,
  evaluateEvery: 36,
  pictures: {
    [HINT]: 'Cards that are guessed in the hint game',
    [HELD_OUT]: 'Score against version 0 in tic-tac-toe, never trained on',
  },
  arms: [
    { name: 'marshal', description: 'as published: rewards to go, compared within each seat' },
    {
      name: 'episode pooled',
      variant: 'episode-pooled',
      description: 'the return of the episode, compared over all seats',
    },
    {
      name: 'episode',
      variant: 'episode',
      seedCount: 4,
      description: 'the return of the episode, compared within each seat',
    },
    coinArm('a fair coin pays each seat'),
  ],
  conditions: [
    {
      description:
        'share of cards that are guessed in the hint game at the end, marshal above episode pooled',
      measure: difference('marshal', 'episode pooled', HINT),
      atLeast: LEAST,
    },
    {
      description: 'marshal: share of cards that are guessed in the hint game rises',
      measure: (r, s) => rise(r, 'marshal', s, HINT),
      atLeast: LEAST,
    },
    {
      description: 'marshal: score against version 0 in tic-tac-toe, which it never trained on, rises',
      measure: (r, s) => rise(r, 'marshal', s, HELD_OUT),
      atLeast: LEAST,
    },
    {
      description: 'random: share of cards that are guessed in the hint game does not rise',
      measure: (r, s) => rise(r, 'random', s, HINT),
      atMost: 0.03,
      control: true,
    },
  ],
  observations: [
    {
      description: 'share of cards that are guessed at the end, marshal above episode',
      measure: difference('marshal', 'episode', HINT),
      atLeast: LEAST,
    },
    {
      description: 'antes a game against version 0 in Kuhn poker at the end, marshal above episode pooled',
      measure: difference('marshal', 'episode pooled', POKER),
      atLeast: 0.1,
    },
    {
      description: 'marshal: antes a game against version 0 in Kuhn poker rise',
      measure: (r, s) => rise(r, 'marshal', s, POKER),
      atLeast: 0.1,
    },
  ],
};
