/** The rules by which a round's figures become warnings that the run collapses. */
import type { SmallerWeights } from '../policy/policy.ts';
import type { RoundMonitors, TrainingReport } from '../schema/report.ts';
import type { Sample } from '../schema/sample.ts';
import { tQuantile } from '../statistics/t-interval.ts';

/** By how many nats per token, on average, learner and rollouts may differ: through rounding order alone, or with rounded weights. */
const MISMATCH = { exact: 1e-3, rounded: 0.2 } as const;

/** How a round was sampled. */
export interface Sampled {
  /** How the samplers held the weights; absent = in float32. */
  readonly weights?: SmallerWeights | undefined;
  /** Whether samples are older than the version that is trained by design: what learner and rollouts differ by is then training, too. */
  readonly stale?: boolean;
  /** The monitors of the run's first round; absent in that round. */
  readonly first?: RoundMonitors | undefined;
}

interface Rule {
  readonly broken: (monitors: RoundMonitors, training: TrainingReport, sampled: Sampled) => boolean;
  /** `reasons`: why rewards are missing, as `missingReasons` says it. */
  readonly description: (
    monitors: RoundMonitors,
    training: TrainingReport,
    sampled: Sampled,
    reasons: string,
  ) => string;
}

const percent = (value: number | null) => (value === null ? 'unknown' : `${Math.round(100 * value)} %`);
const below = (value: number | null, bound: number) => value !== null && value < bound;
/** Of a figure of the training, which is null only where it came to no finite number. */
const beyond = (value: number | null, bound: number) => value === null || value > bound;
const above = (value: number | null, bound: number) => value !== null && value > bound;

/** A gap that grew by less is not mentioned, however sure it is. */
const GROWTH = 0.1;
/** Of fewer groups the spread is not known well enough, as where all happen to have the same gap. */
const FEWEST_GROUPS = 8;
/** A run has many rounds, and each is compared with the first: of 40 rounds one is flagged by chance in one run of 50. */
const SURE = 0.999;

/**
 * Did the gap between reward and accuracy grow since the run's first round by more than chance explains? By Welch's t test of the two rounds' groups,
 * where every mean reward is on the scale of accuracy, from 0 to 1.
 */
export function gapGrew(first: RoundMonitors, now: RoundMonitors): boolean {
  const rounds = [first, now];
  if (rounds.some(({ groups }) => groups < FEWEST_GROUPS)) return false;
  if (!rounds.every(({ reward }) => reward !== null && reward >= 0 && reward <= 1)) return false;
  if (!rounds.every(({ gap, gapError }) => typeof gap === 'number' && gapError !== undefined)) return false;
  const growth = now.gap! - first.gap!;
  if (now.gap! <= 0 || growth < GROWTH) return false;
  const variances = rounds.map(({ gapError }) => gapError! ** 2);
  const variance = variances.reduce((sum, value) => sum + value, 0);
  // Welch and Satterthwaite's degrees of freedom, rounded down.
  const parts = variances.reduce((sum, value, i) => sum + value ** 2 / (rounds[i]!.groups - 1), 0);
  const freedom = parts > 0 ? Math.max(1, Math.floor(variance ** 2 / parts)) : FEWEST_GROUPS - 1;
  return growth > tQuantile(freedom, SURE) * Math.sqrt(variance);
}

const signed = (gap: number): string => `${Math.abs(gap).toFixed(2)} ${gap < 0 ? 'below' : 'above'}`;

/** Kinds of training parts that compare the answers to a task: a group whose rewards are all the same teaches them nothing. */
const COMPARING = ['policy', 'preference'];

/** Share of the samples from which on equal rewards in groups are no reason to say that there is no signal. */
const ENOUGH_ADVANTAGES = 0.2;

/**
 * False where all that was trained learns from every answer, such as distillation, and where answers have advantages though their groups' rewards are equal,
 * as against a running baseline; where nothing was trained, rewards may be why.
 */
const learnsFromDifferences = ({ kinds = [], withAdvantage = 0 }: TrainingReport): boolean =>
  (kinds.length === 0 || kinds.some((kind) => COMPARING.includes(kind))) &&
  (withAdvantage ?? 0) < ENOUGH_ADVANTAGES;

const RULES: readonly Rule[] = [
  {
    broken: (m) => below(m.formatRate, 0.8),
    description: (m) => `only ${percent(m.formatRate)} of the rollouts are well-formed`,
  },
  {
    broken: (m, _, { first }) => first !== undefined && gapGrew(first, m),
    description: (m, _, { first }) =>
      `the reward was ${signed(first!.gap!)} accuracy in the first round and is ${signed(m.gap!)} it now, more than chance explains: it may be hacked, check samples`,
  },
  {
    broken: (m, t) => above(m.zeroVariance, 0.8) && learnsFromDifferences(t),
    description: (m) =>
      `${percent(m.zeroVariance)} of the groups have one reward throughout: no learning signal`,
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
    description: (m, _, __, reasons) =>
      `${m.missingRewards} of ${m.rollouts} rollouts have no reward${reasons && ` (${reasons})`}`,
  },
  {
    broken: (_, t, { weights, stale }) =>
      !stale && beyond(t.mismatch.mean, weights ? MISMATCH.rounded : MISMATCH.exact),
    description: (_, t) =>
      `learner and rollouts disagree by ${t.mismatch.mean?.toExponential(1) ?? 'more than any number of'} nats per token`,
  },
  {
    broken: (_, t) => Object.values(t.roles).some(({ klToStart }) => beyond(klToStart, 1)),
    description: () => 'a role has drifted more than 1 nat a token from version 0',
  },
  {
    broken: (_, t) => t.gradientNorm !== null && t.gradientNorm > 50,
    description: (_, t) => `the gradient norm is ${t.gradientNorm!.toFixed(0)}`,
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
    rule.description(monitors, training, sampled, reasons),
  );
