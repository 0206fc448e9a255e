/** Finds the name that was probably meant, for errors about unknown names. */

/** The number of insertions, deletions, substitutions and exchanges of neighbours that turn one text into the other (Damerau, 1964). */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + Number(a[i - 1] !== b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        next[j] = Math.min(next[j]!, before[j - 2]! + 1);
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}

/** The known name with the fewest edits, the first of equals; undefined where none takes fewer edits than half of the name's letters. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const rated = known.map((candidate) => ({
    candidate,
    distance: editDistance(name.toLowerCase(), candidate.toLowerCase()),
  }));
  const best = rated.reduce<(typeof rated)[number] | undefined>(
    (least, next) => (least && least.distance <= next.distance ? least : next),
    undefined,
  );
  return best && best.distance < Math.max(2, name.length / 2) ? best.candidate : undefined;
}
