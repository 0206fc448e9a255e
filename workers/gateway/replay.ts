/** Sends one dead letter back into its queue. It stays stored, marked as replayed; if the message fails again, it is the same dead letter. */
import * as v from 'valibot';
import { STAGES, type WAITING_GROUPS } from '../../core/round/stages.ts';
import type { Replayed } from '../../core/schema/answers.ts';
import { stageMessages } from '../../core/schema/round.ts';
import { id as roundId } from '../../core/schema/sample.ts';
import { log } from '../shared/log.ts';
import { sendAll } from '../shared/messages.ts';
import { claimReplay, type DeadLetter } from '../store/dead-letters.ts';
import { reviveGroup, reviveProposal, reviveTraining } from '../store/revive.ts';
import { sendScored } from './send-scored.ts';
import type { Services } from './services.ts';

const wholeRound = v.object({ v: v.literal(1), round: roundId });

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

/** Reopens the round or group that the message is about and returns the function that sends it; null where it cannot be reopened. */
async function preparedSend(
  services: Services,
  { queue, body }: DeadLetter,
): Promise<(() => Promise<void>) | null> {
  const { db, queues, now } = services;
  const stage = STAGES.find(({ name }) => name === queue);
  if (stage?.during === 'proposing') {
    const message = v.safeParse(stageMessages.propose, body);
    if (!message.success || !(await reviveProposal(db, message.output.round, now()))) return null;
    return () => sendAll(queues.propose, 'propose', [message.output]);
  }
  if (stage?.during === 'rollout') {
    const message = v.safeParse(stageMessages[stage.name], body);
    if (!message.success || !(await revive(message.output, 'rollout'))) return null;
    // A judge message restarts at the rollout too: the record that the judge could not read is made again.
    return () => sendAll(queues.rollout, 'rollout', [message.output]);
  }
  const message = v.safeParse(stageMessages.scored, body);
  if (!message.success) {
    // What the learner gave up is a whole round.
    const whole = v.safeParse(wholeRound, body);
    if (!whole.success || !(await reviveTraining(db, whole.output.round, now()))) return null;
    return () => sendScored(services, whole.output.round);
  }
  if (!(await revive(message.output, 'scored'))) return null;
  return () => sendAll(queues.scored, 'scored', [message.output]);

  function revive({ round, group }: { round: string; group: string }, to: keyof typeof WAITING_GROUPS) {
    return reviveGroup(db, round, group, to, now());
  }
}
