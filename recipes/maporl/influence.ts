/** What answers in a debate are paid, MAPoRL (Park et al., 2025): for themselves, for what they lead others to, and for changes of mind. */

import { mean } from '../../core/rl/statistics.ts';
import type { Maybe } from '../../core/rl/types.ts';

/** An answer counts as right above this score. */
const RIGHT = 0.5;

type Scores = readonly (readonly Maybe[])[];

/**
 * R(t, a) = [v(t, a) + Σ_{t′ > t} γ^(t′ − t) · mean_b v(t′, b)] / Σ_{k = 0}^{T − 1 − t} γ^k, a weighted mean of the answer's own score and those of the
 * turns after it. scores [turns][agents] -> [turns][agents], null where a score that it depends on is missing.
 */
export function influenceReturns(scores: Scores, gamma: number): Maybe[][] {
  const meansT = scores.map((turn) => (turn.includes(null) ? null : mean(turn as readonly number[])));
  return scores.map((turn, t) =>
    turn.map((own) => {
      if (own === null) return null;
      let [sum, weights] = [own, 1];
      for (let later = t + 1; later < scores.length && gamma > 0; later++) {
        const value = meansT[later]!;
        if (value === null) return null;
        const weight = gamma ** (later - t);
        sum += weight * value;
        weights += weight;
      }
      return sum / weights;
    }),
  );
}

/** Weights of changes of mind. */
export interface FlipWeights {
  /** Of an agent's own change where the others were right before it, and where they were wrong. */
  readonly own: { readonly others: number; readonly alone: number };
  /** Of a change of the others after an answer that was right, and after one that was wrong. */
  readonly led: { readonly right: number; readonly wrong: number };
}

/** 1 where a score becomes right, −1 where it becomes wrong, otherwise 0. */
const flip = (before: number, after: number): number => Number(after > RIGHT) - Number(before > RIGHT);

/**
 * What changes of mind add to each answer: an answer is paid for its own agent's change since the turn before, and for the change of the others in the
 * turn after it. The others are right where their mean score is above ½. scores [turns][agents] -> [turns][agents], null as above.
 */
export function flipPay(scores: Scores, { own, led }: FlipWeights): Maybe[][] {
  const others = (t: number, a: number): Maybe => {
    const rest = scores[t]!.filter((_, b) => b !== a);
    return rest.includes(null) ? null : mean(rest as readonly number[]);
  };
  return scores.map((turn, t) =>
    turn.map((score, a) => {
      if (score === null) return null;
      let pay = 0;
      if (t > 0) {
        const [before, heard] = [scores[t - 1]![a]!, others(t - 1, a)];
        if (before === null || heard === null) return null;
        pay += flip(before, score) * (heard > RIGHT ? own.others : own.alone);
      }
      if (t + 1 < scores.length) {
        const [heard, then] = [others(t, a), others(t + 1, a)];
        if (heard === null || then === null) return null;
        pay += flip(heard, then) * (score > RIGHT ? led.right : led.wrong);
      }
      return pay;
    }),
  );
}
