/** Agglomerative clustering with average linkage, and what it says about repetition in a batch of generated texts. */
import type { Numbers } from '../types.ts';

/**
 * Merges the two nearest clusters while the mean distance between their members is below `threshold`. distances [n][n], symmetric ->
 * labels [n]; equal label, same cluster.
 */
export function averageLinkage(distances: readonly Numbers[], threshold: number): number[] {
  const between = distances.map((row) => Float64Array.from(row));
  let clusters = distances.map((_, i) => ({ at: i, members: [i] }));
  for (;;) {
    let nearest = threshold;
    let pair: readonly [number, number] | null = null;
    for (let i = 0; i < clusters.length; i++)
      for (let j = i + 1; j < clusters.length; j++) {
        const distance = between[clusters[i]!.at]![clusters[j]!.at]!;
        if (distance >= nearest) continue;
        nearest = distance;
        pair = [i, j];
      }
    if (!pair) break;
    const [a, b] = [clusters[pair[0]]!, clusters[pair[1]]!];
    const [n, m] = [a.members.length, b.members.length];
    // The mean over all pairs of members follows from the two means (Lance and Williams).
    for (const { at } of clusters) {
      const merged = (n * between[a.at]![at]! + m * between[b.at]![at]!) / (n + m);
      between[a.at]![at] = merged;
      between[at]![a.at] = merged;
    }
    const joined = { at: a.at, members: [...a.members, ...b.members] };
    clusters = clusters.flatMap((cluster) => (cluster === a ? [joined] : cluster === b ? [] : [cluster]));
  }
  const labels = new Array<number>(distances.length).fill(0);
  for (const { at, members } of clusters) for (const member of members) labels[member] = at;
  return labels;
}

/** Share of the batch that is in the same cluster, for each item [n]: R-Zero's repetition penalty. */
export function clusterShares<T>(
  items: readonly T[],
  similarity: (a: T, b: T) => number,
  threshold = 0.5,
): number[] {
  const distances = items.map((a) => items.map((b) => 1 - similarity(a, b)));
  const labels = averageLinkage(distances, threshold);
  return labels.map((label) => labels.filter((other) => other === label).length / items.length);
}
