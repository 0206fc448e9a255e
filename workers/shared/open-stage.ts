/** What a stage knows of a round when it begins to work on messages, the rows that all stages need, read together; and whether the round is still the same at its end. */

import type { WorkerStage } from '../../core/round/stages.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { Statement } from '../store/database.ts';
import { getRound, type RoundRow } from '../store/rounds.ts';
import { readOpening, type StageOpening } from '../store/stage-opening.ts';
import { failureOf } from './failures.ts';
import { log } from './log.ts';
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

/** Whether the round was begun again since its row was read: a node that had a part in it was shut out. */
export async function isBegunAgain(
  { db }: Pick<StageMesh, 'db'>,
  { id, attempt }: Pick<RoundRow, 'id' | 'attempt'>,
): Promise<boolean> {
  const row = await getRound(db, id);
  return row !== undefined && row.attempt !== attempt;
}

/**
 * Does a stage's work for the attempt of a round that it opened. Where the round was begun again meanwhile, an error is about what is there no more:
 * the messages are dropped, since others follow, and fail no group of the new attempt.
 */
export async function ofAttempt(
  mesh: Pick<StageMesh, 'db'>,
  row: Pick<RoundRow, 'id' | 'attempt'>,
  work: () => Promise<readonly Statement[]>,
): Promise<readonly Statement[]> {
  try {
    return await work();
  } catch (error) {
    if (!(await isBegunAgain(mesh, row))) throw error;
    log('warn', 'stage.begun-again', { round: row.id, attempt: row.attempt, ...failureOf(error) });
    return [];
  }
}
