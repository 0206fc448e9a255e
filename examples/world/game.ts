/** sticks: two seats take one to three sticks by turns, and whoever takes the last one wins. Replace the rules by your own. */
import { defineGame } from 'rollmesh';

interface Sticks {
  readonly left: number;
  readonly turn: number;
  /** The seat that won; null while they play. */
  readonly winner: string | null;
}

const SEATS = ['opener', 'replier'];

export default defineGame<Sticks>({
  name: 'sticks',
  // The small policy of the package. One of your own, with a chat template, reads the view as a user's message: --policy NAME.
  start: 'arithmetic-base',
  seats: SEATS,
  maxTurns: 12,
  maxNew: 12,
  deal: (random) => ({ left: 5 + random.int(8), turn: 0, winner: null }),
  toMove: ({ turn, winner }) => (winner ? [] : [SEATS[turn % 2]!]),
  // All that the seat knows: a prompt has no history, unless the game says `remembers: true`.
  view: ({ left }) => `${left}-3`,
  move: ({ left, turn }, moves) => {
    const [seat, other] = turn % 2 ? ['replier', 'opener'] : ['opener', 'replier'];
    const taken = Number(/(\d+)\s*$/.exec(moves[seat]!)?.[1]);
    const isLegal = taken >= 1 && taken <= Math.min(3, left);
    // A policy writes anything. A move that is no move loses, or nobody would ever have to move.
    const winner = isLegal ? (taken === left ? seat : null) : other;
    return {
      state: { left: isLegal ? left - taken : left, turn: turn + 1, winner },
      ...(winner && { rewards: { [winner]: 1, [winner === seat ? other : seat]: -1 } }),
      ...(isLegal ? {} : { refused: [seat] }),
    };
  },
});
