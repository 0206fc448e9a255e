/** Mixes several streams of credit for the same tokens (outcome, steps, implicit process rewards), each of which was normalised before. */
import { wrongInput } from '../../errors.ts';
import { expectSameLength, type Maybe, type Numbers } from '../types.ts';

export interface CreditStream {
  readonly weight: number;
  /** Per sequence: one value for all its tokens, or one per token [T]; null = missing. */
  readonly advantages: readonly (Maybe | Numbers)[];
}

/**
 * Σ weight·advantage for each token: streams -> [n][T] with T from `lengths` [n]. A sequence that is missing in one of the streams gets
 * null: the sum of the other streams would be on another scale than its siblings'.
 */
export function mixStreams(streams: readonly CreditStream[], lengths: Numbers): (number[] | null)[] {
  for (const { advantages } of streams) expectSameLength('sequences', lengths, 'advantages', advantages);
  return Array.from(lengths, (length, i) => {
    const mixed = new Array<number>(length).fill(0);
    for (const { weight, advantages } of streams) {
      const credit = advantages[i] ?? null;
      if (credit === null) return null;
      if (typeof credit !== 'number' && credit.length !== length)
        throw wrongInput(
          'rl.streams',
          `sequence ${i} has ${length} tokens and ${credit.length} advantages.`,
          {
            expected: 'one advantage a token, or one for the sequence',
          },
        );
      for (let t = 0; t < length; t++)
        mixed[t]! += weight * (typeof credit === 'number' ? credit : credit[t]!);
    }
    return mixed;
  });
}

/** start·(end/start)^(step/steps): exponential decay of a stream's weight (RL Tango: .1 to 1e-3), constant after `steps`. */
export const exponentialDecay = (start: number, end: number, step: number, steps: number): number =>
  start * (end / start) ** Math.min(1, step / steps);
