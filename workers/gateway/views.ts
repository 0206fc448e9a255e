/** Turns database rows into the API's answers (core/schema/answers.ts). */
import { costOf } from '../../core/cost/cost.ts';
import { PRICES } from '../../core/cost/prices.ts';
import { totalUsage, type UsageByStage } from '../../core/cost/usage.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { calledOf, type Registry } from '../../core/recipe/registry.ts';
import {
  type DeadLetter,
  type GroupAnswer,
  type ListedRun,
  NO_LABEL,
  type PolicyVersions,
  type RecipeAnswer,
  type RoundAnswer,
  type RoundUsage,
  type RunState,
  type VersionAnswer,
} from '../../core/schema/answers.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RoundReport } from '../../core/schema/report.ts';
import type { DeadLetter as DeadLetterRow } from '../store/dead-letters.ts';
import type { GroupCountsByState, GroupRow } from '../store/groups.ts';
import type { PolicyRow, VersionRow } from '../store/policies.ts';
import type { RoundRow } from '../store/rounds.ts';
import type { ListedProgress, RunRow } from '../store/runs.ts';

/** What a round used, by stage and in total, without what the mesh used while it waited, and its cost at the published prices; null where no usage is recorded. */
function usageView({ idle: _, ...stages }: UsageByStage = {}): RoundUsage | null {
  const parts = Object.values(stages);
  if (!parts.length) return null;
  const total = totalUsage(parts);
  return { stages, total, cost: costOf(total), pricesOf: PRICES.asOf };
}

/** A report without the rewards of single proposals, because a listing has hundreds of rounds. */
const listedReport = ({ earnings: _, ...report }: RoundReport): RoundReport => report;

export const roundView = (
  row: RoundRow,
  counts: GroupCountsByState | undefined,
  stages: UsageByStage | undefined,
): RoundAnswer => ({
  id: row.id,
  run: row.run,
  index: row.index,
  recipe: row.spec.settings.recipe,
  state: row.state,
  expected: row.expected,
  proposalsSha256: row.proposalsSha256,
  proposed: row.proposed,
  groups: counts ?? { rollout: 0, scored: 0, trained: 0, failed: 0 },
  reason: row.reason,
  /** The versions that the roles use, and the version that the round made. */
  roles: row.spec.roles,
  version: row.version,
  report: row.report && listedReport(row.report),
  usage: usageView(stages),
  createdAt: row.createdAt,
  rolloutAt: row.rolloutAt,
  trainingAt: row.trainingAt,
  endedAt: row.endedAt,
});

export const groupView = ({ id, index, task, state, sha256, mac, failure }: GroupRow): GroupAnswer => ({
  group: id,
  index,
  task,
  state,
  sha256,
  mac,
  failure,
});

export const runView = (row: RunRow): RunState => ({
  id: row.id,
  settings: row.settings,
  target: row.target,
  state: row.state,
  createdAt: row.createdAt,
  label: row.label ?? NO_LABEL,
  deletedAt: row.deletedAt,
});

export const listedRunView = (
  row: RunRow,
  progress: ListedProgress | undefined,
  { recipes }: Registry,
): ListedRun => ({
  ...runView(row),
  ...calledOf(recipes.find(({ name }) => name === row.settings.recipe)),
  done: progress?.done ?? 0,
  roundState: progress?.roundState ?? null,
  touchedAt: progress?.touchedAt ?? null,
  first: progress?.first ?? null,
  last: progress?.last ?? null,
  verdict: progress?.verdict ?? null,
});

/** What a reader must know of a recipe. */
export const recipeView = (recipe: Recipe): RecipeAnswer => ({
  name: recipe.name,
  title: recipe.title,
  summary: recipe.summary,
  paper: { ...recipe.paper, source: recipe.paper.source ?? null },
  taskName: recipe.taskName,
  roles: Object.entries(recipe.roles).map(([role, { description, set = MAIN_SET }]) => ({
    role,
    description,
    set,
  })),
  rewards: Object.fromEntries(
    Object.entries(recipe.rewards).map(([reward, { description }]) => [reward, description]),
  ),
  variants: { ...recipe.variants },
  figures: { ...recipe.figures },
  cells: { ...recipe.describe?.cells },
});

export const deadLetterView = ({
  id,
  queue,
  attempts,
  kind,
  code,
  cause,
  round,
  group,
  at,
  replayedAt,
}: DeadLetterRow): DeadLetter => ({
  id,
  queue,
  attempts,
  kind,
  code,
  cause,
  round,
  group,
  at,
  replayedAt,
});

export const policyView = ({ name, current, updatedAt }: PolicyRow) => ({ name, current, updatedAt });

const versionView = (row: VersionRow): VersionAnswer => ({
  version: row.version,
  ...(row.elsewhere === null ? {} : { elsewhere: JSON.parse(row.elsewhere) as number[] }),
  parent: row.parent,
  round: row.round,
  bytes: row.bytes,
  createdAt: row.createdAt,
  withdrawn: row.withdrawn,
  prunedAt: row.prunedAt,
  manifestSha256: row.manifestSha256,
  weightsSha256: row.weightsSha256,
});

/** The most versions of a policy that are listed at once. */
export const LISTED_VERSIONS = 200;

/** `versions`: newest first. */
export const policyVersionsView = (policy: PolicyRow, versions: readonly VersionRow[]): PolicyVersions => ({
  ...policyView(policy),
  next: (versions[0]?.version ?? -1) + 1,
  versions: versions.map(versionView),
});
