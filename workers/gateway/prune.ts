/** Removing old versions, by the clock or when asked: what nothing names is taken first, then its files go. */
import {
  type JudgedVersion,
  type RetentionRule,
  removeFiles,
  takenVersions,
  takeUnnamed,
} from '../../store/retention.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import type { Services } from './services.ts';

export const DAY_MS = 24 * 3600 * 1000;

/** From the Worker's variables; 0 or nothing readable for the number of versions = keep them all. */
export function retentionOf(
  keep: string | undefined,
  withdrawnDays: string | undefined,
): RetentionRule | null {
  const [versions, days] = [Number(keep), Number(withdrawnDays)];
  if (!Number.isInteger(versions) || versions < 1 || !(days >= 0)) return null;
  return { keep: versions, withdrawnMs: days * DAY_MS };
}

/**
 * At most fifty versions a call; `policy` null = of all policies. A version whose files cannot be removed keeps the others from nothing.
 * @returns those whose files went
 */
export async function prune(
  { db, bucket, now }: Services,
  policy: string | null,
  rule: RetentionRule,
): Promise<Omit<JudgedVersion, 'kept'>[]> {
  await takeUnnamed(db, policy, rule, now());
  const removed: Omit<JudgedVersion, 'kept'>[] = [];
  for (const taken of await takenVersions(db)) {
    try {
      await removeFiles(db, bucket, taken);
      removed.push(taken);
      log('info', 'version.pruned', taken);
    } catch (error) {
      log('error', 'version.unpruned', { ...taken, ...failureOf(error) });
    }
  }
  return removed;
}
