/** Stores a message that is given up as a dead letter with its cause, and marks its round or group as failed. */
import * as v from 'valibot';
import { id } from '../../core/schema/sample.ts';
import type { Database } from '../store/database.ts';
import { letterId, storeDeadLetter } from '../store/dead-letters.ts';
import { failGroup } from '../store/groups.ts';
import { failRound } from '../store/rounds.ts';
import type { Failure } from '../store/schema.ts';

const about = v.object({ round: v.optional(id), group: v.optional(id) });

export async function storeUndeliverable(
  db: Database,
  queue: string,
  body: unknown,
  attempts: number,
  failure: Failure,
  now: number,
): Promise<void> {
  const parsed = v.safeParse(about, body);
  const { round = null, group = null } = parsed.success ? parsed.output : {};
  const { kind, code, message: cause } = failure;
  await storeDeadLetter(db, {
    id: letterId(queue, body),
    queue,
    body,
    attempts,
    kind,
    code,
    cause,
    round,
    group,
    at: now,
  });
  // Only what was for the learner says anything of a scored group: of the rest, another copy got through.
  const from = queue === 'scored' ? (['rollout', 'scored'] as const) : (['rollout'] as const);
  if (round && group) await failGroup(db, round, group, from, failure, now);
  else if (round) await failRound(db, round, ['proposing'], `The proposer failed: ${cause}`, now);
}
