/** Rows as the reading API shows them. */

import { costOf } from '../../core/cost/cost.ts';
import { PRICES } from '../../core/cost/prices.ts';
import { totalUsage, type UsageByStage } from '../../core/cost/usage.ts';
import type { DeadLetter } from '../../store/dead-letters.ts';
import type { GroupCountsByState, GroupRow } from '../../store/groups.ts';
import type { RoundRow } from '../../store/rounds.ts';
import type { RunRow } from '../../store/runs.ts';

/** What a round used, by stage and in all, and what that costs at the published prices; null where nothing was noted. */
function usageView(stages: UsageByStage = {}) {
  const parts = Object.values(stages);
  if (!parts.length) return null;
  const total = totalUsage(parts);
  return { stages, total, cost: costOf(total), pricesOf: PRICES.asOf };
}

export const roundView = (
  row: RoundRow,
  counts: GroupCountsByState | undefined,
  stages: UsageByStage | undefined,
) => ({
  id: row.id,
  run: row.run,
  index: row.index,
  recipe: row.spec.settings.recipe,
  stage: row.stage,
  expected: row.expected,
  proposalsSha256: row.proposalsSha256,
  proposed: row.proposed,
  groups: counts ?? { rolling: 0, scored: 0, trained: 0, failed: 0 },
  reason: row.reason,
  /** Versions the roles use, and the one that was made. */
  roles: row.spec.roles,
  version: row.version,
  report: row.report ?? null,
  usage: usageView(stages),
  createdAt: row.createdAt,
  solvingAt: row.solvingAt,
  trainingAt: row.trainingAt,
  endedAt: row.endedAt,
});

export const groupView = ({ id, index, task, state, sha256, mac, failure }: GroupRow) => ({
  group: id,
  index,
  task,
  state,
  sha256,
  mac,
  failure,
});

export const runView = (row: RunRow) => ({
  id: row.id,
  settings: row.settings,
  target: row.target,
  state: row.state,
  createdAt: row.createdAt,
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
}: DeadLetter) => ({
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
