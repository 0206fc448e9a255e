/**
 * A = r: plain REINFORCE without a baseline (Search Self-Play's proposer). Only sound for rewards that are never negative and
 * where zero means "no signal": a small negative reward then pushes down every sampled token with nothing to hold against it.
 */
import type { Maybe } from '../types.ts';

/** rewards [n] -> the same [n]; null where missing. */
export const raw = (rewards: ArrayLike<Maybe>): Maybe[] => Array.from(rewards);
