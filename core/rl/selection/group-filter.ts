/** Selects the groups that carry a signal for training. Filtering shrinks a batch; over-generate to keep its size (DAPO's waves). */
import { positionsByKey } from '../groups.ts';
import { deviation, mean, present } from '../statistics.ts';
import { expectSameLength, type Key, type Maybe } from '../types.ts';

/**
 * Keys of the groups whose mean reward lies inside the band. DAPO: strictly inside (0, 1), so that no group is unanimous; PRIME: .2 to
 * .8 with the bounds included. A group without any reward is left out.
 */
export function groupsInBand(
  rewards: ArrayLike<Maybe>,
  groups: ArrayLike<Key>,
  { low = 0, high = 1, inclusive = false }: { low?: number; high?: number; inclusive?: boolean } = {},
): Key[] {
  return presentByGroup(rewards, groups)
    .filter(({ there }) => {
      const centre = mean(there);
      return inclusive ? centre >= low && centre <= high : centre > low && centre < high;
    })
    .map(({ key }) => key);
}

/** Keys of the share of groups with the largest deviation (RAGEN's StarPO-S keeps .25), at least one; largest first. */
export function groupsOfLargestDeviation(
  rewards: ArrayLike<Maybe>,
  groups: ArrayLike<Key>,
  share: number,
): Key[] {
  const all = presentByGroup(rewards, groups).map(({ key, there }) => ({ key, spread: deviation(there, 0) }));
  return all
    .sort((a, b) => b.spread - a.spread)
    .slice(0, Math.max(1, Math.round(all.length * share)))
    .map(({ key }) => key);
}

function presentByGroup(rewards: ArrayLike<Maybe>, groups: ArrayLike<Key>): { key: Key; there: number[] }[] {
  expectSameLength('rewards', rewards, 'group keys', groups);
  return [...positionsByKey(groups)]
    .map(([key, positions]) => ({ key, there: present(positions.map((i) => rewards[i]!)) }))
    .filter(({ there }) => there.length > 0);
}
