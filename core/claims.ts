/**
 * A recipe's published claim at small scale: the arms that show it and those that would refute it, and conditions on the
 * measured curves. Conditions are stated before the runs; a claim that fails is reported with its numbers.
 */
import type { Summary } from './schema/summary.ts';

export interface Arm {
  readonly name: string;
  readonly reward: string;
  readonly freeze: readonly string[];
  /** What the arm is there for. */
  readonly says: string;
}

/** Summaries of one arm, one a seed, in the order of the claim's seeds. */
export type ArmResults = Readonly<Record<string, readonly Summary[]>>;

export interface Condition {
  readonly says: string;
  /** One number a seed. */
  readonly measure: (results: ArmResults, seed: number) => number;
  /** The condition holds for a seed if measure >= atLeast (or <= atMost). */
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Claim {
  readonly says: string;
  readonly arms: readonly Arm[];
  readonly seeds: readonly number[];
  readonly rounds: number;
  readonly conditions: readonly Condition[];
}

export type Verdict = 'reproduced' | 'partly' | 'not reproduced';

export interface JudgedCondition {
  readonly says: string;
  readonly bound: string;
  readonly measured: readonly number[];
  readonly holds: boolean;
}

export function judgeCondition(condition: Condition, results: ArmResults, seeds: number): JudgedCondition {
  const { says, atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = condition;
  const measured = Array.from({ length: seeds }, (_, seed) => condition.measure(results, seed));
  return {
    says,
    bound: Number.isFinite(atLeast) ? `at least ${atLeast}` : `at most ${atMost}`,
    measured,
    // Rates of 500 tasks are multiples of 0.002; a difference of two of them carries rounding that must not decide.
    holds: measured.every((value) => value >= atLeast - 1e-9 && value <= atMost + 1e-9),
  };
}

export function verdictOf(conditions: readonly JudgedCondition[]): Verdict {
  const held = conditions.filter((condition) => condition.holds).length;
  return held === conditions.length ? 'reproduced' : held > 0 ? 'partly' : 'not reproduced';
}

type Point = Summary['heldout'][number];

const curve = (results: ArmResults, arm: string, seed: number): readonly Point[] => {
  const found = results[arm]?.[seed]?.heldout;
  if (!found?.length) throw new Error(`internal: arm ${arm} has no evaluated run of seed ${seed}`);
  return found;
};

/** Value of a held-out figure at the end of an arm's run. */
export const atEnd = (
  results: ArmResults,
  arm: string,
  seed: number,
  figure: 'accuracy' | 'sampled' | 'forcedWorked',
) => curve(results, arm, seed).at(-1)![figure];

/** End minus start. */
export const rise = (
  results: ArmResults,
  arm: string,
  seed: number,
  figure: 'accuracy' | 'sampled' | 'forcedWorked',
) => atEnd(results, arm, seed, figure) - curve(results, arm, seed)[0]![figure];

/** Best of all evaluations minus the first: how far it ever rose. */
export const highest = (results: ArmResults, arm: string, seed: number) =>
  Math.max(...curve(results, arm, seed).map((point) => point.accuracy)) -
  curve(results, arm, seed)[0]!.accuracy;

/** Best of all evaluations minus the last. */
export const lost = (results: ArmResults, arm: string, seed: number) =>
  Math.max(...curve(results, arm, seed).map((point) => point.accuracy)) -
  atEnd(results, arm, seed, 'accuracy');
