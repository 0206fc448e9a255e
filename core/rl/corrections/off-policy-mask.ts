/** TRL's off-policy mask: it drops sequences with a negative advantage that the trainer has already moved far away from. */
import { expectSameLength, type Numbers } from '../types.ts';

/** 1 keeps [n] unless A < 0 and the sequence's mean KL (nats a token) exceeds the threshold. advantages [n], kl [n]. */
export function offPolicyMask(advantages: Numbers, kl: Numbers, threshold: number): number[] {
  expectSameLength('advantages', advantages, 'KL estimates', kl);
  return Array.from(advantages, (advantage, i) => (advantage < 0 && kl[i]! > threshold ? 0 : 1));
}
