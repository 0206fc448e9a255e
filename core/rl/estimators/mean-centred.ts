/** Rewards minus their group's mean, undivided: Dr.GRPO (Liu et al. 2025), also the default of prime-rl and tinker, and AIPO's A. */
import { CONVENTIONS } from '../conventions.ts';
import type { Key, Maybe } from '../types.ts';
import { grpo } from './grpo.ts';

/** A = r − mean of the group; rewards [n], groups [n] -> [n], null where missing. A group of one gets 0. */
export const meanCentred = (rewards: ArrayLike<Maybe>, groups: ArrayLike<Key>): Maybe[] =>
  grpo(rewards, groups, CONVENTIONS.drgrpo);
