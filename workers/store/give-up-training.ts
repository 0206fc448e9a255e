/** Ends a round that the learner cannot train. Its groups keep what they have, and a dead letter opens it again once the cause is mended. */
import type { GroupFailure } from '../../core/schema/answers.ts';
import type { Database } from './database.ts';
import { letterId, storeDeadLetter } from './dead-letters.ts';
import { failRound } from './rounds.ts';

export async function giveUpTraining(
  db: Database,
  round: string,
  { kind, code, message, attempts, at }: GroupFailure & { readonly attempts: number; readonly at: number },
): Promise<void> {
  const queue = 'scored';
  const body = { v: 1, round };
  const id = letterId(queue, body);
  const cause = message;
  await storeDeadLetter(db, { id, queue, body, attempts, kind, code, cause, round, group: null, at });
  await failRound(db, round, ['training'], message, at);
}
