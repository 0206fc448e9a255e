/** Failed episodes are paid by how near they come to the successful ones of the same room. */
import { mean } from '../../core/rl/statistics.ts';

export type Vector = readonly number[];

const distanceOf = (a: Vector, b: Vector): number =>
  Math.sqrt(a.reduce((sum, value, i) => sum + (value - b[i]!) ** 2, 0));

/** The mean of vectors [n][numbers]. */
const centreOf = (vectors: readonly Vector[]): Vector =>
  vectors[0]!.map((_, i) => mean(vectors.map((vector) => vector[i]!)));

/**
 * The clusters of vectors [n][numbers] by DBSCAN (Ester et al., 1996), as their members: vectors with at least `least` of them within `radius`, themselves counted, and all
 * that is reached from these. Noise is in none.
 */
export function clustersOf(vectors: readonly Vector[], radius: number, least: number): number[][] {
  const near = vectors.map((one) =>
    vectors.flatMap((other, i) => (distanceOf(one, other) <= radius ? [i] : [])),
  );
  const seen = new Set<number>();
  const clusters: number[][] = [];
  for (const [from, neighbours] of near.entries()) {
    if (seen.has(from) || neighbours.length < least) continue;
    const members: number[] = [];
    const open = [from];
    seen.add(from);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      members.push(at);
      if (near[at]!.length < least) continue;
      for (const next of near[at]!) {
        if (seen.has(next)) continue;
        seen.add(next);
        open.push(next);
      }
    }
    clusters.push(members.sort((a, b) => a - b));
  }
  return clusters;
}

/** How far two episodes may lie apart to be neighbours, and how many make a cluster. */
const RADIUS = 0.5;
const LEAST = 2;

/**
 * The rewards of a room's episodes [n] with these embeddings: 1 for a success, σ(−z) for a failure, where z is its distance to the nearest cluster's centre among the
 * successes, standardised over the failures. Where no success has a neighbour each is a centre. Without a success nothing is paid.
 */
export function selfReferentialRewards(
  succeeded: readonly boolean[],
  embeddings: readonly Vector[],
): number[] {
  const wins = embeddings.filter((_, e) => succeeded[e]);
  if (wins.length === 0) return succeeded.map(() => 0);
  const clusters = clustersOf(wins, RADIUS, LEAST);
  const centres = clusters.length ? clusters.map((members) => centreOf(members.map((i) => wins[i]!))) : wins;
  const far = embeddings.map((one) => Math.min(...centres.map((centre) => distanceOf(one, centre))));
  const failed = far.filter((_, e) => !succeeded[e]);
  const middle = failed.length ? mean(failed) : 0;
  const spread = Math.sqrt(mean(failed.map((distance) => (distance - middle) ** 2)));
  return far.map((distance, e) => {
    if (succeeded[e]) return 1;
    const z = spread > 0 ? (distance - middle) / spread : 0;
    return 1 / (1 + Math.exp(z));
  });
}
