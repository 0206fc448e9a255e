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
  columns: {
    label: 'score in games',
    meaning:
      'The mean score in held-out deals of three games, all moves sampled: cards that are guessed in the hint game, and points against version 0 in the two others. Greedy play is not measured.',
  },
  gap: {
    figures: [],
    label: 'paid by the games',
    meaning:
      'There is none. Each game pays in a unit of its own, and what is solved is known of the hint game alone.',
  },
  diagnosis:
    'All arms that are paid by the games learn to give and read hints, and a coin does not: from 46.0 % of the cards credit by turn and seat comes to 54.3 (8.3 points more, 7.0 to 9.7), the return of the episode within each seat to 53.7 (four seeds), the same compared over all seats to 51.9, and a coin to 46.2. The difference to the last is 2.4 points in favour of the method (−0.2 to 5.0), so that an advantage is not shown and one of five points is unlikely. What there is comes of comparing seats apart and not of credit by turn, which on the same four seeds adds 0.5 points to the return of the episode. Poker and tic-tac-toe against version 0 hardly change (about one ante in a hundred games; 49.5 to 50.2 % of tic-tac-toe, which was never trained on, 0.2 fewer to 1.6 more), so that nothing carries over. The runs are short: 30 rounds of the step size at which games do not lose their form, and nothing was measured between their start and their end. All seeds begin from one start, whose first evaluation they share.',
};
