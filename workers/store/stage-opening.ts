/** Reads what every message of a stage begins with, in one call of D1: a call costs a Worker far more than the few rows that it reads. */
import { eq } from 'drizzle-orm';
import type { WorkerStage } from '../../core/round/stages.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { AdmittedTask } from '../../core/schema/sample.ts';
import type { Database } from './database.ts';
import { rolloutRows, tasksOfRows } from './groups.ts';
import { countNodesNow, type NodesNow, nodesNowOf } from './nodes.ts';
import { type VersionRow, versionsOfRound } from './policies.ts';
import type { RoundRow } from './rounds.ts';
import { rounds } from './schema.ts';
import { type WorkRow, workOf } from './work.ts';

export interface StageOpening {
  /** Undefined where there is no such round. */
  readonly row: RoundRow | undefined;
  /** The tasks of the groups that are still to be rolled out or judged. */
  readonly tasks: readonly AdmittedTask[];
  readonly nodes: NodesNow;
  /** The groups' requests that are or were offered to nodes. */
  readonly work: readonly WorkRow[];
  /** The versions that the round names; undefined where its spec was not known before. */
  readonly versions: readonly VersionRow[] | undefined;
}

export async function readOpening(
  db: Database,
  stage: WorkerStage,
  round: string,
  groups: readonly string[],
  /** The round's, as an earlier message gave it; a round keeps its spec. */
  spec: RoundSpec | undefined,
  now: number,
): Promise<StageOpening> {
  const row = db.select().from(rounds).where(eq(rounds.id, round));
  const common = [
    row,
    rolloutRows(db, round, groups),
    countNodesNow(db, now),
    workOf(db, round, stage, groups),
  ] as const;
  const [[found], tasks, nodes, work, versions] = spec
    ? await db.batch([...common, versionsOfRound(db, spec)])
    : [...(await db.batch([...common])), undefined];
  return { row: found, tasks: tasksOfRows(tasks), nodes: nodesNowOf(nodes), work, versions };
}
