/**
 * The rule by which every claim is judged: a condition holds or fails where the 95 % t-interval of what was measured, one number per seed,
 * lies wholly on one side of its bound; otherwise it is within noise (docs/decisions/0012-one-rule.md).
 */
import { tInterval, wrongInput } from 'rollmesh';
import type { ArmResults, Condition } from './claim.ts';
import { NotPlayed } from './curves.ts';

/** `not played`: an arm of the condition has no runs in the record. */
export type Outcome = 'holds' | 'fails' | 'within noise' | 'not played';

/** `partly`: some conditions of the method hold. `not shown`: none holds and one fails. `within noise`: none holds, none fails. */
export type Verdict = 'shown' | 'partly' | 'not shown' | 'within noise';

export interface JudgedCondition {
  readonly description: string;
  readonly control?: true;
  readonly bound: string;
  /** One number per seed. */
  readonly measured: readonly number[];
  /** The 95 % interval of their mean. */
  readonly interval: { readonly mean: number; readonly low: number; readonly high: number };
  readonly outcome: Outcome;
}

/** Rates of 500 tasks are multiples of 0.002; the rounding error in a difference of two of them must not decide. */
const ROUNDING = 1e-9;

/** Says a condition's bound. Throws `wrong-input` where it is 0 or no number: noise would pass such a bound half of the time. */
export function boundOf({ description, atLeast, atMost }: Condition): string {
  const bound = atLeast ?? atMost;
  if (bound !== undefined && Number.isFinite(bound) && bound !== 0)
    return `${atLeast === undefined ? 'at most' : 'at least'} ${bound}`;
  throw wrongInput('claims.bound', `The condition "${description}" has the bound ${bound}.`, {
    expected: 'the smallest effect of interest, a finite number that is not 0',
    next: 'Say how large an effect would matter, before the runs are played.',
  });
}

/** What the condition measures, for the seeds that all of its arms were played with. */
function measuredBy({ measure }: Condition, results: ArmResults, seeds: number): number[] {
  const measured: number[] = [];
  for (let seed = 0; seed < seeds; seed++)
    try {
      measured.push(measure(results, seed));
    } catch (error) {
      if (!(error instanceof NotPlayed)) throw error;
      break;
    }
  return measured;
}

/** The outcome of an interval under a condition's bound. */
function outcomeOf({ atLeast, atMost }: Condition, measured: readonly number[]): Outcome {
  if (!measured.length) return 'not played';
  // What happened on few seeds has no mean: that it mostly did not happen refutes the condition, that it sometimes did not leaves it open.
  const missing = measured.filter((value) => !Number.isFinite(value)).length;
  if (missing) return 2 * missing > measured.length ? 'fails' : 'within noise';
  const { low, high } = tInterval(measured);
  // How far the interval's ends lie beyond the bound, on the side where the condition holds.
  const [worst, best] =
    atLeast === undefined ? [atMost! - high, atMost! - low] : [low - atLeast, high - atLeast];
  if (worst >= -ROUNDING) return 'holds';
  return best < -ROUNDING ? 'fails' : 'within noise';
}

/** Judges one condition on `seeds` seeds. Throws `wrong-input` where its bound is 0. */
export function judgeCondition(condition: Condition, results: ArmResults, seeds: number): JudgedCondition {
  const { description, control } = condition;
  const bound = boundOf(condition);
  const measured = measuredBy(condition, results, seeds);
  return {
    description,
    ...(control ? { control } : {}),
    bound,
    measured,
    interval: tInterval(measured),
    outcome: outcomeOf(condition, measured),
  };
}

export function verdictOf(conditions: readonly Pick<JudgedCondition, 'outcome' | 'control'>[]): Verdict {
  if (conditions.every(({ outcome }) => outcome === 'holds')) return 'shown';
  const outcomes = conditions.filter(({ control }) => !control).map(({ outcome }) => outcome);
  if (outcomes.includes('holds')) return 'partly';
  return outcomes.includes('fails') ? 'not shown' : 'within noise';
}
