/** The model's work, from measured rounds: least squares where work grows with tasks or samples. */
import type { Observed } from './observe.ts';
import type { Work } from './parameters.ts';

/** Coefficients x that make rows·x closest to targets. Normal equations, solved by elimination; for a few well-scaled columns. */
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

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Work that does not grow is measured as nothing, never as less. */
const positive = (values: readonly number[]) => values.map((value) => Math.max(0, value));

export interface Fit {
  readonly work: Work;
  /** What a batch waits for D1, objects and queues on the measured machine, ms; and what the learner takes to fetch one group. */
  readonly wait: number;
  readonly fetch: number;
}

/** From rounds of runs that had the mesh to themselves: every session is opened once a round and stage. */
export function fitWork(rounds: readonly Observed[], openMs: readonly number[]): Fit {
  const open = median(openMs);
  const [base, task] = leastSquares(
    rounds.map(({ tasks }) => [1, tasks]),
    rounds.map(({ proposeMs }) => proposeMs),
  ) as [number, number];
  const stage = (of: 'rollout' | 'judge') => {
    const [batch, sample] = positive(
      leastSquares(
        rounds.map((round) => [round[of].batches, round.samples]),
        rounds.map((round) => round[of].cpuMs - open),
      ),
    ) as [number, number];
    return { batch, sample };
  };
  const wait = median(
    rounds.map(
      ({ solveMs, rollout, judge }) =>
        (solveMs - rollout.cpuMs - judge.cpuMs) / (rollout.batches + judge.batches),
    ),
  );
  const [learnerBase, fetch, sample] = positive(
    leastSquares(
      rounds.map(({ tasks, samples }) => [1, tasks, samples]),
      rounds.map(({ learnMs }) => learnMs),
    ),
  ) as [number, number, number];
  return {
    work: {
      open,
      propose: { base: Math.max(0, base - open), task: Math.max(0, task) },
      rollout: stage('rollout'),
      judge: stage('judge'),
      learner: { base: learnerBase, sample },
    },
    wait: Math.max(0, wait),
    fetch,
  };
}
