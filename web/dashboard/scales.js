/** The arithmetic of charts: ticks at round values, and long series thinned so that no peak is lost. Pure. */

/**
 * About `count` round values inside [low, high].
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @returns {number[]}
 */
export function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999) ?? raw;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/**
 * The smallest round bounds that hold every value and `least`.
 * @param {readonly number[]} values
 * @param {readonly [number, number]} least
 * @returns {[number, number]}
 */
export function bounds(values, least) {
  let [low, high] = least;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (high <= low) high = low + 1;
  const [a = low, b = high] = ticks(low, high, 4);
  const step = b - a || 1;
  return [
    low === least[0] ? low : Math.floor(low / step + 1e-9) * step,
    high === least[1] ? high : Math.ceil(high / step - 1e-9) * step,
  ];
}

/** @typedef {{ readonly x: number, readonly y: number }} Point */

/**
 * Thins a series to at most about 2 × `buckets` points: the lowest and the highest of every bucket, in their order.
 * @param {readonly Point[]} points sorted by x
 * @param {number} buckets
 * @returns {Point[]}
 */
export function thin(points, buckets) {
  if (points.length <= 2 * buckets) return [...points];
  const count = Math.max(1, Math.floor(buckets));
  const size = points.length / count;
  /** @type {Point[]} */
  const kept = [];
  for (let bucket = 0; bucket < count; bucket++) {
    const part = points.slice(Math.floor(bucket * size), Math.floor((bucket + 1) * size));
    const sorted = [...part].sort((a, b) => a.y - b.y);
    const [low] = sorted;
    const high = sorted.at(-1);
    if (low && high) kept.push(...(low === high ? [low] : low.x < high.x ? [low, high] : [high, low]));
  }
  return kept;
}

/**
 * Where an axis of rounds ends: at the target once that is near, else at a round number with room for a quarter more.
 * @param {number} last
 * @param {number} target
 */
export function roundAxis(last, target) {
  const room = Math.max(10, last * 1.25);
  if (target <= room * 1.6) return Math.max(target, last, 1);
  const power = 10 ** Math.floor(Math.log10(room));
  const step = power / 2;
  return Math.ceil(room / step) * step;
}

/**
 * The exponential moving average of what is known, with the weights of the past summing to 1 from the first value on, as Adam's means do
 * (Kingma and Ba, 2015). It begins anew after a break. Values that were not measured stay so.
 * @param {readonly (number | null | undefined)[]} values
 * @param {number} weight of the past, from 0 to less than 1
 * @returns {(number | null | undefined)[]}
 */
export function smoothed(values, weight) {
  let mean = 0;
  let remaining = 1;
  return values.map((value) => {
    if (typeof value !== 'number') {
      if (value === null) [mean, remaining] = [0, 1];
      return value;
    }
    mean = weight * mean + (1 - weight) * value;
    remaining *= weight;
    return mean / (1 - remaining);
  });
}
