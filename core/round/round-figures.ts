/** The figures of a round's report as flat names and numbers, for curves outside the page: TensorBoard, CSV, JSON lines, traces. */
import type { EvaluationReport, RoundReport } from '../schema/report.ts';

type Figure = number | null | undefined;

/** `reward`, `learner/loss`, `solver/entropy`, `evaluation/accuracy`, …: whatever was measured. Nothing missing becomes a 0. */
export function roundFigures(report: RoundReport): Record<string, number> {
  const { monitors, training, figures = {}, evaluation, rolloutMs, learnerMs } = report;
  const all: Record<string, Figure> = {
    reward: monitors?.reward,
    gold: monitors?.gold,
    format_rate: monitors?.formatRate,
    zero_variance: monitors?.zeroVariance,
    rollout_tokens: monitors?.length,
    pass_rate: monitors?.passRate,
    difficulty: monitors?.difficulty,
    judge_balanced_accuracy: monitors?.judgeBalancedAccuracy,
    generated_tokens: monitors?.tokens,
    tokens_per_second: monitors && rolloutMs ? (1000 * monitors.tokens) / rolloutMs : null,
    rollout_seconds: rolloutMs === undefined ? null : rolloutMs / 1000,
    'learner/seconds': learnerMs === undefined ? null : learnerMs / 1000,
    'learner/loss': training?.loss,
    'learner/gradient_norm': training?.gradientNorm,
    'learner/learning_rate': training?.learningRate,
    'learner/clip_fraction': training?.clipFraction,
    'learner/mismatch': training?.mismatch.mean,
    'learner/effective_sample_share': training?.ratio.effectiveSampleShare,
  };
  for (const [role, { entropy, klToStart }] of Object.entries(training?.roles ?? {})) {
    all[`${role}/entropy`] = entropy;
    all[`${role}/kl_to_start`] = klToStart;
  }
  for (const [name, value] of Object.entries(figures)) all[`figures/${name}`] = value;
  return measuredOnly({ ...all, ...(evaluation ? evaluationFigures(evaluation) : {}) });
}

export function evaluationFigures({
  heldOut,
  judge,
  figures = {},
}: EvaluationReport): Record<string, number> {
  return measuredOnly({
    'evaluation/accuracy': heldOut.accuracy,
    'evaluation/sampled': heldOut.sampled,
    'evaluation/forced_steps': heldOut.forcedWorked,
    'evaluation/with_steps': heldOut.worked,
    'evaluation/format_rate': heldOut.formatRate,
    'evaluation/judge_fixed': judge.fixed,
    'evaluation/judge_own': judge.own,
    ...Object.fromEntries(
      Object.entries(figures).map(([name, value]) => [`evaluation/figures/${name}`, value]),
    ),
  });
}

const measuredOnly = (figures: Readonly<Record<string, Figure>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(figures).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, value]],
    ),
  );
