/** Sends the message by which a stage goes on with a group, now that what it waited for is there, or has to be computed elsewhere. */
import type { WorkRow } from '../../store/work.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { sendAll } from '../shared/messages.ts';
import type { Services } from './services.ts';

/** Sending it twice is harmless, and a send that fails is left to the clock. */
export async function continueGroup(
  { queues }: Pick<Services, 'queues'>,
  { round, stage, group, index }: Pick<WorkRow, 'round' | 'stage' | 'group' | 'index'>,
): Promise<void> {
  try {
    if (stage === 'propose') await sendAll(queues.propose, 'propose', [{ v: 1, round, begun: true }]);
    else if (stage === 'rollout')
      await sendAll(queues.rollout, 'rollout', [{ v: 1, round, group, index, begun: true }]);
    else await sendAll(queues.judge, 'judge', [{ v: 1, round, group, index, begun: true }]);
  } catch (error) {
    log('warn', `${stage}.unsent`, { round, group, ...failureOf(error) });
  }
}
