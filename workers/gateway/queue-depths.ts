/** Reads how many messages wait in each queue. A queue that does not answer is left out rather than counted as zero. */
import type { QueueDepth } from './mesh-metrics.ts';
import type { Services } from './services.ts';

export async function queueDepths({ queues }: Services): Promise<QueueDepth[]> {
  const depths = await Promise.all(
    Object.entries(queues).map(async ([queue, producer]): Promise<QueueDepth[]> => {
      try {
        const { backlogCount, oldestMessageTimestamp } = await producer.metrics();
        return [{ queue, messages: backlogCount, oldestAt: oldestMessageTimestamp?.getTime() || null }];
      } catch {
        return [];
      }
    }),
  );
  return depths.flat();
}
