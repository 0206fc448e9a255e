/**
 * The local stand-in for Cloudflare's HTTP pull consumer, which Miniflare does not have. It has the same paths, JSON, base64
 * rule, leases, attempts, delays and dead letters. It is never deployed, since the real one answers there.
 */
import { DurableObject } from 'cloudflare:workers';

interface Env {
  readonly PULL: DurableObjectNamespace<PullQueue>;
  readonly DLQ: Queue;
  readonly QUEUES_TOKEN: string;
  /** The number of deliveries before a message goes to the dead-letter queue. */
  readonly MAX_DELIVERIES: string;
}

type ContentType = 'json' | 'text' | 'bytes';

interface Stored {
  readonly id: string;
  readonly timestamp: number;
  readonly type: ContentType;
  /** Plain text for `text`, base64 for `json` and `bytes`. */
  readonly body: string;
  readonly delaySeconds: number;
}

type Row = Record<string, SqlStorageValue> & {
  seq: number;
  id: string;
  ts: number;
  type: ContentType;
  body: string;
  attempts: number;
};

interface PullRequest {
  readonly batch_size?: number;
  readonly visibility_timeout_ms?: number;
}
interface Lease {
  readonly lease_id: string;
  readonly delay_seconds?: number;
}
interface AckRequest {
  readonly acks?: readonly Lease[];
  readonly retries?: readonly Lease[];
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 0x8000)
    text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
const encodeJson = (value: unknown) => base64(new TextEncoder().encode(JSON.stringify(value)));
const decodeJson = (text: string): unknown =>
  JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))));

/** One queue. Its messages are in SQLite, so that they outlive the process. */
export class PullQueue extends DurableObject<Env> {
  readonly #sql: SqlStorage;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#sql = state.storage.sql;
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS messages (
      seq INTEGER PRIMARY KEY, id TEXT UNIQUE, ts INTEGER, type TEXT, body TEXT,
      attempts INTEGER DEFAULT 0, visible_at INTEGER, lease TEXT)`);
  }

  put(messages: readonly Stored[]): void {
    for (const { id, timestamp, type, body, delaySeconds } of messages)
      this.#sql.exec(
        'INSERT OR IGNORE INTO messages (id, ts, type, body, visible_at) VALUES (?, ?, ?, ?, ?)',
        id,
        timestamp,
        type,
        body,
        Date.now() + delaySeconds * 1000,
      );
  }

  async pull(request: PullRequest) {
    const now = Date.now();
    await this.#buryExhausted(now);
    const rows = this.#sql
      .exec<Row>(
        'SELECT * FROM messages WHERE visible_at <= ? ORDER BY seq LIMIT ?',
        now,
        Math.min(request.batch_size ?? 5, 100),
      )
      .toArray();
    const messages = rows.map(({ seq, id, ts, type, body, attempts }) => {
      const lease_id = `${seq}.${crypto.randomUUID()}`;
      this.#sql.exec(
        'UPDATE messages SET attempts = attempts + 1, visible_at = ?, lease = ? WHERE seq = ?',
        now + (request.visibility_timeout_ms ?? 30_000),
        lease_id,
        seq,
      );
      const metadata = { 'CF-sourceMessageSource': 'worker', 'CF-Content-Type': type };
      return { body, id, timestamp_ms: ts, attempts: attempts + 1, metadata, lease_id };
    });
    const { n } = this.#sql.exec<{ n: number }>('SELECT count(*) AS n FROM messages').one();
    return { message_backlog_count: n, messages };
  }

  /** Takes every lease back, so that the messages can be pulled at once. It is for when the learner that leased them is known to be dead. */
  release() {
    const released = this.#sql
      .exec('UPDATE messages SET visible_at = ?1 WHERE visible_at > ?1 RETURNING seq', Date.now())
      .toArray().length;
    return { released };
  }

  /** Moves exhausted messages to the dead-letter queue. They are sent before they are deleted, so a crash between the two never loses one. */
  async #buryExhausted(now: number): Promise<void> {
    const dead = this.#sql
      .exec<Row>(
        'SELECT * FROM messages WHERE attempts >= ? AND visible_at <= ?',
        Number(this.env.MAX_DELIVERIES),
        now,
      )
      .toArray();
    for (const { seq, type, body } of dead) {
      if (type === 'json') await this.env.DLQ.send(decodeJson(body), { contentType: 'json' });
      else await this.env.DLQ.send(body, { contentType: 'text' });
      this.#sql.exec('DELETE FROM messages WHERE seq = ?', seq);
    }
  }

  /** An ack that comes after its lease has run out is accepted, as in the real queue; a retry only by the lease that holds the message. */
  ack({ acks = [], retries = [] }: AckRequest) {
    const warnings: Record<string, string> = {};
    const run = (sql: string, lease: string, ...values: SqlStorageValue[]) => {
      const changed = this.#sql.exec(sql, ...values).toArray().length;
      if (!changed) warnings[lease] = 'unknown lease';
      return changed;
    };
    let ackCount = 0;
    let retryCount = 0;
    for (const { lease_id } of acks)
      ackCount += run(
        'DELETE FROM messages WHERE seq = ? RETURNING seq',
        lease_id,
        Number.parseInt(lease_id, 10),
      );
    for (const { lease_id, delay_seconds = 0 } of retries)
      retryCount += run(
        'UPDATE messages SET visible_at = ? WHERE lease = ? RETURNING seq',
        lease_id,
        Date.now() + delay_seconds * 1000,
        lease_id,
      );
    return { ackCount, retryCount, warnings };
  }
}

const ok = (result: object) => Response.json({ success: true, errors: [], messages: [], result });
const fail = (status: number, code: number, message: string) =>
  Response.json({ success: false, errors: [{ code, message }], messages: [], result: null }, { status });

const ROUTE = /^\/client\/v4\/accounts\/[^/]+\/queues\/([^/]+)\/messages(?:\/(pull|ack|batch|release))?$/;

interface Pushed {
  readonly body: unknown;
  readonly content_type?: 'json' | 'text';
  readonly delay_seconds?: number;
}

const storedOf = ({ body, content_type = 'json', delay_seconds = 0 }: Pushed): Stored => ({
  id: crypto.randomUUID().replaceAll('-', ''),
  timestamp: Date.now(),
  type: content_type,
  body: content_type === 'text' ? String(body) : encodeJson(body),
  delaySeconds: delay_seconds,
});

export default {
  async fetch(request, env) {
    const [, queue, action] = ROUTE.exec(new URL(request.url).pathname) ?? [];
    if (!queue || request.method !== 'POST') return fail(404, 7000, 'No route for that URI');
    if (request.headers.get('authorization') !== `Bearer ${env.QUEUES_TOKEN}`)
      return fail(401, 10000, 'Authentication error');
    const body: unknown = await request.json().catch(() => null);
    if (typeof body !== 'object' || body === null) return fail(400, 10026, 'The body is no JSON object');
    const stub = env.PULL.getByName(queue);
    if (action === 'pull') return ok(await stub.pull(body));
    if (action === 'ack') return ok(await stub.ack(body));
    // The real API has no `release`.
    if (action === 'release') return ok(await stub.release());
    await stub.put(
      (action === 'batch' ? (body as { messages: Pushed[] }).messages : [body as Pushed]).map(storedOf),
    );
    return ok({});
  },
  async queue(batch, env) {
    await env.PULL.getByName(batch.queue).put(
      batch.messages.map(({ id, timestamp, body }) => ({
        id,
        timestamp: timestamp.getTime(),
        type: 'json' as const,
        body: encodeJson(body),
        delaySeconds: 0,
      })),
    );
  },
} satisfies ExportedHandler<Env>;
