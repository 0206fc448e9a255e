/**
 * Class-balanced credit for judges, so that a judge that always gives the majority label earns nothing by it. Centring by class removes
 * the label's own mean, and inverse frequency gives each class the same total weight.
 */
import { mapGroups, positionsByKey } from '../groups.ts';
import { deviation, mean, present } from '../statistics.ts';
import { expectSameLength, type Key, type Maybe } from '../types.ts';

/**
 * A = (r − mean of class)·n/(K·n_class), divided by the σ₀ (+ ε) of the result; K = classes present.
 * rewards [n], classes [n] (the true label of what was judged) -> [n], null where missing. A class of one gets 0.
 */
export function classBalanced(rewards: ArrayLike<Maybe>, classes: ArrayLike<Key>, epsilon = 1e-6): Maybe[] {
  expectSameLength('rewards', rewards, 'classes', classes);
  const total = present(rewards).length;
  const kinds = new Set(Array.from(classes).filter((_, i) => rewards[i] !== null)).size;
  const weighted = mapGroups(rewards, classes, (group) => {
    const centre = mean(group);
    return group.map((reward) => ((reward - centre) * total) / (kinds * group.length));
  });
  const scale = 1 / (deviation(present(weighted), 0) + epsilon);
  return weighted.map((value) => (value === null ? null : value * scale));
}

/** n/(K·n_class): the weights of each of the K classes present have the same sum, and the mean weight is 1. */
export function equalClassWeights(classes: ArrayLike<Key>): number[] {
  const counts = positionsByKey(classes);
  return Array.from(classes, (label) => classes.length / (counts.size * counts.get(label)!.length));
}

/**
 * Coefficients ∝ 1/√count of the item's class with mean 1 over the items (RL Tango's verifier). `counts` are running class
 * counts, so that a batch without one of the classes is still weighted; see `decayedCounts`.
 */
export function inverseRootWeights(classes: ArrayLike<Key>, counts: ReadonlyMap<Key, number>): number[] {
  const raw = Array.from(classes, (label) => 1 / Math.sqrt(Math.max(counts.get(label) ?? 0, 1)));
  const centre = mean(raw);
  return raw.map((weight) => weight / centre);
}

/** count ← decay·count + (1 − decay)·count in this batch, for each class seen so far; a first batch sets the counts. */
export function decayedCounts(
  before: ReadonlyMap<Key, number>,
  classes: ArrayLike<Key>,
  decay = 0.8,
): Map<Key, number> {
  const now = positionsByKey(classes);
  const after = new Map<Key, number>();
  for (const label of new Set([...before.keys(), ...now.keys()])) {
    const seen = now.get(label)?.length ?? 0;
    const known = before.get(label);
    after.set(label, known === undefined ? seen : decay * known + (1 - decay) * seen);
  }
  return after;
}
