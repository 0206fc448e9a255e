/** Turn-based games for several players as seated games: each turn is one answer in tags, and a player reads the observation alone. */
import type { SeatedGame } from '../../core/game/seated-game.ts';
import { type Environment, playTurn, type Situation } from '../environment.ts';
import { STOP } from '../worked.ts';
import { kuhn } from './kuhn.ts';
import { ticTacToe } from './tic-tac-toe.ts';

/** `<answer>`, a move, the end, and room by which an answer that is too long is noticed. */
const MOVE_TOKENS = 8;

const seated = <State>(
  environment: Environment<State>,
  seats: readonly string[],
): SeatedGame<Situation<State>> => ({
  name: environment.name,
  seats,
  maxTurns: environment.maxTurns,
  maxNew: MOVE_TOKENS,
  tags: true,
  deal: (random) => environment.reset(String(random.uint32())),
  toMove: ({ done, player }) => (done ? [] : [seats[player]!]),
  view: ({ observation }) => observation,
  move: (situation, moves) => {
    const seat = seats[situation.player]!;
    const state = playTurn(environment, situation, `${moves[seat]}${STOP}`);
    const rewards = Object.fromEntries(seats.map((one, player) => [one, state.rewards[player]!]));
    return { state, rewards, ...(state.legal ? {} : { refused: [seat] }) };
  },
});

/** The players of a game for two, in the order of their first moves. */
const PLAYERS = ['first', 'second'] as const;

export const kuhnPoker = seated(kuhn, PLAYERS);
export const noughtsAndCrosses = seated(ticTacToe, PLAYERS);
