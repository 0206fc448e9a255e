/**
 * How well the learner's log-probabilities agree with those recorded with the samples, before the first update. With the same version on
 * both sides the importance ratios should be 1, and a deviation is mismatch of the runtimes; with older samples it is staleness.
 */
import { mismatch } from '../../core/rl/corrections/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { measuredOf } from '../../core/schema/numbers.ts';
import type { TrainingReport } from '../../core/schema/report.ts';

/** learner [T] and rollout [T] log-probabilities, nats. KL is the k3 estimate of KL(rollout || learner). */
export function agreement(
  learner: readonly number[],
  rollout: readonly number[],
): Pick<TrainingReport, 'mismatch' | 'ratio'> {
  const differences = learner.map((logprob, t) => logprob - rollout[t]!);
  const { k3, maxAbsolute, effectiveSampleSize } = mismatch(
    learner,
    rollout,
    learner.map(() => 1),
  );
  const extreme = (pick: (a: number, b: number) => number) =>
    measuredOf(Math.exp(differences.reduce(pick, differences[0] ?? 0)));
  return {
    mismatch: {
      max: measuredOf(maxAbsolute),
      mean: measuredOf(mean(differences.map(Math.abs))),
      kl: measuredOf(k3),
    },
    ratio: {
      min: extreme((a, b) => Math.min(a, b)),
      max: extreme((a, b) => Math.max(a, b)),
      effectiveSampleShare: measuredOf(effectiveSampleSize),
    },
  };
}
