/** Items that share a key form a group: per prompt, per role and task type, per agent, per class, or the whole batch. */
import { present } from './statistics.ts';
import { expectSameLength, type Key, type Maybe } from './types.ts';

/** The positions of each key; keys are in order of first appearance. */
export function positionsByKey(keys: ArrayLike<Key>): Map<Key, number[]> {
  const groups = new Map<Key, number[]>();
  for (let i = 0; i < keys.length; i++) {
    const positions = groups.get(keys[i]!);
    if (positions) positions.push(i);
    else groups.set(keys[i]!, [i]);
  }
  return groups;
}

/** Applies f to the present values of each group and puts the results back in place; a missing value stays null. */
export function mapGroups(
  values: ArrayLike<Maybe>,
  keys: ArrayLike<Key>,
  f: (group: number[], key: Key) => number[],
): Maybe[] {
  expectSameLength('values', values, 'group keys', keys);
  const out = Array.from<Maybe>({ length: values.length }).fill(null);
  for (const [key, positions] of positionsByKey(keys)) {
    const there = positions.filter((i) => values[i] !== null);
    const results = f(present(there.map((i) => values[i]!)), key);
    for (const [k, i] of there.entries()) out[i] = results[k]!;
  }
  return out;
}
