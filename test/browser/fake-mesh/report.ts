/** A round's report, whose figures move as those of a run that learns. */
import type { Random } from '../../../core/random.ts';
import type { EvaluationReport, RoundReport } from '../../../core/schema/report.ts';
import { course, HOSTILE } from './drawn.ts';

function evaluationAt(random: Random, version: number, share: number, best: number): EvaluationReport {
  return {
    version,
    heldOut: {
      n: 500,
      accuracy: course(random, 0.342, best, share),
      sampled: course(random, 0.36, 0.52, share),
      forcedWorked: course(random, 0.704, 0.73, share),
      worked: course(random, 0.44, 0.93, share),
      formatRate: 1,
    },
    judge: { fixed: course(random, 0.62, 0.74, share), own: course(random, 0.6, 0.71, share) },
  };
}

export function reportAt(random: Random, index: number, rounds: number, best: number): RoundReport {
  const share = index / rounds;
  const reward = course(random, 0.4, 0.62, share, 0.05);
  const gold = course(random, 0.38, 0.55, share, 0.05);
  const role = (kl: number, entropy: number, samples: number) => ({
    samples,
    tokens: samples * 11,
    entropy: course(random, entropy, entropy * 0.6, share, 0.03),
    klToStart: course(random, 0, kl, share, 0.002),
  });
  return {
    monitors: {
      groups: 64,
      rollouts: 512,
      reward,
      gold,
      gap: reward - gold,
      formatRate: 0.99,
      workedShare: course(random, 0.44, 0.91, share),
      length: 12.4,
      zeroVariance: course(random, 0.1, 0.2, share),
      missingRewards: 0,
      proposals: 81,
      invalidRate: 0.04,
      duplicateRate: course(random, 0.1, 0.16, share),
      difficulty: course(random, 2.5, 3.9, share, 0.2),
      passRate: course(random, 0.42, 0.5, share, 0.1),
      judge: { rightAsRight: 201, rightAsWrong: 52, wrongAsRight: 77, wrongAsWrong: 179, void: 3 },
      judgeBalancedAccuracy: course(random, 0.6, 0.72, share, 0.04),
      tokens: 9120,
    },
    training: {
      roles: {
        proposer: role(0.05, 1.4, 81),
        solver: role(0.03, 0.6, 512),
        judge: role(0.02, 0.5, 256),
      },
      tokens: 16_480,
      updates: 4,
      loss: -0.0021,
      gradientNorm: course(random, 1.4, 0.7, share, 0.3),
      clipFraction: 0.012,
      learningRate: 1e-4,
      mismatch: { max: 2.1e-5, mean: 1.3e-6, kl: 4e-12 },
      ratio: { min: 0.9999, max: 1.0001, effectiveSampleShare: 1 },
    },
    ...(index % 5 === 0 || index === rounds ? { evaluation: evaluationAt(random, index, share, best) } : {}),
    ...(index === 1 ? { start: evaluationAt(random, 0, 0, best) } : {}),
    warnings: index === 7 ? ['53 % of the proposals repeat a task of the round', HOSTILE] : [],
    rolloutMs: 1130,
    learnerMs: 780,
  };
}
