/** Spearman's rank correlation: how far two scores order the same items alike, whatever their scales. */

/** Ranks from 0; equal values share the mean of their ranks. */
export function ranksOf(values: readonly number[]): number[] {
  const order = values.map((value, i) => ({ value, i })).sort((a, b) => a.value - b.value);
  const ranks = new Array<number>(values.length).fill(0);
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && order[to]!.value === order[from]!.value) to++;
    for (const { i } of order.slice(from, to)) ranks[i] = (from + to - 1) / 2;
  }
  return ranks;
}

/** In [-1, 1]; null where all values of either side are equal, since there is no order then. */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number | null {
  const [x, y] = [ranksOf(a), ranksOf(b)];
  const middle = (a.length - 1) / 2;
  let [both, ofX, ofY] = [0, 0, 0];
  x.forEach((rank, i) => {
    both += (rank - middle) * (y[i]! - middle);
    ofX += (rank - middle) ** 2;
    ofY += (y[i]! - middle) ** 2;
  });
  return ofX > 0 && ofY > 0 ? both / Math.sqrt(ofX * ofY) : null;
}
