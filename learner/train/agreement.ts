/**
 * How the learner's log-probabilities agree with those that came with the samples: same tokens, same version. The
 * importance ratio before the first update is exp of this difference and should be 1; what it is not is mismatch.
 */
import type { TrainingReport } from '../../core/schema/report.ts';

/** learner [T] and rollout [T] log-probabilities, nats. KL is the k3 estimate of KL(rollout || learner). */
export function agreement(
  learner: ArrayLike<number>,
  rollout: ArrayLike<number>,
): Pick<TrainingReport, 'mismatch' | 'ratio'> {
  const n = learner.length;
  let max = 0;
  let total = 0;
  let kl = 0;
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < n; i++) {
    const difference = learner[i]! - rollout[i]!;
    const ratio = Math.exp(difference);
    max = Math.max(max, Math.abs(difference));
    total += Math.abs(difference);
    kl += ratio - 1 - difference;
    low = Math.min(low, ratio);
    high = Math.max(high, ratio);
    sum += ratio;
    squares += ratio * ratio;
  }
  const count = Math.max(1, n);
  return {
    mismatch: { max, mean: total / count, kl: kl / count },
    ratio: { min: n ? low : 1, max: n ? high : 1, effectiveSampleShare: n ? (sum * sum) / (n * squares) : 1 },
  };
}
