/** The calls of Cloudflare's pull API by its own REST client, in a module of its own: the package loads the classes of the whole interface, 0.4 s of a core. */
import { APIError } from 'cloudflare/core/error';
import { BaseMessages } from 'cloudflare/resources/queues/messages';
import { createClient } from 'cloudflare/tree-shakable';
import { type QueueCalls, type QueueCallsOptions, QueueRefusal } from './queue-calls.ts';

export function cloudflareCalls({ baseUrl, accountId, queueId, token, send }: QueueCallsOptions): QueueCalls {
  const {
    queues: { messages },
  } = createClient({
    resources: [BaseMessages],
    baseURL: baseUrl,
    apiToken: token,
    // Other credentials, which the client would take from the environment and send along.
    apiKey: null,
    apiEmail: null,
    userServiceKey: null,
    // Attempts are those of `workers/api/back-off.ts`, as for every other request.
    maxRetries: 0,
    fetch: send,
  });
  const told = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      if (!(error instanceof APIError) || error.status === undefined) throw error;
      throw new QueueRefusal(error.status, error.errors);
    });
  return {
    pull: (body) => told(messages.pull(queueId, { account_id: accountId, ...body })),
    ack: (body) => told(messages.ack(queueId, { account_id: accountId, ...body })),
  };
}
