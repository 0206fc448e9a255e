/** Exact values of mixed strategies in Kuhn poker, the known equilibria, and how far a strategy can be exploited. */
import { DEALS, informationSet, payoff } from './kuhn.ts';

/** Probability of a bet (or call) in each information set, such as `q pb`; one that is missing never bets. */
export type KuhnStrategy = Readonly<Record<string, number>>;

/** The equilibria: player 0's are a family over how often a jack bluffs, `bluff` in [0, 1/3]; player 1's is one. */
export function kuhnEquilibrium(bluff: number): KuhnStrategy {
  return {
    j: bluff,
    q: 0,
    k: 3 * bluff,
    'j pb': 0,
    'q pb': bluff + 1 / 3,
    'k pb': 1,
    'j b': 0,
    'q b': 1 / 3,
    'k b': 1,
    'j p': 1 / 3,
    'q p': 0,
    'k p': 1,
  };
}

function valueFrom(
  cards: readonly [number, number],
  moves: string,
  players: readonly [KuhnStrategy, KuhnStrategy],
): number {
  const won = payoff(cards, moves);
  if (won !== null) return won;
  const mover = moves.length % 2 === 0 ? 0 : 1;
  const bet = players[mover][informationSet(cards[mover], moves)] ?? 0;
  const after = (move: string) => valueFrom(cards, moves + move, players);
  return (bet > 0 ? bet * after('b') : 0) + (bet < 1 ? (1 - bet) * after('p') : 0);
}

/** Exact expectation of player 0's winnings, in antes. */
export const kuhnValue = (first: KuhnStrategy, second: KuhnStrategy): number =>
  DEALS.reduce((sum, cards) => sum + valueFrom(cards, '', [first, second]), 0) / DEALS.length;

/** What player 0 and player 1 can know when they are to move. */
export const INFORMATION_SETS = [
  ['j', 'q', 'k', 'j pb', 'q pb', 'k pb'],
  ['j p', 'q p', 'k p', 'j b', 'q b', 'k b'],
] as const;

const PURE = [0, 1].map((player) =>
  Array.from({ length: 64 }, (_, bits) =>
    Object.fromEntries(INFORMATION_SETS[player as 0 | 1].map((set, i) => [set, (bits >> i) & 1])),
  ),
);

/** The most that `player` can win in expectation against the other's strategy: over all 64 pure strategies. */
export const bestResponseValue = (player: 0 | 1, other: KuhnStrategy): number =>
  Math.max(...PURE[player]!.map((own) => (player === 0 ? kuhnValue(own, other) : -kuhnValue(other, own))));

/** Mean of what perfect opponents win beyond the value of the game when a strategy plays both seats; 0 exactly at equilibria. */
export const exploitability = (strategy: KuhnStrategy): number =>
  (bestResponseValue(0, strategy) + bestResponseValue(1, strategy)) / 2;
