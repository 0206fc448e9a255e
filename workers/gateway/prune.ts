/** Removes old versions, by the clock or on request: versions that nothing names are marked as taken first, then their files are deleted. */

import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import {
  DAY_MS,
  type JudgedVersion,
  type RetentionRule,
  removeFiles,
  takenVersions,
  takeUnnamed,
} from '../store/retention.ts';
import type { Services } from './services.ts';

/** The retention rule from the Worker's variables; null (keep all) where the number of versions is 0 or no whole number. */
export function retentionOf(
  keep: string | undefined,
  withdrawnDays: string | undefined,
): RetentionRule | null {
  const [versions, days] = [Number(keep), Number(withdrawnDays)];
  if (!Number.isInteger(versions) || versions < 1 || !(days >= 0)) return null;
  return { keep: versions, withdrawnMs: days * DAY_MS };
}

/**
 * Removes at most fifty versions a call; `policy` null = of all policies. If one version's files cannot be removed, the others still are.
 * @returns the versions whose files were removed
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
