/**
 * The phase scheduler, for recipes whose rounds are not all alike: it says which phase a round belongs to. Some phases may come once, at
 * the beginning; then a cycle repeats. It depends on the round's number alone, so that every Worker and the learner agree without asking.
 */
export interface Phase<P extends string> {
  readonly phase: P;
  readonly rounds: number;
}

export interface Schedule<P extends string> {
  /** These phases come once, in this order. */
  readonly first?: readonly Phase<P>[];
  /** These phases repeat, in this order. */
  readonly cycle: readonly Phase<P>[];
}

export const cycleOf = <P extends string>({ cycle }: Pick<Schedule<P>, 'cycle'>): number =>
  cycle.reduce((sum, { rounds }) => sum + rounds, 0);

const spelledOut = <P extends string>(phases: readonly Phase<P>[]): P[] =>
  phases.flatMap(({ phase, rounds }) => new Array<P>(rounds).fill(phase));

/** The phase of a round, and how many rounds of the same phase came before it. Rounds count from 1. */
export function phaseAt<P extends string>(
  { first = [], cycle }: Schedule<P>,
  round: number,
): { readonly phase: P; readonly before: number } {
  const [once, again] = [spelledOut(first), spelledOut(cycle)];
  const phases = Array.from({ length: round }, (_, i) => once[i] ?? again[(i - once.length) % again.length]!);
  const phase = phases.pop()!;
  return { phase, before: phases.filter((earlier) => earlier === phase).length };
}
