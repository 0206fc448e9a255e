/**
 * Kuhn poker (H. W. Kuhn, "A simplified two-person poker", 1950): three cards, one each, an ante of 1 and at most one bet of 1.
 * Player 0 begins; a player sees the own card and the moves. What perfect play is worth is in `kuhn-strategy.ts`.
 */
import { Random } from '../../core/random.ts';
import type { Environment, Situation } from '../environment.ts';
import { zeroSum } from '../environment.ts';
import { type Faults, faultOf } from './faults.ts';

export interface Hand {
  /** [2]: 1 jack, 2 queen, 3 king. */
  readonly cards: readonly [number, number];
  /** `p` (pass: check or fold) and `b` (bet or call), in order. */
  readonly moves: string;
  readonly faults: Faults;
  readonly done: boolean;
}

/** The six deals, equally likely. */
export const DEALS: readonly (readonly [number, number])[] = [1, 2, 3].flatMap((a) =>
  [1, 2, 3].filter((b) => b !== a).map((b) => [a, b] as const),
);

/** What player 0 has won when the moves have ended the hand; null while they have not. */
export function payoff(cards: readonly [number, number], moves: string): number | null {
  const higher = cards[0] > cards[1] ? 1 : -1;
  switch (moves) {
    case 'pp':
      return higher;
    case 'bb':
    case 'pbb':
      return 2 * higher;
    case 'bp':
      return 1;
    case 'pbp':
      return -1;
    default:
      return null;
  }
}

const ACTIONS = { pass: 'p', bet: 'b' } as const;

/** What a player knows: own card and moves, such as `q pb`. Also the key of an information set. */
export const informationSet = (card: number, moves: string): string =>
  `${'jqk'[card - 1]}${moves && ` ${moves}`}`;

function show(state: Hand, rewards: readonly number[], legal: boolean): Situation<Hand> {
  const player = state.moves.length % 2;
  return {
    state,
    player,
    observation: informationSet(state.cards[player]!, state.moves),
    actions: state.done ? [] : Object.keys(ACTIONS),
    rewards,
    done: state.done,
    legal,
  };
}

export const kuhn: Environment<Hand> = {
  name: 'kuhn',
  players: 2,
  // Three moves, and two refused ones of each player before a third ends the hand.
  maxTurns: 7,
  reset(seed) {
    const cards = new Random(`kuhn/${seed}`).pick(DEALS);
    return show({ cards, moves: '', faults: [0, 0], done: false }, [0, 0], true);
  },
  step(state, action) {
    if (state.done) return show(state, [0, 0], false);
    const player = state.moves.length % 2 === 0 ? 0 : 1;
    if (action !== 'pass' && action !== 'bet') {
      // The most a hand can cost: nobody may gain by making it end.
      const { rewards, ...after } = faultOf(player, state.faults, 2);
      return show({ ...state, ...after }, rewards, false);
    }
    const moves = state.moves + ACTIONS[action];
    const won = payoff(state.cards, moves);
    const rewards = won === null ? [0, 0] : zeroSum(won > 0 ? 0 : 1, Math.abs(won));
    return show({ ...state, moves, done: won !== null }, rewards, true);
  },
};
