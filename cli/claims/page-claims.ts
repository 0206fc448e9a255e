/** Makes `web/dashboard/claims.json`, the dashboard's data about measured claims, small enough to be served as it is. */
import { figureOf } from '../../core/claims/curves.ts';
import type { Summary } from '../../core/schema/summary.ts';
import { picturesOf } from './page.ts';
import type { Judged } from './record.ts';

/** Means over the runs at the rounds that all of them evaluated, to four digits; null where a run did not measure the figure. */
function meanCurves(runs: readonly Summary[], figures: readonly string[]) {
  const byRound = runs.map(({ heldout }) => new Map(heldout.map((point) => [point.round, point])));
  const rounds = [...(byRound[0]?.keys() ?? [])].filter((round) => byRound.every((run) => run.has(round)));
  const mean = (figure: string, round: number) => {
    const sum = byRound.reduce((total, run) => total + figureOf(run.get(round)!, figure), 0);
    return Number.isNaN(sum) ? null : Number((sum / byRound.length).toFixed(4));
  };
  const curves = figures.map((figure) => [figure, rounds.map((round) => mean(figure, round))] as const);
  return { rounds, curves: Object.fromEntries(curves) };
}

/** The data of the claims, by recipe. */
export const claimsForPage = (records: readonly Judged[]) =>
  Object.fromEntries(
    records.map((record) => {
      const { recipe, claim, verdict, rounds, seeds, machine, conditions, arms } = record;
      const pictures = picturesOf(record);
      return [
        recipe,
        {
          claim,
          verdict,
          rounds,
          seeds,
          commit: machine.commit,
          conditions,
          pictures,
          arms: arms.map(({ name, description, runs }) => ({
            name,
            description,
            ...meanCurves(runs, Object.keys(pictures)),
          })),
        },
      ];
    }),
  );
