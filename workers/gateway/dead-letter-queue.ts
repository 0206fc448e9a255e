/**
 * Consumes the dead-letter queue. A consumer that can explain a failure stores the dead letter itself; the messages that arrive here
 * are those whose consumer ended before it could: out of memory, out of CPU time, a crash, or a lease that ran out too often.
 */
import * as v from 'valibot';
import { QUEUE_NAMES } from '../../core/round/stages.ts';
import { storeUndeliverable } from '../shared/dead-letter.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import type { Database } from '../store/database.ts';
import { UNKNOWN_CAUSE } from '../store/dead-letters.ts';
import type { Failure } from '../store/schema.ts';

const addressed = v.object({ to: v.picklist(QUEUE_NAMES) });

const GIVEN_UP: Failure = {
  kind: 'give-up',
  code: UNKNOWN_CAUSE,
  message:
    'Every delivery ended without an answer: the consumer ran out of memory or time, crashed, or lost its lease.',
};

export async function storeDead(
  db: Database,
  messages: readonly Message[],
  deliveries: number,
  now: number,
): Promise<void> {
  for (const message of messages) {
    const to = v.safeParse(addressed, message.body);
    const queue = to.success ? to.output.to : 'unknown';
    try {
      await storeUndeliverable(db, queue, message.body, deliveries, GIVEN_UP, now);
      log('error', 'dead-letter', { id: message.id, queue });
      message.ack();
    } catch (error) {
      log('error', 'dead-letter.unwritten', { id: message.id, queue, ...failureOf(error) });
      message.retry({ delaySeconds: 30 });
    }
  }
}
