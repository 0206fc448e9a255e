/** How requests of any size become batches: rows of similar length side by side, bounded, and the way back to the order given. */

/** Cuts items, sorted by length, into chunks of at most `most`; items keep their index in the list given. */
export function chunksByLength<Item>(
  items: readonly Item[],
  lengthOf: (item: Item) => number,
  most: number,
): Item[][] {
  const sorted = [...items].sort((a, b) => lengthOf(a) - lengthOf(b));
  const chunks: Item[][] = [];
  for (let i = 0; i < sorted.length; i += most) chunks.push(sorted.slice(i, i + most));
  return chunks;
}

/** Rows of ids made equally long with zeros on the right, flat [rows * longest]. */
export function padRight(rows: readonly (readonly number[])[]): number[] {
  const longest = Math.max(...rows.map((row) => row.length));
  return rows.flatMap((row) => [...row, ...new Array<number>(longest - row.length).fill(0)]);
}
