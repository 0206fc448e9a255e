/** Sends the messages by which stages go on with groups, now that what these waited for is there, or has to be computed elsewhere. */

import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { sendAll } from '../shared/messages.ts';
import type { WaitingGroup } from '../store/work.ts';
import type { Services } from './services.ts';

/** Sending them twice is harmless, and a send that fails is left to the clock. */
export async function continueGroups(
  { queues }: Pick<Services, 'queues'>,
  groups: readonly WaitingGroup[],
): Promise<void> {
  const of = (stage: WaitingGroup['stage']) => groups.filter((one) => one.stage === stage);
  const messages = (stage: 'rollout' | 'judge') =>
    of(stage).map(({ round, group, index }) => ({
      v: 1 as const,
      round,
      group,
      index,
      begun: true as const,
    }));
  try {
    await sendAll(
      queues.propose,
      'propose',
      of('propose').map(({ round }) => ({ v: 1, round, begun: true })),
    );
    await sendAll(queues.rollout, 'rollout', messages('rollout'));
    await sendAll(queues.judge, 'judge', messages('judge'));
  } catch (error) {
    log('warn', 'groups.unsent', { groups: groups.length, ...failureOf(error) });
  }
}
