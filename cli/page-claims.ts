/** What the page shows of measured claims: `dashboard/claims.json`, small enough to be served as it is. */
import type { Summary } from '../core/schema/summary.ts';
import type { ClaimRecord } from './claims/record.ts';

const FIGURES = ['accuracy', 'sampled', 'forcedWorked'] as const;
type Figure = (typeof FIGURES)[number];

/** Means over the runs at the rounds that all of them evaluated, to four digits. */
function meanCurves(runs: readonly Summary[]): { rounds: number[] } & Record<Figure, number[]> {
  const byRound = runs.map(({ heldout }) => new Map(heldout.map((point) => [point.round, point])));
  const rounds = [...(byRound[0]?.keys() ?? [])].filter((round) => byRound.every((run) => run.has(round)));
  const curve = (figure: Figure) =>
    rounds.map((round) => {
      const sum = byRound.reduce((total, run) => total + (run.get(round)![figure] ?? 0), 0);
      return Number((sum / byRound.length).toFixed(4));
    });
  return {
    rounds,
    accuracy: curve('accuracy'),
    sampled: curve('sampled'),
    forcedWorked: curve('forcedWorked'),
  };
}

/** By recipe. */
export const claimsForPage = (records: readonly ClaimRecord[]) =>
  Object.fromEntries(
    records.map(({ recipe, claim, verdict, rounds, seeds, machine, conditions, arms }) => [
      recipe,
      {
        claim,
        verdict,
        rounds,
        seeds,
        commit: machine.commit,
        conditions,
        arms: arms.map(({ name, says, runs }) => ({ name, says, ...meanCurves(runs) })),
      },
    ]),
  );
