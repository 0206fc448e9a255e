/**
 * What is kept of the runs of a claim: the figures that its conditions, tables and pictures read, and no others. Which those are is seen by
 * reading: everything is computed from runs that note each figure that they are asked for.
 */
import { type ClaimedRecipe, claimedRegistry, type Run } from '../rule/claim.ts';
import { pagesOf } from './pages.ts';
import { judged, type Played } from './record.ts';

type Point = Run['heldout'][number];
type Figures = NonNullable<Point['figures']>;

/** The same figures; those that are asked for are added to `read`. */
const noting = <T extends object>(figures: T, read: Set<string>): T =>
  new Proxy(figures, {
    get(target, name, receiver) {
      read.add(String(name));
      return Reflect.get(target, name, receiver);
    },
  });

interface Read {
  readonly evaluations: Set<string>;
  readonly figures: Set<string>;
  readonly monitors: Set<string>;
}

const notingRun = (run: Run, { evaluations, figures, monitors }: Read): Run => ({
  ...run,
  heldout: run.heldout.map((point) =>
    noting(point.figures ? { ...point, figures: noting(point.figures, figures) } : point, evaluations),
  ),
  ...(run.monitors
    ? { monitors: run.monitors.map((point) => ({ ...point, figures: noting(point.figures, monitors) })) }
    : {}),
});

const some = (figures: Figures, read: ReadonlySet<string>): Figures =>
  Object.fromEntries(Object.entries(figures).filter(([name]) => read.has(name)));

/** Fields of an evaluation that are kept whether they are read or not. */
const ALWAYS: ReadonlySet<string> = new Set(['round', 'n', 'accuracy', 'sampled', 'forcedWorked']);

function trimmedRun(
  { recipe, seed, rounds, engine, heldout, monitors, tokens, wallMs }: Run,
  read: Read,
): Run {
  const evaluated = ({ figures, ...point }: Point): Point => {
    const own = Object.entries(point).filter(([name]) => ALWAYS.has(name) || read.evaluations.has(name));
    const kept = some(figures ?? {}, read.figures);
    return { ...Object.fromEntries(own), ...(Object.keys(kept).length ? { figures: kept } : {}) } as Point;
  };
  const measured = (monitors ?? []).map(({ round, figures }) => ({
    round,
    figures: some(figures, read.monitors),
  }));
  return {
    ...{ recipe, seed, rounds, ...(engine ? { engine } : {}), heldout: heldout.map(evaluated) },
    ...(measured.some(({ figures }) => Object.keys(figures).length) ? { monitors: measured } : {}),
    ...{ tokens, wallMs },
  };
}

const withoutRegistration = ({ registration: _, ...played }: Played): Played => played;

/** The record with the runs as they are kept. `runs` of a record that is trimmed already stay as they are. */
export function trimmed<P extends Played>(recipe: ClaimedRecipe, played: P): P {
  const read: Read = { evaluations: new Set(), figures: new Set(), monitors: new Set() };
  const arms = played.arms.map((arm) => ({ ...arm, runs: arm.runs.map((run) => notingRun(run, read)) }));
  const attempts = { recipe: recipe.name, earlier: [], starts: 0, moved: [], pilots: [] };
  pagesOf(
    claimedRegistry([recipe]),
    [judged({ ...withoutRegistration(played), arms }, recipe, attempts)],
    [],
  );
  return {
    ...played,
    arms: played.arms.map((arm) => ({
      ...arm,
      runs: arm.runs.map((run) => trimmedRun(run, read)),
    })),
  };
}
