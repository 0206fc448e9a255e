/** Where two texts differ, token by token. */
import { Random } from '../../core/random.ts';

/** 1 for each token of either text that is not in the longest sequence of tokens that both have in common, otherwise 0. a [n], b [m] -> [n], [m] */
export function differing(a: readonly number[], b: readonly number[]): readonly [number[], number[]] {
  let from = 0;
  while (from < Math.min(a.length, b.length) && a[from] === b[from]) from++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - from && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const [left, right] = [a.slice(from, a.length - tail), b.slice(from, b.length - tail)];
  // common[i][j]: the greatest number of tokens that left from i on and right from j on have in common.
  const common = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      common[i]![j] =
        left[i] === right[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
  const marks = [a.map(() => 0), b.map(() => 0)] as const;
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      i++;
      j++;
    } else if (j >= right.length || (i < left.length && common[i + 1]![j]! >= common[i]![j + 1]!))
      marks[0][from + i++] = 1;
    else marks[1][from + j++] = 1;
  }
  return marks;
}

/** As many marks on tokens that have none, as far as there are such; which they are follows from the seed. [n] -> [n] */
export function elsewhere(marks: readonly number[], seed: string): number[] {
  const free = marks.flatMap((mark, t) => (mark ? [] : [t]));
  const wanted = marks.reduce((sum, mark) => sum + mark, 0);
  const drawn = new Set(new Random(seed).shuffle(free).slice(0, wanted));
  return marks.map((_, t) => Number(drawn.has(t)));
}
