/**
 * The rule by which every claim is judged: a condition holds or fails where the 95 % t-interval of what was measured, one number per seed,
 * lies wholly on one side of its bound; otherwise it is within noise (decisions/0012-one-rule.md).
 */
import { tInterval, wrongInput } from 'rollmesh';
import { armsRead } from './arms-read.ts';
import type { Arm, ArmResults, Claim, Condition, Run } from './claim.ts';
import { meanOf, NotPlayed } from './curves.ts';

/** `not played`: an arm of the condition has no runs in the record. `void`: it compares nothing, see `voidOf`. */
export type Outcome = 'holds' | 'fails' | 'within noise' | 'not played' | 'void';

/** What the runs say of a claim's headline, and of nothing else. */
export const VERDICTS = [
  'headline supported',
  'smaller than asked',
  'no effect shown',
  'reversed',
  'untestable from this start',
] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface JudgedCondition {
  readonly description: string;
  readonly control?: true;
  readonly bound: string;
  /** One number per seed. */
  readonly measured: readonly number[];
  /** The 95 % interval of their mean. */
  readonly interval: { readonly mean: number; readonly low: number; readonly high: number };
  readonly outcome: Outcome;
  /** Why it is void. */
  readonly why?: string;
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

/** Of the main arm's trained tokens a control needs this share, or it shows nothing. */
const TRAINED = 0.1;

const trainedTokens = (runs: readonly Run[] = []) => meanOf(runs.map(({ tokens }) => tokens.trained));

/** The arms that are paid by a coin or for form alone. */
const isControl = ({ reward }: Arm) => reward === 'random' || reward === 'format';

/** The same run with everything that was measured of one value. */
const filled = (run: Run, value: number): Run => {
  const all = (figures: object) => Object.fromEntries(Object.keys(figures).map((name) => [name, value]));
  return {
    ...run,
    heldout: run.heldout.map((point) => {
      const figures = all(point.figures ?? {});
      return { ...all(point), figures } as unknown as Run['heldout'][number];
    }),
    monitors: (run.monitors ?? []).map(({ round, figures }) => ({ round, figures: all(figures) })),
  };
};

/**
 * Whether a condition compares the level of a figure in two arms, and on at least half of the seeds that level is 0 in both: it measures 0, and still 0
 * where either arm has nothing but zeros. What does not change with ones in place of an arm's figures is no level.
 */
function isAtFloor(
  condition: Condition,
  measured: readonly number[],
  arms: readonly Arm[],
  results: ArmResults,
) {
  if (arms.length !== 2) return false;
  const withAll = (value: number) =>
    arms.map(({ name }) => ({ ...results, [name]: (results[name] ?? []).map((run) => filled(run, value)) }));
  const [zeros, ones] = [withAll(0), withAll(1)];
  const is0 = (of: ArmResults, seed: number) => condition.measure(of, seed) === 0;
  const nothings = measured.filter(
    (value, seed) => value === 0 && zeros.every((of) => is0(of, seed)) && !ones.some((of) => is0(of, seed)),
  );
  return measured.length > 0 && 2 * nothings.length >= measured.length;
}

/**
 * Why a condition of the claim compares nothing, in words; undefined where it compares something. A floor: what both arms reach is 0 on at least half of
 * the seeds. A starved control: an arm paid by a coin or for form that trained under a tenth of the first arm's tokens.
 */
export function voidOf(
  condition: Condition,
  measured: readonly number[],
  claim: Claim,
  results: ArmResults,
): string | undefined {
  const names = armsRead(condition, claim);
  const read = claim.arms.filter(({ name }) => names.includes(name));
  if (isAtFloor(condition, measured, read, results)) return 'both arms are at a floor';
  const main = trainedTokens(results[claim.arms[0]!.name]);
  const starved = read.find((arm) => isControl(arm) && trainedTokens(results[arm.name]) < TRAINED * main);
  return starved && `${starved.name} trained under a tenth of the tokens`;
}

/** The direction and size of what a headline measured. A bound below 0 is a largest loss, and one on a level has no other side. */
function effectOf({ atLeast }: Condition, { outcome, interval: { low, high } }: JudgedCondition): Verdict {
  if (outcome === 'holds') return 'headline supported';
  if (outcome === 'void' || outcome === 'not played') return 'untestable from this start';
  if (atLeast === undefined) return 'no effect shown';
  if (atLeast < 0) return outcome === 'fails' ? 'reversed' : 'no effect shown';
  if (low > ROUNDING) return 'smaller than asked';
  return high < -ROUNDING ? 'reversed' : 'no effect shown';
}

/** The verdict of a claim: what its headline measured. No other condition adds to it or takes from it. */
export function verdictOf(
  { conditions, headline = { condition: 0 } }: Pick<Claim, 'conditions' | 'headline'>,
  judged: readonly JudgedCondition[],
): Verdict {
  if (headline.untestable) return 'untestable from this start';
  return effectOf(conditions[headline.condition]!, judged[headline.condition]!);
}
