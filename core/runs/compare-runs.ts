/**
 * Compares two runs at equal sampled tokens and at equal FLOP, question by question, and version by version by the bytes of their weights. A run is
 * evaluated after some of its rounds alone: compared are the last evaluated versions of which neither had cost a tenth more than the other. They are
 * chosen by what they cost, never by what they answer.
 */
import { wrongInput } from '../errors.ts';
import type { ChangeVerdict, Evaluation } from '../schema/evaluation.ts';
import type { RoundReport } from '../schema/report.ts';
import { changesOf, differenceOf } from '../statistics/change.ts';
import type { Interval } from '../statistics/intervals.ts';
import { type AtTemperature, bestOf, temperaturesIn } from '../statistics/temperatures.ts';

/** After round `round` of a run, 0 = before its first. `weights`: `weightsSha256` of the version; null where its files are gone. */
export interface RunPoint {
  readonly round: number;
  readonly version: number;
  readonly weights: string | null;
  readonly report: RoundReport;
}

export interface ComparableRun {
  readonly id: string;
  readonly name: string;
  readonly recipe: string;
  readonly policy: string;
  /** Number of parameters of the policy. */
  readonly parameters: number;
  /** In the order of their rounds, from 0. */
  readonly points: readonly RunPoint[];
}

export const BUDGETS = ['tokens', 'flop'] as const;
export type Budget = (typeof BUDGETS)[number];

/** An evaluated version, and what its run had spent until then. */
interface Spent extends Readonly<Record<Budget, number>> {
  readonly round: number;
  readonly version: number;
  readonly accuracy: number;
  /** At the temperature of most right answers; null where the run did not ask at several. */
  readonly best: AtTemperature | null;
}

export interface AtBudget {
  readonly versions: readonly [Spent, Spent];
  /** Number of held-out questions of the first and of the second. */
  readonly n: readonly [number, number];
  /** Of the second run as against the first. */
  readonly verdict: ChangeVerdict;
  readonly p: number | null;
  /** Second − first; null where they cannot be compared question by question. */
  readonly difference: (Interval & { readonly mean: number }) | null;
  /** Why nothing was tested; null where it was. */
  readonly why: string | null;
}

/** A pair of versions after the same round; `same` is null where the files of one are gone. */
export interface PairedVersions {
  readonly round: number;
  readonly versions: readonly [number, number];
  readonly same: boolean | null;
}

export interface ComparedRuns extends Readonly<Record<Budget, AtBudget>> {
  /** What the versions that the runs began from give at their best temperature, without training; null where it is not known. */
  readonly untrained: readonly [AtTemperature | null, AtTemperature | null];
  readonly bytes: readonly PairedVersions[];
}

type Evaluated = Spent & { readonly evaluation: Evaluation };

function bestIn(evaluation: Evaluation | undefined): AtTemperature | null {
  const at = temperaturesIn(evaluation?.figures);
  return at.length ? bestOf(at) : null;
}

const untrainedOf = ({ points }: ComparableRun): AtTemperature | null =>
  bestIn(points.find(({ round }) => round === 0)?.report.evaluation);

/**
 * The evaluated versions that a run made. FLOP are estimated: two per parameter and sampled token and six per parameter and trained token (Kaplan et al., "Scaling
 * Laws for Neural Language Models", 2020, section 2.1), without attention, prompts of samplers, and models other than the policy.
 */
function evaluatedOf({ id, parameters, points }: ComparableRun): Evaluated[] {
  let [sampled, trained] = [0, 0];
  const evaluated = points.flatMap(({ round, version, report: { monitors, training, evaluation } }) => {
    sampled += monitors?.tokens ?? 0;
    trained += training?.tokens ?? 0;
    const spent = { tokens: sampled, flop: parameters * (2 * sampled + 6 * trained) };
    if (!evaluation || round === 0) return [];
    const { accuracy } = evaluation.heldOut;
    return [{ round, version, ...spent, accuracy, best: bestIn(evaluation), evaluation }];
  });
  if (evaluated.length) return evaluated;
  throw wrongInput('compare.evaluation', `No version that the run ${id} made was evaluated.`, {
    expected: 'two runs with an evaluation each after a round of theirs',
    next: 'Wait for the next evaluation, or play the run with a smaller --eval-every.',
  });
}

/** How much more one of two versions may have cost than the other, as a share of the larger cost. */
export const EQUAL_WITHIN = 0.1;

/** Why the two cannot be compared question by question; null where they can. */
function apart(
  [a, b]: readonly [ComparableRun, ComparableRun],
  pair: readonly [Evaluated, Evaluated],
  by: Budget,
): string | null {
  const [one, other] = [pair[0].evaluation.heldOut, pair[1].evaluation.heldOut];
  const known = one.questions !== undefined || other.questions !== undefined;
  if (known ? one.questions !== other.questions : a.recipe === b.recipe && one.n !== other.n)
    return 'the runs were evaluated on different held-out questions';
  if (!known && a.recipe !== b.recipe)
    return `nothing says that ${a.recipe} and ${b.recipe} have the same held-out questions`;
  if (!isNear(pair, by))
    return `no versions of both with costs within ${100 * EQUAL_WITHIN} % were evaluated`;
  if (pair.every((one) => one[by] === 0)) return 'neither run had spent any';
  return null;
}

const gap = ([first, second]: readonly [Evaluated, Evaluated], by: Budget) =>
  Math.abs(first[by] - second[by]);
const isNear = (pair: readonly [Evaluated, Evaluated], by: Budget) =>
  gap(pair, by) <= EQUAL_WITHIN * Math.max(pair[0][by], pair[1][by]);

/** The pair that cost most of those that cost the same, else the last of both. Versions that the runs began from are no choice. */
function pairAt(first: readonly Evaluated[], second: readonly Evaluated[], by: Budget) {
  const least = (pair: readonly [Evaluated, Evaluated]) => Math.min(pair[0][by], pair[1][by]);
  let best: readonly [Evaluated, Evaluated] | undefined;
  for (const one of first)
    for (const other of second) {
      const pair = [one, other] as const;
      if (!isNear(pair, by)) continue;
      const more = best ? least(pair) - least(best) : 1;
      if (more > 0 || (more === 0 && gap(pair, by) <= gap(best!, by))) best = pair;
    }
  return best ?? ([first.at(-1)!, second.at(-1)!] as const);
}

/** @throws RollmeshError `compare.evaluation` where a run has no evaluation after a round. */
export function compareRuns(a: ComparableRun, b: ComparableRun): ComparedRuns {
  const [first, second] = [evaluatedOf(a), evaluatedOf(b)];
  const pairs = BUDGETS.map((by) => ({ by, pair: pairAt(first, second, by) }));
  const looks = new Set(pairs.map(({ pair }) => pair.map(({ round }) => round).join())).size;
  const [tokens, flop] = pairs.map(({ pair, by }) => compared(pair, apart([a, b], pair, by), looks));
  return {
    ...{ tokens: tokens!, flop: flop!, bytes: pairedVersions(a, b) },
    untrained: [untrainedOf(a), untrainedOf(b)],
  };
}

function compared(pair: readonly [Evaluated, Evaluated], why: string | null, looks: number): AtBudget {
  const [{ evaluation: one, ...first }, { evaluation: other, ...second }] = pair;
  const change = why === null ? changesOf(one, other, looks).accuracy : undefined;
  const { verdict, p } = change ?? { verdict: 'untested', p: null };
  const tested = verdict !== 'untested';
  return {
    versions: [first, second],
    n: [one.heldOut.n, other.heldOut.n],
    verdict,
    p,
    difference: tested ? differenceOf(one.tallies!.accuracy!, other.tallies!.accuracy!) : null,
    why: tested ? null : (why ?? 'the evaluations do not say what each question gave'),
  };
}

function pairedVersions(a: ComparableRun, b: ComparableRun): PairedVersions[] {
  const others = new Map(b.points.map((point) => [point.round, point]));
  return a.points.flatMap(({ round, version, weights }) => {
    const other = others.get(round);
    if (!other) return [];
    const known = weights !== null && other.weights !== null;
    return [{ round, versions: [version, other.version], same: known ? weights === other.weights : null }];
  });
}
