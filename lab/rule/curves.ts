/** Reads the figures of a claim's runs: held-out curves and monitors by arm and seed. */
import { mean } from 'rollmesh';
import type { ArmResults, Run } from './claim.ts';

/** An arm was not played with a seed: conditions are judged on the seeds that all of their arms have. */
export class NotPlayed extends Error {}

function runOf(results: ArmResults, arm: string, seed: number): Run {
  const run = results[arm]?.[seed];
  if (!run) throw new NotPlayed(`internal: arm ${arm} has no run of seed number ${seed}`);
  return run;
}

/** A figure of a held-out evaluation, by its name; NaN where it was not measured. */
export function figureOf(point: Run['heldout'][number], figure: string): number {
  const own = point as Readonly<Record<string, unknown>>;
  const value = own[figure] ?? point.figures?.[figure];
  return typeof value === 'number' ? value : Number.NaN;
}

/** Values of a held-out figure over an arm's run, version 0 first. */
export const curveOf = (results: ArmResults, arm: string, seed: number, figure = 'accuracy'): number[] =>
  runOf(results, arm, seed).heldout.map((point) => figureOf(point, figure));

/** Values of a round's monitor or training plan figure over an arm's run, round 1 first; NaN where it was not measured. */
export const monitorOf = (results: ArmResults, arm: string, seed: number, figure: string): number[] =>
  (runOf(results, arm, seed).monitors ?? []).map((point) => point.figures[figure] ?? Number.NaN);

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

/** NaN of no values: what was not measured has no mean. */
export const meanOf = (values: readonly number[]) => (values.length ? mean(values) : Number.NaN);

/** Mean of a monitor over the last `rounds` rounds of an arm's run. */
export const lately = (results: ArmResults, arm: string, seed: number, figure: string, rounds = 5): number =>
  meanOf(monitorOf(results, arm, seed, figure).slice(-rounds));

/** Mean of a monitor over the first `rounds` rounds, in which a policy is still close to its start. */
export const early = (results: ArmResults, arm: string, seed: number, figure: string, rounds = 3): number =>
  meanOf(monitorOf(results, arm, seed, figure).slice(0, rounds));
