/** Pareto fronts of scores that are not summed. */

/** Is `a` nowhere worse than `b`, and better somewhere? */
export const dominates = (a: readonly number[], b: readonly number[]): boolean =>
  a.every((score, i) => score >= b[i]!) && a.some((score, i) => score > b[i]!);

/**
 * The front of each score vector [n]: 0 = no other dominates it, 1 = none but those of front 0 do, and so on (non-dominated sorting; Deb et al., 2002).
 * scores [n][objectives] -> [n].
 */
export function frontsOf(scores: readonly (readonly number[])[]): number[] {
  const fronts = scores.map(() => -1);
  for (let front = 0; fronts.includes(-1); front++) {
    const open = fronts.flatMap((at, i) => (at < 0 ? [i] : []));
    const best = open.filter((i) => !open.some((j) => dominates(scores[j]!, scores[i]!)));
    for (const i of best) fronts[i] = front;
  }
  return fronts;
}
