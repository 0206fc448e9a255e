/**
 * The queue that the learner pulls from: Cloudflare's by its own REST client, the stand-in of a local mesh without it. The base URL, the ids and the
 * token say which. Pulling leases a message, and acknowledging the lease deletes it.
 */
import * as v from 'valibot';
import { queueOperations } from '../../core/cost/prices.ts';
import { RollmeshError } from '../../core/errors.ts';
import { finite } from '../../core/schema/numbers.ts';
import { type BackOff, fetchPatiently, PATIENT } from './back-off.ts';
import { isLocal, localCalls, type QueueCalls, QueueRefusal } from './queue-calls.ts';
import type { Tally } from './tally.ts';

const message = v.object({
  id: v.string(),
  body: v.string(),
  timestamp_ms: finite,
  attempts: finite,
  lease_id: v.string(),
  metadata: v.optional(v.record(v.string(), v.unknown()), {}),
});
/** Of an answer that is none of the API's, as a proxy may give it, nothing. */
const problems = v.fallback(v.array(v.looseObject({ message: v.string() })), []);
const pulled = v.object({
  message_backlog_count: v.optional(finite, 0),
  messages: v.optional(v.array(message), []),
});

export interface PulledMessage {
  readonly id: string;
  /** The text if the content type is `text`, or else the parsed JSON; null if that cannot be parsed. */
  readonly body: unknown;
  readonly sentAt: Date;
  /** The number of deliveries so far, this one included. */
  readonly attempts: number;
  readonly lease: string;
}

export interface PullQueueOptions {
  /** `https://api.cloudflare.com/client/v4`, or the local mesh's `pullUrl`. */
  readonly baseUrl: string;
  readonly accountId: string;
  /** The queue's 32-digit id; locally its name. */
  readonly queueId: string;
  readonly token: string;
  readonly fetch?: typeof fetch;
  readonly backOff?: BackOff;
  /** Adds up the billed operations of pulls and acknowledgements. */
  readonly tally?: Tally;
}

/** Billed operations: an empty pull counts as one read; deleting a message counts as one, because the mesh's messages are short. */
const EMPTY_PULL = 1;
const DELETION = 1;

const TIMEOUT_MS = 30_000;
/** The most messages that one pull or acknowledgement may carry. */
const BATCH_LIMIT = 100;

export class PullQueue {
  readonly #options: PullQueueOptions;
  #opened: Promise<QueueCalls> | undefined;

  constructor(options: PullQueueOptions) {
    this.#options = options;
  }

  #calls(): Promise<QueueCalls> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #open(): Promise<QueueCalls> {
    const { accountId, queueId, token, fetch: send = fetch, backOff = PATIENT } = this.#options;
    const options = {
      baseUrl: this.#options.baseUrl.replace(/\/$/, ''),
      accountId,
      queueId,
      token,
      // Each attempt has a time limit of its own.
      send: (url: string | URL | Request, init?: RequestInit) =>
        fetchPatiently(() => send(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) }), backOff),
    };
    if (isLocal(options.baseUrl)) return localCalls(options);
    return (await import('./cloudflare-queue.ts')).cloudflareCalls(options);
  }

  /** Leases up to 100 messages for `leaseMs`. Those that are not acknowledged within that time are delivered again. */
  async pull(leaseMs: number, most = BATCH_LIMIT): Promise<{ messages: PulledMessage[]; backlog: number }> {
    const order = { batch_size: Math.min(most, BATCH_LIMIT), visibility_timeout_ms: leaseMs };
    const result = await taken(
      '/pull',
      this.#calls().then((calls) => calls.pull(order)),
    );
    const { messages, message_backlog_count } = v.parse(pulled, result);
    this.#count(messages.length ? messages.map(({ body }) => queueOperations(body.length)) : [EMPTY_PULL]);
    return {
      backlog: message_backlog_count,
      messages: messages.map(({ id, body, timestamp_ms, attempts, lease_id, metadata }) => ({
        id,
        body: decodeBody(body, metadata['CF-Content-Type']),
        sentAt: new Date(timestamp_ms),
        attempts,
        lease: lease_id,
      })),
    };
  }

  /** Acknowledges leased messages, which deletes them. A lease that has run out is no error: its message is delivered again. */
  async ack(leases: readonly string[]): Promise<void> {
    this.#count(leases.map(() => DELETION));
    await this.#settle(leases, (acks) => ({ acks: acks.map((lease_id) => ({ lease_id })), retries: [] }));
  }

  /** Gives leased messages back, to be delivered again after `delaySeconds`. */
  async retry(leases: readonly string[], delaySeconds = 0): Promise<void> {
    await this.#settle(leases, (retries) => ({
      acks: [],
      retries: retries.map((lease_id) => ({ lease_id, delay_seconds: delaySeconds })),
    }));
  }

  async #settle(
    leases: readonly string[],
    bodyOf: (leases: readonly string[]) => Parameters<QueueCalls['ack']>[0],
  ): Promise<void> {
    for (let i = 0; i < leases.length; i += BATCH_LIMIT) {
      const body = bodyOf(leases.slice(i, i + BATCH_LIMIT));
      await taken(
        '/ack',
        this.#calls().then((calls) => calls.ack(body)),
      );
    }
  }

  #count(operations: readonly number[]): void {
    this.#options.tally?.add({ queueOperations: operations.reduce((sum, n) => sum + n, 0) });
  }
}

/** What the queue answered. Throws `queue.unreachable` or `queue.refused`. `path`: what was asked. */
async function taken(path: string, answer: Promise<unknown>): Promise<unknown> {
  const result = await answer.catch((error: unknown) => {
    if (!(error instanceof QueueRefusal)) throw unreachable(path, 'no answer', error);
    const said = v
      .parse(problems, error.errors)
      .map(({ message }) => message)
      .join('; ');
    if (error.status === 401 || error.status === 403) throw refused(error.status, said);
    throw unreachable(path, `${error.status} ${said}`.trim());
  });
  // An answer that is none of the API's, such as a page of a proxy.
  if (!result) throw unreachable(path, 'an answer without a result');
  return result;
}

const unreachable = (path: string, what: string, cause?: unknown) =>
  new RollmeshError('retry', 'queue.unreachable', `The queue did not take messages${path}: ${what}.`, {
    next: 'See that the mesh is up and that the queue has a pull consumer.',
    ...(cause === undefined ? {} : { cause }),
  });

const refused = (status: number, said: string) =>
  new RollmeshError('wrong-input', 'queue.refused', `The queue refused the token: ${status} ${said}.`, {
    expected: 'a token that may read and write queues',
  });

/** Decodes a message's body: `text` is sent as it is, `json` as base64. */
function decodeBody(body: string, type: unknown): unknown {
  if (type === 'text') return body;
  try {
    return JSON.parse(Buffer.from(body, 'base64').toString('utf8'));
  } catch {
    return null;
  }
}
