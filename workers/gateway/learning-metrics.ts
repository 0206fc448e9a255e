/** Metrics of what the runs learn: rewards, accuracies, losses and the learner's own figures of each run's newest round. */
import type { RoundReport } from '../../core/schema/report.ts';
import type { RoundRow } from '../store/rounds.ts';
import type { Metric } from './metrics.ts';

type Labels = Readonly<Record<string, string>>;
type Figure = number | null | undefined;

const labelsOf = ({ run, spec: { settings } }: RoundRow): Labels => ({
  run,
  recipe: settings.recipe,
  policy: settings.policy,
  seed: String(settings.seed),
});

/** What is not measured has no value: Prometheus then shows a gap, and not 0. */
const values = (
  rows: readonly RoundRow[],
  of: (report: RoundReport, row: RoundRow) => Figure,
): Metric['values'] =>
  rows.flatMap((row) => {
    const value = row.report ? of(row.report, row) : null;
    return value === null || value === undefined ? [] : [{ labels: labelsOf(row), value }];
  });

const byName = (
  rows: readonly RoundRow[],
  label: string,
  of: (report: RoundReport, row: RoundRow) => Readonly<Record<string, Figure>>,
): Metric['values'] =>
  rows.flatMap((row) =>
    Object.entries(row.report ? of(row.report, row) : {}).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [{ labels: { ...labelsOf(row), [label]: name }, value }],
    ),
  );

const perRole = (report: RoundReport, of: 'entropy' | 'klToStart') =>
  Object.fromEntries(
    Object.entries(report.training?.roles ?? {}).map(([role, figures]) => [role, figures[of]]),
  );

const gauge = (name: string, help: string, values: Metric['values']): Metric => ({
  name: `rollmesh_run_${name}`,
  type: 'gauge',
  help,
  values,
});

/** `trained`: each run's newest round that was trained. `evaluated`: its newest round whose version was evaluated. */
export const learningMetrics = (trained: readonly RoundRow[], evaluated: readonly RoundRow[]): Metric[] => [
  gauge(
    'round',
    'Index of the newest trained round.',
    values(trained, (_, { index }) => index),
  ),
  gauge(
    'reward',
    'Mean reward of the newest round’s rollouts.',
    values(trained, ({ monitors }) => monitors?.reward),
  ),
  gauge(
    'gold_ratio',
    'Share of its rollouts whose answer is exact.',
    values(trained, ({ monitors }) => monitors?.gold),
  ),
  gauge(
    'zero_variance_ratio',
    'Share of its groups whose rewards are all equal.',
    values(trained, ({ monitors }) => monitors?.zeroVariance),
  ),
  gauge(
    'format_ratio',
    'Share of its rollouts that keep to the grammar.',
    values(trained, ({ monitors }) => monitors?.formatRate),
  ),
  gauge(
    'rollout_tokens',
    'Mean number of tokens in a rollout.',
    values(trained, ({ monitors }) => monitors?.length),
  ),
  gauge(
    'judge_balanced_accuracy_ratio',
    'Balanced accuracy of the judge in the round.',
    values(trained, ({ monitors }) => monitors?.judgeBalancedAccuracy),
  ),
  gauge(
    'loss',
    'Mean loss over the round’s updates.',
    values(trained, ({ training }) => training?.loss),
  ),
  gauge(
    'gradient_norm',
    'Mean gradient norm over the round’s updates, before clipping.',
    values(trained, ({ training }) => training?.gradientNorm),
  ),
  gauge(
    'clipped_ratio',
    'Share of tokens whose importance ratio was clipped.',
    values(trained, ({ training }) => training?.clipFraction),
  ),
  gauge(
    'learning_rate',
    'Mean learning rate over the round’s updates.',
    values(trained, ({ training }) => training?.learningRate),
  ),
  gauge(
    'effective_sample_ratio',
    'Effective share of the samples under their importance ratios.',
    values(trained, ({ training }) => training?.ratio.effectiveSampleShare),
  ),
  gauge(
    'mismatch_nats',
    'Mean difference of log-probabilities between learner and rollouts, in nats per token.',
    values(trained, ({ training }) => training?.mismatch.mean),
  ),
  gauge(
    'kl_to_start_nats',
    'KL divergence to version 0 before the update, k3 estimate, in nats per token, by role.',
    byName(trained, 'role', (report) => perRole(report, 'klToStart')),
  ),
  gauge(
    'entropy_nats',
    'Entropy of the policy before the update, in nats per token, by role.',
    byName(trained, 'role', (report) => perRole(report, 'entropy')),
  ),
  gauge(
    'staleness_versions',
    'Versions between what the round was sampled with and what it made, by role. 1 = on policy.',
    byName(trained, 'role', (_, { version, spec }) =>
      version === null
        ? {}
        : Object.fromEntries(
            Object.entries(spec.roles).flatMap(([role, ref]) =>
              ref.name === spec.settings.policy ? [[role, version - ref.version]] : [],
            ),
          ),
    ),
  ),
  gauge(
    'generated_tokens_per_second',
    'Tokens generated in the round, by the time until its last group was judged.',
    values(trained, ({ monitors, rolloutMs }) =>
      monitors && rolloutMs ? (1000 * monitors.tokens) / rolloutMs : null,
    ),
  ),
  gauge(
    'learner_seconds',
    'Time that the learner took for the round.',
    values(trained, ({ learnerMs }) => (learnerMs === undefined ? null : learnerMs / 1000)),
  ),
  gauge(
    'figure',
    'The recipe’s own figures of the round, by name.',
    byName(trained, 'figure', ({ figures = {} }) => figures),
  ),
  gauge(
    'evaluated_version',
    'The version that was evaluated last.',
    values(evaluated, ({ evaluation }) => evaluation?.version),
  ),
  gauge(
    'heldout_accuracy_ratio',
    'Greedy accuracy of that version on held-out tasks.',
    values(evaluated, ({ evaluation }) => evaluation?.heldOut.accuracy),
  ),
  gauge(
    'heldout_sampled_ratio',
    'Accuracy on held-out tasks when sampled.',
    values(evaluated, ({ evaluation }) => evaluation?.heldOut.sampled),
  ),
  gauge(
    'evaluation_figure',
    'The recipe’s own figures of the evaluation, by name.',
    byName(evaluated, 'figure', ({ evaluation }) => evaluation?.figures ?? {}),
  ),
];
