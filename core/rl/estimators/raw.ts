/**
 * A = r: plain REINFORCE without a baseline (Search Self-Play's proposer). It is only sound for rewards that are never negative and
 * where zero means "no signal": a negative reward, however small, pushes down every sampled token, and no baseline balances it.
 */
import type { Maybe } from '../types.ts';

/** rewards [n] -> the same [n]; null where missing. */
export const raw = (rewards: ArrayLike<Maybe>): Maybe[] => Array.from(rewards);
