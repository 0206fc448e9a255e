/** What a stage knows of a round when it begins to work on messages: the rows that all stages need, read together. */
import type { RoundSpec } from '../../core/schema/round.ts';
import type { WorkerStage } from '../../core/stages.ts';
import type { RoundRow } from '../../store/rounds.ts';
import { readOpening, type StageOpening } from '../../store/stage-opening.ts';
import { type StageMesh, unknownRound } from './stage-mesh.ts';

export interface Opening extends StageOpening {
  readonly row: RoundRow;
}

/** The specs of rounds that this isolate worked on: with one, the versions that it names are read in the same call. */
const specs = new Map<string, RoundSpec>();
const KEPT_SPECS = 64;

/** Throws `give-up` where there is no such round, because the message then belongs to another mesh. */
export async function openStage(
  { db, now }: Pick<StageMesh, 'db' | 'now'>,
  stage: WorkerStage,
  round: string,
  groups: readonly string[],
): Promise<Opening> {
  const { row, ...opening } = await readOpening(db, stage, round, groups, specs.get(round), now());
  if (!row) throw unknownRound(round);
  if (specs.size >= KEPT_SPECS) specs.clear();
  specs.set(round, row.spec);
  return { ...opening, row };
}
