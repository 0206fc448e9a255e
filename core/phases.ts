/**
 * The phase scheduler: what a round is for, where rounds are not all alike. Some phases may come once, at the beginning; then some
 * come again and again. Pure and by the round's number alone, so that every Worker and the learner agree without asking.
 */
export interface Phase<P extends string> {
  readonly phase: P;
  readonly rounds: number;
}

export interface Schedule<P extends string> {
  /** Once, in this order. */
  readonly first?: readonly Phase<P>[];
  /** Over and over, in this order. */
  readonly cycle: readonly Phase<P>[];
}

export const cycleOf = <P extends string>({ cycle }: Pick<Schedule<P>, 'cycle'>): number =>
  cycle.reduce((sum, { rounds }) => sum + rounds, 0);

/** The phase of a round, which count from 1, and how many rounds of the same phase came before it. */
export function phaseAt<P extends string>(
  { first = [], cycle }: Schedule<P>,
  round: number,
): { readonly phase: P; readonly before: number } {
  const spent = new Map<P, number>();
  const spend = (phase: P, rounds: number) => spent.set(phase, (spent.get(phase) ?? 0) + rounds);
  let left = round - 1;
  const find = (phases: readonly Phase<P>[]) => {
    for (const { phase, rounds } of phases) {
      if (left < rounds) return { phase, before: (spent.get(phase) ?? 0) + left };
      spend(phase, rounds);
      left -= rounds;
    }
    return undefined;
  };
  const early = find(first);
  if (early) return early;
  const cycles = Math.floor(left / cycleOf({ cycle }));
  for (const { phase, rounds } of cycle) spend(phase, cycles * rounds);
  left -= cycles * cycleOf({ cycle });
  return find(cycle)!;
}
