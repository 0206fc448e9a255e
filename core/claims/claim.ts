/**
 * A recipe's published claim at small scale: the arms that show it and those that would refute it, and conditions on the
 * measured curves. Conditions are stated before the runs; a claim that fails is reported with its numbers.
 */
import { wrongInput } from './errors.ts';
import { mean } from './rl/statistics.ts';
import type { Summary } from './schema/summary.ts';

export interface Arm {
  readonly name: string;
  /** Default: the recipe's first. */
  readonly reward?: string;
  readonly freeze?: readonly string[];
  /** Default: as published. */
  readonly variant?: string;
  /** The purpose of the arm, in a sentence. */
  readonly description: string;
}

/** The summaries of each arm, one per seed, in the order of the claim's seeds. */
export type ArmResults = Readonly<Record<string, readonly Summary[]>>;

export interface Condition {
  readonly description: string;
  /** One number per seed. */
  readonly measure: (results: ArmResults, seed: number) => number;
  /** Bounds on the mean over the seeds. Most seeds must keep them too: one lucky seed proves no claim, and one unlucky one refutes none. */
  readonly atLeast?: number;
  readonly atMost?: number;
  /** The bounds must hold for every single seed. */
  readonly everySeed?: boolean;
}

export interface Claim {
  readonly description: string;
  readonly arms: readonly Arm[];
  readonly seeds: readonly number[];
  readonly rounds: number;
  /** Default: the recipe's. */
  readonly tasks?: number;
  readonly groupSize?: number;
  /** Evaluate every so many rounds; default 5. */
  readonly evaluateEvery?: number;
  /** Rounds of a quick check, which is to reach the policy's first update; default 2. */
  readonly quickRounds?: number;
  /** The curves that the page draws, by the figure's name; default: the held-out accuracies. They are shares: the axis goes from 0 to 1. */
  readonly pictures?: Readonly<Record<string, string>>;
  /** What the published claim requires of such runs, and that its controls do not achieve the same. These conditions make the verdict. */
  readonly conditions: readonly Condition[];
  /** Expectations beyond the published claim, measured and shown beside it. */
  readonly observations?: readonly Condition[];
  /** Written after the runs: what they show beyond the conditions, and why those fail that do. */
  readonly diagnosis?: string;
}

/** The parts of a recipe that its claim is read from. */
export interface Claiming {
  readonly name: string;
  readonly claim?: Claim;
}

/** Throws `claims.none` where the recipe states no claim. */
export function claimOf({ name, claim }: Claiming): Claim {
  if (claim) return claim;
  throw wrongInput('claims.none', `Recipe ${name} states no claim.`, {
    expected: 'a recipe with a claim: arms, seeds, rounds and conditions',
    next: 'Give the recipe a `claim`, or play it with `npm start`.',
  });
}

export type Verdict = 'reproduced' | 'partly' | 'not reproduced';

export interface JudgedCondition {
  readonly description: string;
  readonly bound: string;
  readonly measured: readonly number[];
  readonly holds: boolean;
}

export function judgeCondition(condition: Condition, results: ArmResults, seeds: number): JudgedCondition {
  const { description, atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = condition;
  const measured = Array.from({ length: seeds }, (_, seed) => condition.measure(results, seed));
  // Rates of 500 tasks are multiples of 0.002; the rounding error in a difference of two of them must not decide.
  const within = (value: number) => value >= atLeast - 1e-9 && value <= atMost + 1e-9;
  const keep = measured.filter(within).length;
  return {
    description,
    bound: `${Number.isFinite(atLeast) ? `at least ${atLeast}` : `at most ${atMost}`}${condition.everySeed ? ', every seed' : ''}`,
    measured,
    holds: condition.everySeed ? keep === seeds : within(mean(measured)) && 2 * keep > seeds,
  };
}

export function verdictOf(conditions: readonly JudgedCondition[]): Verdict {
  const held = conditions.filter((condition) => condition.holds).length;
  return held === conditions.length ? 'reproduced' : held > 0 ? 'partly' : 'not reproduced';
}

const curve = (results: ArmResults, arm: string, seed: number): Summary['heldout'] => {
  const found = results[arm]?.[seed]?.heldout;
  if (!found?.length) throw new Error(`internal: arm ${arm} has no evaluated run of seed ${seed}`);
  return found;
};

/** A figure of a held-out evaluation, by its name; NaN where it was not measured. */
export function figureOf(point: Summary['heldout'][number], figure: string): number {
  const own: Readonly<Record<string, unknown>> = { ...point };
  const value = own[figure] ?? point.figures?.[figure];
  return typeof value === 'number' ? value : Number.NaN;
}

/** Values of a held-out figure over an arm's run, version 0 first. */
export const curveOf = (results: ArmResults, arm: string, seed: number, figure = 'accuracy'): number[] =>
  curve(results, arm, seed).map((point) => figureOf(point, figure));

/** Values of a round's monitor or training plan figure over an arm's run, round 1 first; NaN where it was not measured. */
export const monitorOf = (results: ArmResults, arm: string, seed: number, figure: string): number[] =>
  (results[arm]?.[seed]?.monitors ?? []).map((point) => point.figures[figure] ?? Number.NaN);

/** Value of a held-out figure at the end of an arm's run. */
export const atEnd = (results: ArmResults, arm: string, seed: number, figure = 'accuracy') =>
  curveOf(results, arm, seed, figure).at(-1)!;

/** The last value of a held-out figure minus the first. */
export const rise = (results: ArmResults, arm: string, seed: number, figure = 'accuracy') =>
  atEnd(results, arm, seed, figure) - curveOf(results, arm, seed, figure)[0]!;

/** The highest of all evaluations minus the first. */
export const highest = (results: ArmResults, arm: string, seed: number, figure = 'accuracy') =>
  Math.max(...curveOf(results, arm, seed, figure)) - curveOf(results, arm, seed, figure)[0]!;

/** The highest of all evaluations minus the last. */
export const lost = (results: ArmResults, arm: string, seed: number, figure = 'accuracy') =>
  Math.max(...curveOf(results, arm, seed, figure)) - atEnd(results, arm, seed, figure);

/** Mean of a monitor over the last `rounds` rounds of an arm's run. */
export function lately(results: ArmResults, arm: string, seed: number, figure: string, rounds = 5): number {
  const values = monitorOf(results, arm, seed, figure).slice(-rounds);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
