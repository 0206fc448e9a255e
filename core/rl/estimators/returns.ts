/** Rewards to go along one sequence, and how masked tokens (another's text, tool output, padding) enter them. */
import { expectSameLength, type Numbers } from '../types.ts';

export interface ReturnOptions {
  readonly gamma: number;
  /** 1 on the tokens that were generated. Default all. */
  readonly mask?: Numbers;
  /**
   * What a masked token does to the sum that runs back through it. `through`: it is a step like any other (slime); `reset`: the tokens
   * before it get nothing of the rewards after it (SkyRL: right for trailing padding, wrong for the earlier turns of a dialogue).
   */
  readonly masked?: 'through' | 'reset';
}

/** G_t = r_t + γ·G_{t+1}; rewards [T] -> returns [T]. A masked token's own return is computed too; the loss ignores it. */
export function discountedReturns(
  rewards: Numbers,
  { gamma, mask, masked = 'through' }: ReturnOptions,
): number[] {
  if (mask) expectSameLength('rewards', rewards, 'mask entries', mask);
  const returns = new Array<number>(rewards.length);
  let running = 0;
  for (let t = rewards.length - 1; t >= 0; t--) {
    running = rewards[t]! + gamma * running;
    returns[t] = running;
    if (masked === 'reset' && mask?.[t] === 0) running = 0;
  }
  return returns;
}
