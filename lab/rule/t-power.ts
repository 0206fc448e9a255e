/** How often a 95 % t-interval of few measurements lies wholly beyond a bound: the power of the rule by which claims are judged. */
import { tQuantile } from 'rollmesh';

/** P(Z ≤ z) of a standard normal Z, to 1e-7 (Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 26.2.17). */
export function normalBelow(z: number): number {
  const u = 1 / (1 + 0.2316419 * Math.abs(z));
  const sum =
    u * (0.31938153 + u * (-0.356563782 + u * (1.781477937 + u * (-1.821255978 + u * 1.330274429))));
  const beyond = (Math.exp(-(z ** 2) / 2) / Math.sqrt(2 * Math.PI)) * sum;
  return z < 0 ? beyond : 1 - beyond;
}

/** Steps of the integral below; its range goes far beyond what the deviation of two measurements reaches. */
const [STEPS, RANGE] = [400, 6];

/**
 * The probability that the interval of `n` normal measurements lies wholly beyond a bound which their true mean exceeds by `margin`. With s the
 * measured deviation in units of the true one, and δ = margin·√n/deviation:
 *
 *     ∫ Φ(δ − t·s) p(s) ds,     p(s) ∝ s^(ν−1)·exp(−ν·s²/2),     ν = n − 1
 */
export function tPower(margin: number, deviation: number, n: number): number {
  if (deviation === 0) return margin > 0 ? 1 : 0;
  const freedom = n - 1;
  const t = tQuantile(freedom);
  const shift = (margin * Math.sqrt(n)) / deviation;
  let [weights, weighted] = [0, 0];
  for (let i = 0; i < STEPS; i++) {
    const s = (RANGE * (i + 0.5)) / STEPS;
    const weight = s ** (freedom - 1) * Math.exp((-freedom * s ** 2) / 2);
    weights += weight;
    weighted += weight * normalBelow(shift - t * s);
  }
  return weighted / weights;
}
