/** What a refused move costs in a game for two: a small penalty each time, and the game at the third. */
import { ILLEGAL_REWARD, MAX_FAULTS, zeroSum } from '../environment.ts';

/** Rewards and outcome of a refused move of `player`, after `faults` earlier ones; `stake` is what losing costs. */
export function faultOf(
  player: number,
  faults: number,
  stake: number,
): { rewards: readonly number[]; done: boolean } {
  if (faults + 1 >= MAX_FAULTS) return { rewards: zeroSum(1 - player, stake), done: true };
  return { rewards: [0, 0].map((_, p) => (p === player ? ILLEGAL_REWARD : 0)), done: false };
}
