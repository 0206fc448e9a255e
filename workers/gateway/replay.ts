/** One dead letter back into its queue. The letter stays, marked as replayed; if it dies again it is the same letter. */
import * as v from 'valibot';
import { judgeMessage, proposeMessage, rolloutMessage, scoredMessage } from '../../core/schema/round.ts';
import { claimReplay, type DeadLetter } from '../../store/dead-letters.ts';
import { reviveGroup, reviveProposal } from '../../store/revive.ts';
import { log } from '../shared/log.ts';
import { sendAll } from '../shared/messages.ts';
import type { Services } from './services.ts';

export type Replayed =
  | { readonly id: string; readonly state: 'sent' }
  | { readonly id: string; readonly state: 'refused'; readonly reason: string };

export async function replay(services: Services, letter: DeadLetter): Promise<Replayed> {
  const { id } = letter;
  const send = await preparedSend(services, letter);
  if (!send)
    return { id, state: 'refused', reason: 'Its round has ended, or the message is no message of the mesh.' };
  await send();
  await claimReplay(services.db, id, services.now());
  log('info', 'dead-letter.replayed', { id, round: letter.round, group: letter.group });
  return { id, state: 'sent' };
}

/** Opens what the message is about again; null where that cannot be. */
async function preparedSend(
  services: Services,
  { queue, body }: DeadLetter,
): Promise<(() => Promise<void>) | null> {
  const { db, queues, now } = services;
  if (queue === 'propose') {
    const message = v.safeParse(proposeMessage, body);
    if (!message.success || !(await reviveProposal(db, message.output.round, now()))) return null;
    return () => sendAll(queues.propose, 'propose', [message.output]);
  }
  if (queue === 'rollout' || queue === 'judge') {
    const message = v.safeParse(queue === 'rollout' ? rolloutMessage : judgeMessage, body);
    if (
      !message.success ||
      !(await reviveGroup(db, message.output.round, message.output.group, 'rolling', now()))
    )
      return null;
    // From the rollout on in either case: what the judge could not read is made again.
    return () => sendAll(queues.rollout, 'rollout', [message.output]);
  }
  const message = v.safeParse(scoredMessage, body);
  if (
    !message.success ||
    !(await reviveGroup(db, message.output.round, message.output.group, 'scored', now()))
  )
    return null;
  return () => sendAll(queues.scored, 'scored', [message.output]);
}
