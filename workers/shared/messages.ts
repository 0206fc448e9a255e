/** The messages between stages. Each names the stage that it is for, since the dead-letter queue does not. */
import type { Queue } from '@cloudflare/workers-types';
import type { QueueName } from '../../core/round/stages.ts';
import type { EpisodeMessage } from '../../core/schema/agent.ts';
import type { Messages } from '../../core/schema/round.ts';

/** Those of the stages, and what the environment Worker is asked for. */
type Sent = Messages & { readonly episode: EpisodeMessage };

export type Addressed<S extends keyof Sent> = Sent[S] & { readonly to: S };
export type StageQueue<S extends keyof Sent> = Queue<Addressed<S>>;
export type StageQueues = { readonly [S in QueueName]: StageQueue<S> };

/** The most messages that a queue takes in one call. */
const SEND_LIMIT = 100;

/** Sends messages in as few calls as the platform allows, as JSON, because pull consumers can read nothing richer. */
export async function sendAll<S extends keyof Sent>(
  queue: StageQueue<S>,
  to: S,
  messages: readonly Sent[S][],
): Promise<void> {
  for (let i = 0; i < messages.length; i += SEND_LIMIT)
    await queue.sendBatch(
      messages
        .slice(i, i + SEND_LIMIT)
        .map((message) => ({ body: { ...message, to }, contentType: 'json' as const })),
    );
}
