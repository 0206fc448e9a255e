/** A run's records as lines: one for each round, and a summary at the end. `--json` prints these objects, one per line. */
import * as v from 'valibot';
import { bill, runCost } from '../cost/cost.ts';
import { usageByStage } from '../cost/usage.ts';
import { sinceBest } from '../statistics/change.ts';
import { COMPARED_FIGURES, changes, heldOut } from './evaluation.ts';
import { count, figures, finite, measured } from './numbers.ts';
import { type RoundReport, roundReport } from './report.ts';
import type { RunSettings } from './round.ts';

/** The number of a round's groups by what became of them. */
export const groupCounts = v.object({
  proposed: count,
  admitted: count,
  scored: count,
  trained: count,
  stale: count,
  failed: count,
});
export type GroupCounts = Readonly<v.InferOutput<typeof groupCounts>>;

export const roundLine = v.object({
  kind: v.literal('round'),
  round: count,
  /** The policy's version before and after the round. */
  from: count,
  to: count,
  /** Versions of the policy that other runs made since this run's last round, whose change is in its figures too; absent = none. */
  others: v.exactOptional(count),
  groups: groupCounts,
  report: roundReport,
  /** What the round used of the platform, by stage; absent where nothing was noted, as in a single process. */
  usage: v.exactOptional(usageByStage),
  wallMs: finite,
});
export type RoundLine = Readonly<v.InferOutput<typeof roundLine>>;

/** A point of the held-out curve. */
export const heldOutPoint = v.object({
  round: count,
  task: v.string(),
  /** The version that was evaluated. */
  version: v.exactOptional(count),
  ...v.omit(heldOut, ['formatRate']).entries,
  /** What may be said of its change since the version that the run began from; absent for that version. */
  changes: v.exactOptional(changes),
  /** Further figures of the recipe's evaluation. */
  figures: v.exactOptional(figures),
});
export type HeldOutPoint = Readonly<v.InferOutput<typeof heldOutPoint>>;

/** A round's monitors, and the figures of its training plan. */
export const monitorPoint = v.object({ round: count, figures });
export type MonitorPoint = Readonly<v.InferOutput<typeof monitorPoint>>;

export const summary = v.object({
  kind: v.literal('summary'),
  recipe: v.string(),
  seed: count,
  reward: v.string(),
  freeze: v.array(v.string()),
  /** Absent = as published. */
  variant: v.exactOptional(v.string()),
  /** The format of the samplers' weights; absent = float32. */
  weights: v.exactOptional(v.string()),
  /** Absent = ONNX Runtime. */
  engine: v.exactOptional(v.string()),
  /** How many rounds it was ahead; absent = 0. */
  ahead: v.exactOptional(count),
  policy: v.string(),
  /** The version that the run began from: 0, unless it continues a policy that other runs had trained. */
  from: count,
  /** The number of versions of the policy that other runs made between this run's rounds. */
  others: count,
  rounds: count,
  versions: v.record(v.string(), count),
  heldout: v.array(heldOutPoint),
  /** What may be said of the change from the best evaluated version of each figure to the last. */
  sinceBest: v.exactOptional(changes),
  judge: v.array(v.object({ round: count, fixed: measured, own: measured })),
  proposer: v.array(v.object({ round: count, difficulty: measured, passRate: measured })),
  /** Collapse monitors by round: reward, gold, format, length, entropy, KL, tokens generated and trained, and what else the recipe reports. */
  monitors: v.exactOptional(v.array(monitorPoint)),
  groups: groupCounts,
  /** Messages that arrived more than once and changed nothing. */
  duplicates: count,
  tokens: v.object({ generated: count, trained: count }),
  /** What the rounds used of the platform and what that costs at its published prices; null in a single process. */
  cost: v.exactOptional(v.nullable(bill)),
  wallMs: finite,
  learnerMs: finite,
  rolloutMs: finite,
});
export type Summary = Readonly<v.InferOutput<typeof summary>>;

const NONE: GroupCounts = { proposed: 0, admitted: 0, scored: 0, trained: 0, stale: 0, failed: 0 };

const addCounts = (a: GroupCounts, b: GroupCounts): GroupCounts => ({
  proposed: a.proposed + b.proposed,
  admitted: a.admitted + b.admitted,
  scored: a.scored + b.scored,
  trained: a.trained + b.trained,
  stale: a.stale + b.stale,
  failed: a.failed + b.failed,
});

const sum = (values: readonly (number | undefined)[]) => values.reduce<number>((a, b) => a + (b ?? 0), 0);

/** Means over the roles' tokens. */
function overRoles(report: RoundReport, figure: 'entropy' | 'klToStart'): number | null {
  const roles = Object.values(report.training?.roles ?? {}).flatMap(({ tokens, [figure]: value }) =>
    value === null ? [] : [{ tokens, value }],
  );
  const tokens = sum(roles.map((role) => role.tokens));
  return tokens ? sum(roles.map((role) => role.tokens * role.value)) / tokens : null;
}

const monitorFigures = (report: RoundReport): MonitorPoint['figures'] => ({
  reward: report.monitors?.reward ?? null,
  gold: report.monitors?.gold ?? null,
  gap: report.monitors?.gap ?? null,
  formatRate: report.monitors?.formatRate ?? null,
  length: report.monitors?.length ?? null,
  zeroVariance: report.monitors?.zeroVariance ?? null,
  duplicateRate: report.monitors?.duplicateRate ?? null,
  judgeBalancedAccuracy: report.monitors?.judgeBalancedAccuracy ?? null,
  entropy: overRoles(report, 'entropy'),
  klToStart: overRoles(report, 'klToStart'),
  gradientNorm: report.training?.gradientNorm ?? null,
  tokens: report.monitors?.tokens ?? null,
  trainedTokens: report.training?.tokens ?? null,
  ...report.figures,
});

/** The names of the figures that the recipe reported beside the usual ones, of its rounds and of its evaluations. */
export function ownFigures({
  heldout,
  monitors = [],
}: Pick<Summary, 'heldout' | 'monitors'>): readonly string[] {
  const usual = Object.keys(monitorFigures({}));
  const names = [...heldout, ...monitors].flatMap(({ figures: of = {} }) => Object.keys(of));
  return [...new Set(names)].filter((name) => !usual.includes(name));
}

/**
 * Makes the summary of a run from its round lines. The held-out curve begins with `start`, the evaluation of the version that the run
 * began from, as round 0. `wallMs` is the time of this process, since a run may be continued.
 */
export function summarize(
  settings: RunSettings,
  { taskName: task, roles: roleSettings }: { readonly taskName: string; readonly roles: object },
  start: RoundReport,
  lines: readonly RoundLine[],
  wallMs: number,
  duplicates = 0,
): Summary {
  const evaluated = [{ round: 0, report: start }, ...lines].flatMap(({ round, report }) =>
    report.evaluation ? [{ round, evaluation: report.evaluation }] : [],
  );
  const last = lines.at(-1)?.to ?? 0;
  const [first, end] = [evaluated[0], evaluated.at(-1)];
  const gain =
    first && end && first !== end
      ? end.evaluation.heldOut.accuracy - first.evaluation.heldOut.accuracy
      : null;
  const tallies = evaluated.map(({ evaluation }) => evaluation.tallies);
  const lost = Object.fromEntries(
    COMPARED_FIGURES.flatMap((figure) => {
      const change = sinceBest(tallies, figure);
      return change ? [[figure, change] as const] : [];
    }),
  );
  const generated = sum(lines.map(({ report }) => report.monitors?.tokens));
  const roles = Object.keys(roleSettings);
  return {
    kind: 'summary',
    recipe: settings.recipe,
    seed: settings.seed,
    reward: settings.rewardFunction,
    freeze: settings.freeze,
    ...(settings.variant === undefined ? {} : { variant: settings.variant }),
    ...(settings.weights === undefined ? {} : { weights: settings.weights }),
    ...(settings.engine === undefined ? {} : { engine: settings.engine }),
    ...(settings.ahead === undefined ? {} : { ahead: settings.ahead }),
    policy: settings.policy,
    from: start.evaluation?.version ?? lines[0]?.from ?? 0,
    others: sum(lines.map(({ others }) => others)),
    rounds: lines.length,
    versions: Object.fromEntries(roles.map((role) => [role, settings.freeze.includes(role) ? 0 : last])),
    heldout: evaluated.map(({ round, evaluation: { version, heldOut, figures, changes } }) => ({
      round,
      task,
      version,
      n: heldOut.n,
      accuracy: heldOut.accuracy,
      sampled: heldOut.sampled,
      worked: heldOut.worked,
      forcedWorked: heldOut.forcedWorked,
      ...(figures ? { figures } : {}),
      ...(changes ? { changes } : {}),
    })),
    ...(Object.keys(lost).length ? { sinceBest: lost } : {}),
    judge: evaluated.map(({ round, evaluation }) => ({ round, ...evaluation.judge })),
    proposer: lines.map(({ round, report }) => ({
      round,
      difficulty: report.monitors?.difficulty ?? null,
      passRate: report.monitors?.passRate ?? null,
    })),
    monitors: lines.map(({ round, report }) => ({ round, figures: monitorFigures(report) })),
    groups: lines.map((line) => line.groups).reduce(addCounts, NONE),
    duplicates,
    tokens: {
      generated,
      trained: sum(lines.map(({ report }) => report.training?.tokens)),
    },
    cost: runCost(
      lines.map((line) => line.usage),
      generated,
      gain,
    ),
    wallMs,
    learnerMs: sum(lines.map(({ report }) => report.learnerMs)),
    rolloutMs: sum(lines.map(({ report }) => report.rolloutMs)),
  };
}
