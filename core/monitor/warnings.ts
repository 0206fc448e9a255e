/** The rules by which a round's figures become warnings that the run collapses. */
import type { SmallerWeights } from '../policy.ts';
import type { RoundMonitors, TrainingReport } from '../schema/report.ts';
import type { Sample } from '../schema/sample.ts';

/** By how many nats per token, on average, learner and rollouts may differ: through rounding order alone, or with rounded weights. */
const MISMATCH = { exact: 1e-3, rounded: 0.2 } as const;

/** How a round was sampled. */
export interface Sampled {
  /** How the samplers held the weights; absent = in float32. */
  readonly weights?: SmallerWeights | undefined;
  /** Whether samples are older than the version that is trained by design: what learner and rollouts differ by is then training, too. */
  readonly stale?: boolean;
}

interface Rule {
  readonly broken: (monitors: RoundMonitors, training: TrainingReport, sampled: Sampled) => boolean;
  /** `reasons`: why rewards are missing, as `missingReasons` says it. */
  readonly description: (monitors: RoundMonitors, training: TrainingReport, reasons: string) => string;
}

const percent = (value: number | null) => (value === null ? 'unknown' : `${Math.round(100 * value)} %`);
const below = (value: number | null, bound: number) => value !== null && value < bound;
const above = (value: number | null, bound: number) => value !== null && value > bound;

/** Kinds of training parts that compare the answers to a task: a group whose rewards are all the same teaches them nothing. */
const COMPARING = ['policy', 'preference'];

/** False where all that was trained learns from every answer, such as distillation; where nothing was trained, rewards may be why. */
const learnsFromDifferences = ({ kinds = [] }: TrainingReport): boolean =>
  kinds.length === 0 || kinds.some((kind) => COMPARING.includes(kind));

const RULES: readonly Rule[] = [
  {
    broken: (m) => below(m.formatRate, 0.8),
    description: (m) => `only ${percent(m.formatRate)} of the rollouts are well-formed`,
  },
  {
    broken: (m) => above(m.gap, 0.3),
    description: (m) => `the reward is ${m.gap!.toFixed(2)} above exact accuracy: it is being hacked`,
  },
  {
    broken: (m, t) => above(m.zeroVariance, 0.8) && learnsFromDifferences(t),
    description: (m) =>
      `${percent(m.zeroVariance)} of the groups have one reward throughout: nothing to learn from them`,
  },
  {
    broken: (m) => above(m.duplicateRate, 0.5),
    description: (m) => `${percent(m.duplicateRate)} of the proposals repeat a task of the round`,
  },
  {
    broken: (m) => above(m.invalidRate, 0.3),
    description: (m) => `${percent(m.invalidRate)} of the proposals are no tasks`,
  },
  {
    broken: (m) => m.rollouts > 0 && m.missingRewards > m.rollouts / 10,
    description: (m, _, reasons) =>
      `${m.missingRewards} of ${m.rollouts} rollouts have no reward${reasons && ` (${reasons})`}`,
  },
  {
    broken: (_, t, { weights, stale }) =>
      !stale && t.mismatch.mean > (weights ? MISMATCH.rounded : MISMATCH.exact),
    description: (_, t) =>
      `learner and rollouts disagree by ${t.mismatch.mean.toExponential(1)} nats per token`,
  },
  {
    broken: (_, t) => Object.values(t.roles).some((role) => role.klToStart > 1),
    description: () => 'a role has drifted more than 1 nat a token from version 0',
  },
  {
    broken: (_, t) => t.gradientNorm > 50,
    description: (_, t) => `the gradient norm is ${t.gradientNorm.toFixed(0)}`,
  },
];

/** Which rewards are missing why, with the number of rollouts of each: “style: unreadable 3, timed-out 1”. Empty where no reason is recorded. */
export function missingReasons(
  groups: readonly { readonly samples: readonly Pick<Sample, 'turn' | 'missing'>[] }[],
): string {
  const counts = new Map<string, Map<string, number>>();
  // All turns of a rollout carry what the first one does.
  for (const { turn = 0, missing = {} } of groups.flatMap(({ samples }) => samples))
    for (const [name, kind] of turn === 0 ? Object.entries(missing) : []) {
      const kinds = counts.get(name) ?? new Map<string, number>();
      counts.set(name, kinds.set(kind, (kinds.get(kind) ?? 0) + 1));
    }
  return [...counts]
    .map(([name, kinds]) => `${name}: ${[...kinds].map(([kind, count]) => `${kind} ${count}`).join(', ')}`)
    .join('; ');
}

/** `reasons`: why rewards are missing, as `missingReasons` says it. */
export const warningsOf = (
  monitors: RoundMonitors,
  training: TrainingReport,
  sampled: Sampled = {},
  reasons = '',
): string[] =>
  RULES.filter((rule) => rule.broken(monitors, training, sampled)).map((rule) =>
    rule.description(monitors, training, reasons),
  );
