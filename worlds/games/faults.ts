/** The cost of a refused move in a game for two players: a small penalty each time, and the loss of the game at the third. */
import { ILLEGAL_REWARD, MAX_FAULTS, zeroSum } from '../environment.ts';

/** [2]: refused moves of each player so far. */
export type Faults = readonly [number, number];

/** The counts, rewards and end after one more refused move of `player`; `stake` is the most that the game can cost. */
export function faultOf(
  player: 0 | 1,
  [first, second]: Faults,
  stake: number,
): { faults: Faults; rewards: readonly [number, number]; done: boolean } {
  const faults: Faults = player === 0 ? [first + 1, second] : [first, second + 1];
  if (faults[player] >= MAX_FAULTS)
    return { faults, rewards: zeroSum(player === 0 ? 1 : 0, stake), done: true };
  return { faults, rewards: player === 0 ? [ILLEGAL_REWARD, 0] : [0, ILLEGAL_REWARD], done: false };
}
