/**
 * e^x by sums and products alone, which every program rounds alike. `Math.exp` does not: in Node and in workerd it has been seen to differ in the last bit,
 * so that a reward by it would not be the same wherever a round is played.
 */

/** ln 2 as the sum of a number whose products with whole numbers below 2^20 are exact and the rest. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
/** Terms of the series for |r| ≤ ln 2 / 2: the next one is below 2^-60. */
const TERMS = 17;

/** Within two units in the last place of e^x; 0 below the smallest number, Infinity above the largest. */
export function sameExp(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x < -745.2) return 0;
  if (x > 709.8) return Number.POSITIVE_INFINITY;
  const k = Math.round(x / (LN2_HIGH + LN2_LOW));
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  let value = 1;
  for (let n = TERMS; n > 0; n--) value = 1 + (r / n) * value;
  for (let n = 0; n < Math.abs(k); n++) value *= k > 0 ? 2 : 0.5;
  return value;
}

/** Probabilities by logits. */
export function softmax(logits: readonly number[]): number[] {
  const most = Math.max(...logits);
  const raised = logits.map((logit) => sameExp(logit - most));
  const total = raised.reduce((a, b) => a + b, 0);
  return raised.map((x) => x / total);
}

/** Within a few units in the last place of ln x, x > 0 and finite; likewise by sums and products alone. */
export function sameLog(x: number): number {
  let [mantissa, k] = [x, 0];
  for (; mantissa > 4 / 3; k++) mantissa /= 2;
  for (; mantissa < 2 / 3; k--) mantissa *= 2;
  // ln m = 2 artanh t, with |t| ≤ 1/5: a term is at most a twenty-fifth of the one before.
  const t = (mantissa - 1) / (mantissa + 1);
  let sum = 0;
  for (let n = 2 * TERMS - 1; n > 0; n -= 2) sum = 1 / n + t * t * sum;
  return k * LN2_HIGH + (k * LN2_LOW + 2 * t * sum);
}
