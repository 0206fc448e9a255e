/** The figures that every claim is reported with, whatever its conditions: skill, sampled accuracy, the reward's gap to gold, tokens. */
import { mean, tInterval } from 'rollmesh';
import type { RewardGap, Run } from './claim.ts';
import { curveOf, meanOf, monitorOf } from './curves.ts';

/** Means over the seeds of a figure at the start and at the end of the runs, and the 95 % interval of the change. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly change: ReturnType<typeof tInterval>;
}

export interface Columns {
  /** Held-out accuracy of greedy answers. */
  readonly greedy: Change;
  /** The same with the answer's steps forced; absent where answers have no steps. */
  readonly forced?: Change;
  /** Held-out accuracy of sampled answers. */
  readonly sampled?: Change;
  /**
   * What the solver is paid minus the share of its answers that are exact, or what the claim has in its place, in the first three rounds that
   * pay it and in the last five.
   */
  readonly gap?: Change;
  /** Millions a run, over the whole run. */
  readonly generated: number;
  readonly trained: number;
}

/** The change of something over the runs; undefined where a run did not measure it. */
function changeOf(starts: readonly number[], ends: readonly number[]): Change | undefined {
  const changes = ends.map((end, i) => end - starts[i]!);
  if (!changes.length || changes.some(Number.isNaN)) return undefined;
  return { start: mean(starts), end: mean(ends), change: tInterval(changes) };
}

/** The rounds whose mean is the gap's start, and its end. */
const [FIRST, LAST] = [3, 5];

/** The gap to gold over the rounds of each run, from the first round on that has one: a recipe may train other parts before its solver. */
function gapsOf(runs: readonly Run[], { figures = ['gap'] }: Pick<RewardGap, 'figures'>): number[][] {
  const results = { arm: runs };
  const [paid, gold] = figures;
  if (paid === undefined) return [];
  return runs.map((_, seed) => {
    const subtracted = gold === undefined ? [] : monitorOf(results, 'arm', seed, gold);
    const gaps = monitorOf(results, 'arm', seed, paid).map((value, i) => value - (subtracted[i] ?? 0));
    const first = gaps.findIndex((value) => !Number.isNaN(value));
    return first < 0 ? [] : gaps.slice(first);
  });
}

export function columnsOf(runs: readonly Run[], gapTo: Pick<RewardGap, 'figures'> = {}): Columns {
  const results = { arm: runs };
  const seeds = runs.map((_, seed) => seed);
  const heldOut = (figure: string) => {
    const curves = seeds.map((seed) => curveOf(results, 'arm', seed, figure));
    return changeOf(
      curves.map((curve) => curve[0]!),
      curves.map((curve) => curve.at(-1)!),
    );
  };
  const [forced, sampled] = [heldOut('forcedWorked'), heldOut('sampled')];
  const gaps = gapsOf(runs, gapTo);
  const gap = changeOf(
    gaps.map((values) => meanOf(values.slice(0, FIRST))),
    gaps.map((values) => meanOf(values.slice(-LAST))),
  );
  const millions = (kind: keyof Run['tokens']) => mean(runs.map(({ tokens }) => tokens[kind])) / 1e6;
  return {
    greedy: heldOut('accuracy')!,
    ...(forced ? { forced } : {}),
    ...(sampled ? { sampled } : {}),
    ...(gap ? { gap } : {}),
    generated: millions('generated'),
    trained: millions('trained'),
  };
}

/** What a policy can do when it does not sample: with its steps forced where that was measured, so that the choice to write them is left out. */
export const skillOf = ({ forced, greedy }: Columns): Change => forced ?? greedy;

/** By how much more sampled accuracy rose than skill did, one number per run: what training made likelier, not possible. */
export function sharpeningOf(runs: readonly Run[]): ReturnType<typeof tInterval> | undefined {
  const { sampled, forced } = columnsOf(runs);
  if (!sampled) return undefined;
  const results = { arm: runs };
  const change = (seed: number, figure: string) => {
    const curve = curveOf(results, 'arm', seed, figure);
    return curve.at(-1)! - curve[0]!;
  };
  const skill = forced ? 'forcedWorked' : 'accuracy';
  return tInterval(runs.map((_, seed) => change(seed, 'sampled') - change(seed, skill)));
}
