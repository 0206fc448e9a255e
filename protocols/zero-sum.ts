/** What recipes of self-play in zero-sum games share: the players of the shipped games, and a variant in which the other seats are version 0. */
import type { RoundShape } from '../core/recipe/recipe.ts';
import { gameParts } from '../worlds/games/reading.ts';
import { examineKuhn } from './evaluate/kuhn.ts';
import { type Cast, type GameRound, gameRound, ownSeats } from './game-round.ts';

/** Plays the seats that the learner does not hold. */
const OPPONENT = 'opponent';

/** The variant, for a recipe's `variants`. */
export const FIXED_OPPONENT = {
  'fixed-opponent': 'the other seat is played by version 0, and the learner holds one seat after the other',
} as const;

/** For a recipe's `bindings`. */
export const pinnedOpponent = () => ({ [OPPONENT]: { pinned: true } });

/** In an episode the learner holds the seat whose turn it is to be held, and its start the other ones. */
const againstStart: Cast = ({ seats }, episode) =>
  Object.fromEntries(seats.map((seat, i) => [seat, i === episode % seats.length ? seat : OPPONENT]));

/** A round of self-play, or against version 0 in the variant. */
export const zeroSumRound = (round: GameRound): RoundShape =>
  gameRound({
    ...round,
    cast: (game, episode, settings) =>
      (settings.variant === 'fixed-opponent' ? againstStart : ownSeats)(game, episode, settings),
    roles: {
      ...round.roles,
      [OPPONENT]: { description: 'plays the other seats where those are version 0', speaksAs: 'player' },
    },
  });

/** The players of Kuhn poker and tic-tac-toe, how a reader is shown their texts, and exploitability in poker. */
export const PLAYERS: Pick<GameRound, 'roles' | 'parts' | 'examine'> = {
  roles: {
    first: { description: 'moves first', speaksAs: 'player' },
    second: { description: 'moves second', speaksAs: 'player' },
  },
  parts: gameParts,
  examine: examineKuhn,
};
