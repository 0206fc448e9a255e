/** What the mesh assumes of Queues. The consumer notes each delivery in D1. */
import { type Check, type ConformanceEnv, check, Differs, pause, same } from './check.ts';

/** Messages that the consumer notes in D1; what one of them asks for is in its body. */
interface Asked {
  readonly mark: string;
  readonly n: number;
  readonly fail?: number;
  /** How long a delivery that fails is to wait, s. */
  readonly later?: number;
  readonly big?: string;
}

const PATIENCE_MS = 60_000;

interface Heard {
  readonly message: string;
  readonly attempt: number;
  readonly body: string;
  readonly at: number;
  readonly dead: number;
}

/** Waits until so many deliveries were noted. */
async function heard(env: ConformanceEnv, mark: string, count: number): Promise<readonly Heard[]> {
  for (let waited = 0; ; waited += 200) {
    const { results } = await env.DB.prepare(
      'SELECT message, attempt, body, at, dead FROM heard WHERE mark = ?1 ORDER BY rowid',
    )
      .bind(mark)
      .all<Heard>();
    if (results.length >= count) return results;
    if (waited > PATIENCE_MS) throw new Differs(`${results.length} of ${count} deliveries came`);
    await pause(200);
  }
}

const send = (env: ConformanceEnv, body: Asked, options: { delaySeconds?: number } = {}) =>
  env.QUEUE.send(body, { contentType: 'json', ...options });
const messages = 'workers/shared/messages.ts';
const consume = 'workers/shared/consume.ts';

export const QUEUES: readonly Check[] = [
  check(
    'queues.json',
    'a message of JSON comes as it was sent',
    messages,
    'no stage would read its orders',
    async (env, mark) => {
      await send(env, { mark, n: 7 });
      const [one] = await heard(env, mark, 1);
      same(JSON.parse(one!.body), { mark, n: 7 });
    },
  ),
  check(
    'queues.batch',
    'a batch of 100 messages comes whole',
    messages,
    'groups would wait for the clock',
    async (env, mark) => {
      await env.QUEUE.sendBatch(
        Array.from({ length: 100 }, (_, n) => ({ body: { mark, n }, contentType: 'json' as const })),
      );
      const numbers = new Set((await heard(env, mark, 100)).map(({ body }) => (JSON.parse(body) as Asked).n));
      same(numbers.size, 100);
    },
  ),
  check(
    'queues.size',
    'a message of 100 kB comes whole',
    messages,
    'large orders would be lost',
    async (env, mark) => {
      await send(env, { mark, n: 0, big: 'x'.repeat(100_000) });
      same((JSON.parse((await heard(env, mark, 1))[0]!.body) as Asked).big!.length, 100_000);
    },
  ),
  check(
    'queues.retry',
    'a message that is retried comes again, as the same one, with its attempts counted',
    consume,
    'work that failed once would be lost',
    async (env, mark) => {
      await send(env, { mark, n: 0, fail: 1 });
      const deliveries = await heard(env, mark, 2);
      same(
        deliveries.map(({ attempt }) => attempt),
        [1, 2],
      );
      same(deliveries[0]!.message, deliveries[1]!.message);
    },
  ),
  check(
    'queues.dead-letter',
    'a message that fails for good comes to the queue of dead letters',
    consume,
    'its group would wait without end',
    async (env, mark) => {
      await send(env, { mark, n: 0, fail: 100 });
      const deliveries = await heard(env, mark, 3);
      same(
        deliveries.map(({ dead }) => dead),
        [0, 0, 1],
      );
      same(JSON.parse(deliveries[2]!.body), { mark, n: 0, fail: 100 });
    },
  ),
  check(
    'queues.delay',
    'a delayed message does not come before its time',
    consume,
    'retries would hammer',
    async (env, mark) => {
      const sent = Date.now();
      await send(env, { mark, n: 0 }, { delaySeconds: 2 });
      const [one] = await heard(env, mark, 1);
      if (one!.at - sent < 1_500) throw new Differs(`it came after ${one!.at - sent} ms`);
    },
  ),
  check(
    'queues.retry-delay',
    'a message that is retried with a delay does not come again before its time',
    consume,
    'back-offs would not be kept',
    async (env, mark) => {
      await send(env, { mark, n: 0, fail: 1, later: 2 });
      const [first, second] = await heard(env, mark, 2);
      if (second!.at - first!.at < 1_500) throw new Differs(`it came after ${second!.at - first!.at} ms`);
    },
  ),
  check(
    'queues.alone',
    'of messages that come together, only the one that is retried comes again',
    consume,
    'work that was done would be done again',
    async (env, mark) => {
      await env.QUEUE.sendBatch(
        [0, 1, 2].map((n) => ({
          body: { mark, n, ...(n === 1 ? { fail: 1 } : {}) },
          contentType: 'json' as const,
        })),
      );
      await heard(env, mark, 4);
      await pause(1_000);
      const numbers = (await heard(env, mark, 4)).map(({ body }) => (JSON.parse(body) as Asked).n);
      same(numbers.toSorted(), [0, 1, 1, 2]);
    },
  ),
];

/** What the consumer does with a delivery: notes it, then does what its body asks for. @returns how it is to be tried again; null where it is done */
export async function noteDelivery(
  env: ConformanceEnv,
  { id, attempts, body }: { readonly id: string; readonly attempts: number; readonly body: unknown },
  dead: boolean,
): Promise<QueueRetryOptions | null> {
  const asked = body as Asked;
  await env.DB.prepare(
    'INSERT INTO heard (mark, message, attempt, body, at, dead) VALUES (?1, ?2, ?3, ?4, ?5, ?6)',
  )
    .bind(asked.mark, id, attempts, JSON.stringify(asked), Date.now(), dead ? 1 : 0)
    .run();
  return !dead && attempts <= (asked.fail ?? 0) ? { delaySeconds: asked.later ?? 0 } : null;
}
