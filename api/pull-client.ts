/**
 * The client of Cloudflare's HTTP pull API for queues. It is the same for the real service and for the local stand-in; only the
 * base URL, the ids and the token differ. Pulling leases a message, and acknowledging the lease deletes it.
 */
import * as v from 'valibot';
import { queueOperations } from '../core/cost/prices.ts';
import { RollmeshError } from '../core/errors.ts';
import { type BackOff, fetchPatiently, PATIENT } from './back-off.ts';
import type { Tally } from './tally.ts';

const message = v.object({
  id: v.string(),
  body: v.string(),
  timestamp_ms: v.number(),
  attempts: v.number(),
  lease_id: v.string(),
  metadata: v.optional(v.record(v.string(), v.unknown()), {}),
});
const envelope = v.object({
  success: v.boolean(),
  errors: v.optional(v.array(v.looseObject({ message: v.optional(v.string()) })), []),
  result: v.unknown(),
});
const pulled = v.object({
  message_backlog_count: v.optional(v.number(), 0),
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
  readonly #base: string;
  readonly #options: PullQueueOptions;

  constructor(options: PullQueueOptions) {
    const { baseUrl, accountId, queueId } = options;
    this.#options = options;
    this.#base = `${baseUrl.replace(/\/$/, '')}/accounts/${accountId}/queues/${queueId}/messages`;
  }

  /** Leases up to 100 messages for `leaseMs`. Those that are not acknowledged within that time are delivered again. */
  async pull(leaseMs: number, most = BATCH_LIMIT): Promise<{ messages: PulledMessage[]; backlog: number }> {
    const result = await this.#post('/pull', {
      batch_size: Math.min(most, BATCH_LIMIT),
      visibility_timeout_ms: leaseMs,
    });
    const { messages, message_backlog_count } = v.parse(pulled, result ?? {});
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
    for (let i = 0; i < leases.length; i += BATCH_LIMIT)
      await this.#post('/ack', {
        acks: leases.slice(i, i + BATCH_LIMIT).map((lease_id) => ({ lease_id })),
        retries: [],
      });
  }

  /** Gives leased messages back, to be delivered again after `delaySeconds`. */
  async retry(leases: readonly string[], delaySeconds = 0): Promise<void> {
    for (let i = 0; i < leases.length; i += BATCH_LIMIT)
      await this.#post('/ack', {
        acks: [],
        retries: leases
          .slice(i, i + BATCH_LIMIT)
          .map((lease_id) => ({ lease_id, delay_seconds: delaySeconds })),
      });
  }

  #count(operations: readonly number[]): void {
    this.#options.tally?.add({ queueOperations: operations.reduce((sum, n) => sum + n, 0) });
  }

  async #post(path: string, body: object): Promise<unknown> {
    const { token, fetch: send = fetch, backOff = PATIENT } = this.#options;
    const request = () =>
      send(this.#base + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    const response = await fetchPatiently(request, backOff).catch((cause: unknown) => {
      throw unreachable(path, 'no answer', cause);
    });
    const answer = v.safeParse(envelope, await response.json().catch(() => null));
    if (answer.success && answer.output.success) return answer.output.result;
    const said = answer.success ? answer.output.errors.map((error) => error.message).join('; ') : '';
    if (response.status === 401 || response.status === 403) throw refused(response.status, said);
    throw unreachable(path, `${response.status} ${said}`.trim());
  }
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
