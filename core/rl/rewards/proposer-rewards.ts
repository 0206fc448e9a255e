/**
 * Rewards of a proposer for a task, as functions of a probe's statistic: p = share of solver attempts that succeed, or that agree
 * with the majority. All pay most for tasks at the edge of what the solver can do; whether a task is valid is decided elsewhere.
 */
import { sameExp } from '../../same-exp.ts';
import type { Numbers } from '../types.ts';

/** 4p(1 − p): 1 at p = ½, 0 at both ends (verifiers' proposer-solver). */
export const learnability = (p: number): number => 4 * p * (1 - p);

/** min(p, 1 − p): R-Zero's released code. */
export const bandPass = (p: number): number => Math.min(p, 1 - p);

/** 1 − 2|p − ½|: R-Zero's paper. It has the optimum of `bandPass` at twice the range, which halves the weight of what is subtracted from it. */
export const uncertainty = (p: number): number => 1 - 2 * Math.abs(p - 0.5);

/** 1 − p where the task is neither always nor never solved, else 0 (Absolute Zero Reasoner). */
export const interiorDifficulty = (p: number): number => (p > 0 && p < 1 ? 1 - p : 0);

/** 1 − (1 + α)p inside (0, 1), −α at both ends (Self-play SWE-RL, α = 0.8). */
export const penalisedDifficulty = (p: number, alpha = 0.8): number =>
  p > 0 && p < 1 ? 1 - (1 + alpha) * p : -alpha;

/** exp(−(H − centre)²/(2·width²)): a smooth band on the entropy (nats) of the solver's answers (EvoLMM: .90, .35). */
export const entropyBand = (entropy: number, centre = 0.9, width = 0.35): number =>
  sameExp(-((entropy - centre) ** 2) / (2 * width ** 2));

/** Entropy (nats) of a discrete distribution given by counts; 0 for no counts. */
export function entropyOfCounts(counts: Numbers): number {
  const all = Array.from(counts);
  const total = all.reduce((a, b) => a + b, 0);
  return all.reduce((sum, n) => (n > 0 ? sum - (n / total) * Math.log(n / total) : sum), 0);
}

/** 1 where exactly one of n attempts is right, and from there in a straight line down to 0 where all are; 0 where none is (π-Play). */
export const oneRight = (right: number, n: number): number => {
  if (right === 0) return 0;
  return n > 1 ? (n - right) / (n - 1) : 1;
};
