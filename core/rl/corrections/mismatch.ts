/** How far the trainer's log-probabilities are from the sampler's on the sampled tokens: figures for the log and for health checks. */
import { mean } from '../statistics.ts';
import { expectSameLength, type Numbers } from '../types.ts';

export interface Mismatch {
  readonly tokens: number;
  /** Estimates of KL(μ‖π), nats a token, with d = log π − log μ: −d, d²/2, e^d − 1 − d (prime-rl gates the last at .01). */
  readonly k1: number;
  readonly k2: number;
  readonly k3: number;
  /** E w² − 1 with w = π/μ. */
  readonly chiSquare: number;
  /** Effective sample size as a share of the tokens, (Σw)²/(n·Σw²). */
  readonly effectiveSampleSize: number;
  /** Largest |d|, nats. */
  readonly maxAbsolute: number;
  /** Mean e^|d|: NeMo-RL's multiplicative probability error, gated at 1.05. */
  readonly probabilityError: number;
}

/** trainer and sampler log-probabilities [T], mask [T] (0 = not counted). Without counted tokens the result is a perfect match of 0 tokens. */
export function mismatch(trainer: Numbers, sampler: Numbers, mask: Numbers): Mismatch {
  expectSameLength('trainer log-probabilities', trainer, 'sampler log-probabilities', sampler);
  expectSameLength('trainer log-probabilities', trainer, 'mask entries', mask);
  const d: number[] = [];
  for (let t = 0; t < trainer.length; t++) if (mask[t] !== 0) d.push(trainer[t]! - sampler[t]!);
  const meanOf = (f: (x: number) => number): number => mean(d.map(f));
  const first = meanOf(Math.exp);
  const second = meanOf((x) => Math.exp(2 * x));
  const none = d.length === 0;
  return {
    tokens: d.length,
    k1: meanOf((x) => -x),
    k2: meanOf((x) => (x * x) / 2),
    k3: meanOf((x) => Math.expm1(x) - x),
    chiSquare: none ? 0 : second - 1,
    effectiveSampleSize: none ? 1 : first ** 2 / second,
    maxAbsolute: d.reduce((most, x) => Math.max(most, Math.abs(x)), 0),
    probabilityError: none ? 1 : meanOf((x) => Math.exp(Math.abs(x))),
  };
}
