/** A subset with the same number of items of each class, as far as there are enough: what a judge trains on. */
import type { Random } from '../../random.ts';
import { positionsByKey } from '../groups.ts';
import type { Key } from '../types.ts';

/**
 * classes [n] -> positions of at most `count` items, ascending. Each class gets an equal share; what a small class leaves goes
 * to the larger ones. Which items of a class are taken is drawn by `random`.
 */
export function balancedPick(classes: ArrayLike<Key>, count: number, random: Random): number[] {
  const bySize = [...positionsByKey(classes).values()].sort((a, b) => a.length - b.length);
  const picked: number[] = [];
  for (const [i, positions] of bySize.entries()) {
    const share = Math.floor((count - picked.length) / (bySize.length - i));
    picked.push(...random.shuffle(positions).slice(0, share));
  }
  return picked.sort((a, b) => a - b);
}
