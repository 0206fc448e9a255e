/** Fits the model's work to measured rounds, by least squares of relative errors where work grows with tasks or samples. */
import type { Observed } from './observe.ts';
import type { Work } from './parameters.ts';

/** Least-squares coefficients x of rows·x = targets, by the normal equations and elimination, for a few well-scaled columns. */
export function leastSquares(rows: readonly (readonly number[])[], targets: readonly number[]): number[] {
  const size = rows[0]!.length;
  const system = Array.from({ length: size }, (_, i) => [
    ...Array.from({ length: size }, (_, j) => rows.reduce((sum, row) => sum + row[i]! * row[j]!, 0)),
    rows.reduce((sum, row, k) => sum + row[i]! * targets[k]!, 0),
  ]);
  for (let i = 0; i < size; i++) {
    const pivot = system
      .slice(i)
      .reduce((best, row) => (Math.abs(row[i]!) > Math.abs(best[i]!) ? row : best));
    system.splice(system.indexOf(pivot), 1);
    system.splice(i, 0, pivot);
    for (let k = 0; k < size; k++) {
      if (k === i) continue;
      const factor = system[k]![i]! / pivot[i]!;
      for (let j = i; j <= size; j++) system[k]![j]! -= factor * pivot[j]!;
    }
  }
  return system.map((row, i) => row[size]! / row[i]!);
}

/** Non-negative least squares: the best of all subsets of columns whose coefficients are not negative. */
export function leastPositive(rows: readonly (readonly number[])[], targets: readonly number[]): number[] {
  const size = rows[0]!.length;
  let best = { error: Number.POSITIVE_INFINITY, found: Array.from({ length: size }, () => 0) };
  for (let choice = 1; choice < 2 ** size; choice++) {
    const columns = Array.from({ length: size }, (_, i) => i).filter((i) => choice & (1 << i));
    const some = leastSquares(
      rows.map((row) => columns.map((i) => row[i]!)),
      targets,
    );
    if (!some.every((value) => value >= 0)) continue;
    const found = Array.from({ length: size }, (_, i) => some[columns.indexOf(i)] ?? 0);
    const error = rows.reduce((sum, row, k) => sum + (dot(row, found) - targets[k]!) ** 2, 0);
    if (error < best.error) best = { error, found };
  }
  return best.found;
}

const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, i) => sum + value * b[i]!, 0);

/** A round of 3 s may be off by ten times what one of 0.3 s may. */
const relative = (rows: readonly (readonly number[])[], targets: readonly number[]) =>
  leastPositive(
    rows.map((row, k) => row.map((value) => value / targets[k]!)),
    targets.map(() => 1),
  );

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** The typical round of a setting, figure by figure, which is robust to a round slowed down by another program. */
export function typical(rounds: readonly Observed[]): Observed {
  const of = (figure: (round: Observed) => number) => median(rounds.map(figure));
  const stage = (name: 'rollout' | 'judge') => ({
    cpuMs: of((round) => round[name].cpuMs),
    batches: of((round) => round[name].batches),
  });
  return {
    run: rounds[0]!.run,
    tasks: of(({ tasks }) => tasks),
    samples: of(({ samples }) => samples),
    proposeMs: of(({ proposeMs }) => proposeMs),
    solveMs: of(({ solveMs }) => solveMs),
    learnMs: of(({ learnMs }) => learnMs),
    roundMs: of(({ roundMs }) => roundMs),
    rollout: stage('rollout'),
    judge: stage('judge'),
    bytes: of(({ bytes }) => bytes),
    tokens: of(({ tokens }) => tokens),
  };
}

export interface Fit {
  readonly work: Work;
  /** What a batch waits for D1, objects and queues on the measured machine, ms; and what the learner takes to fetch one group. */
  readonly wait: number;
  readonly fetch: number;
}

/** Fits to one typical round per setting, of runs alone on the mesh: every session is opened once per round and stage. */
export function fitWork(rounds: readonly Observed[], openMs: readonly number[]): Fit {
  const open = median(openMs);
  const [base, task] = relative(
    rounds.map(({ tasks }) => [1, tasks]),
    rounds.map(({ proposeMs }) => Math.max(1, proposeMs - open)),
  ) as [number, number];
  const stage = (of: 'rollout' | 'judge') => {
    const [batch, task, sample] = relative(
      rounds.map((round) => [round[of].batches, round.tasks, round.samples]),
      rounds.map((round) => Math.max(1, round[of].cpuMs - open)),
    ) as [number, number, number];
    return { batch, task, sample };
  };
  const [wait] = relative(
    rounds.map(({ rollout, judge }) => [rollout.batches + judge.batches]),
    rounds.map(({ solveMs, rollout, judge }) => Math.max(1, solveMs - rollout.cpuMs - judge.cpuMs)),
  ) as [number];
  const [learnerBase, fetch, sample] = relative(
    rounds.map(({ tasks, samples }) => [1, tasks, samples]),
    rounds.map(({ learnMs }) => learnMs),
  ) as [number, number, number];
  return {
    work: {
      open,
      propose: { base, task },
      rollout: stage('rollout'),
      judge: stage('judge'),
      learner: { base: learnerBase, sample, change: 0 },
    },
    wait,
    fetch,
  };
}

/** The value between 0 and `most` at which an increasing figure reaches the measured one. */
export function solveFor(measured: number, figureAt: (value: number) => number, most: number): number {
  let [low, high] = [0, most];
  for (let i = 0; i < 30; i++) {
    const middle = (low + high) / 2;
    if (figureAt(middle) < measured) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
