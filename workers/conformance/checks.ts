/** What the mesh assumes of its platform, each as a check that asks the platform itself. */
import type { D1Database, Queue, R2Bucket, RateLimit } from '@cloudflare/workers-types';

export interface ConformanceEnv {
  readonly DB: D1Database;
  readonly BUCKET: R2Bucket;
  readonly QUEUE: Queue;
  readonly LIMIT: RateLimit;
  /** Opens the Worker; without one it answers nobody. */
  readonly CONFORMANCE_TOKEN?: string;
}

/** One check: its names, keys and messages all begin with `mark`, which is another one each time. */
type Run = (env: ConformanceEnv, mark: string, later: (work: Promise<unknown>) => void) => Promise<void>;

export interface Check {
  readonly name: string;
  readonly assumes: string;
  /** The file that relies on it. */
  readonly code: string;
  /** What happens where it fails. */
  readonly otherwise: string;
  readonly run: Run;
}

export class Differs extends Error {}

function same(seen: unknown, wanted: unknown): void {
  if (JSON.stringify(seen) !== JSON.stringify(wanted))
    throw new Differs(`${JSON.stringify(seen)} in place of ${JSON.stringify(wanted)}`);
}

/** @returns the words of what it throws */
async function thrown(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return String(error);
  }
  throw new Differs('nothing was thrown');
}

const check = (name: string, assumes: string, code: string, otherwise: string, run: Run): Check => ({
  name,
  assumes,
  code,
  otherwise,
  run,
});

/** A table of every check's own rows. */
export const TABLES = [
  'CREATE TABLE IF NOT EXISTS marks (mark TEXT NOT NULL, k INTEGER NOT NULL, state TEXT, v, PRIMARY KEY (mark, k))',
  'CREATE TABLE IF NOT EXISTS heard (mark TEXT NOT NULL, message TEXT NOT NULL, attempt INTEGER NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL, dead INTEGER NOT NULL)',
];

const ONE = 'INSERT OR IGNORE INTO marks (mark, k, state) VALUES (?1, ?2, ?3)';
const insert = (env: ConformanceEnv, mark: string, k: number, state = 'a') =>
  env.DB.prepare(ONE).bind(mark, k, state);
const countOf = async (env: ConformanceEnv, mark: string) =>
  (await env.DB.prepare('SELECT count(*) AS n FROM marks WHERE mark = ?1').bind(mark).first<{ n: number }>())!
    .n;

const database = 'workers/store/database.ts';
const rounds = 'workers/store/rounds.ts';

const D1: readonly Check[] = [
  check(
    'd1.changes',
    'an update that matches nothing says so: changes is 0',
    rounds,
    'two Workers would both begin a stage',
    async (env, mark) => {
      await insert(env, mark, 0).run();
      const move = () =>
        env.DB.prepare("UPDATE marks SET state = 'b' WHERE mark = ?1 AND state = 'a'").bind(mark).run();
      same([(await move()).meta.changes, (await move()).meta.changes], [1, 0]);
    },
  ),
  check(
    'd1.compare-and-set',
    'of twenty updates at once under one condition, one matches',
    rounds,
    'a round would be trained twice',
    async (env, mark) => {
      await insert(env, mark, 0).run();
      const moves = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          env.DB.prepare("UPDATE marks SET state = ?2 WHERE mark = ?1 AND state = 'a'")
            .bind(mark, `b${i}`)
            .run(),
        ),
      );
      same(
        moves.reduce((sum, { meta }) => sum + meta.changes, 0),
        1,
      );
    },
  ),
  check(
    'd1.batch-atomic',
    'a batch with a statement that fails leaves nothing',
    database,
    'a commit could be half written',
    async (env, mark) => {
      await thrown(() =>
        env.DB.batch([
          insert(env, mark, 0),
          env.DB.prepare('INSERT INTO marks (mark, k) VALUES (?1, NULL)').bind(mark),
        ]),
      );
      same(await countOf(env, mark), 0);
    },
  ),
  check(
    'd1.batch-order',
    'a statement of a batch sees what those before it wrote',
    database,
    'what was leased could not be read in the same call',
    async (env, mark) => {
      const [, read] = await env.DB.batch<{ n: number }>([
        insert(env, mark, 0),
        env.DB.prepare('SELECT count(*) AS n FROM marks WHERE mark = ?1').bind(mark),
      ]);
      same(read!.results, [{ n: 1 }]);
    },
  ),
  check(
    'd1.ignore',
    'an insert that is ignored has 0 changes',
    'workers/gateway/webhook.ts',
    'a delivery would be taken twice',
    async (env, mark) => {
      same(
        [(await insert(env, mark, 0).run()).meta.changes, (await insert(env, mark, 0).run()).meta.changes],
        [1, 0],
      );
    },
  ),
  check(
    'd1.parameters',
    'a statement takes 100 bound parameters',
    database,
    'the largest inserts would be refused',
    async (env) => {
      const marks = Array.from({ length: 100 }, (_, i) => `?${i + 1}`).join(',');
      const row = await env.DB.prepare(`SELECT max(${marks}) AS n`)
        .bind(...Array.from({ length: 100 }, (_, i) => i))
        .first<{ n: number }>();
      same(row!.n, 99);
    },
  ),
  check(
    'd1.json-each',
    'a list of 1,000 ids is one parameter, by json_each',
    'workers/store/shut-out.ts',
    'groups could not be named together',
    async (env) => {
      const ids = Array.from({ length: 1000 }, (_, i) => i.toString(16).padStart(32, '0'));
      const row = await env.DB.prepare('SELECT count(*) AS n FROM json_each(?1)')
        .bind(JSON.stringify(ids))
        .first<{ n: number }>();
      same(row!.n, 1000);
    },
  ),
  check(
    'd1.whole-limit',
    'a bound limit is taken where it is cast to INTEGER',
    'workers/store/nodes.ts',
    'nodes would lease nothing',
    async (env, mark) => {
      await env.DB.batch([0, 1, 2].map((k) => insert(env, mark, k)));
      const { results } = await env.DB.prepare(
        'SELECT k FROM marks WHERE mark = ?1 ORDER BY k LIMIT CAST(?2 AS INTEGER)',
      )
        .bind(mark, 2)
        .all();
      same(results, [{ k: 0 }, { k: 1 }]);
    },
  ),
  check(
    'd1.integers',
    'times in ms and counts up to 2^53 − 1 come back as they were',
    'workers/store/schema.ts',
    'leases would end at wrong times',
    async (env) => {
      for (const value of [Date.now(), Number.MAX_SAFE_INTEGER, 0, -1])
        same(
          (await env.DB.prepare('SELECT CAST(?1 AS INTEGER) AS v').bind(value).first<{ v: number }>())!.v,
          value,
        );
    },
  ),
  check(
    'd1.floats',
    'a float64 comes back bit for bit',
    'workers/store/nodes.ts',
    'sums of the audit would drift',
    async (env, mark) => {
      const values = [0.1, 1 / 3, -1e-300, 5e-324, 1.7976931348623157e308];
      await env.DB.batch(
        values.map((v, k) =>
          env.DB.prepare('INSERT INTO marks (mark, k, v) VALUES (?1, ?2, ?3)').bind(mark, k, v),
        ),
      );
      const { results } = await env.DB.prepare('SELECT v FROM marks WHERE mark = ?1 ORDER BY k')
        .bind(mark)
        .all<{ v: number }>();
      same(
        results.map(({ v }) => v),
        values,
      );
    },
  ),
  check(
    'd1.text',
    'a row holds 1 MB of text, in any script',
    'workers/store/schema.ts',
    'large settings would be cut',
    async (env, mark) => {
      const text = 'ä漢🙂'.repeat(110_000);
      await env.DB.prepare('INSERT INTO marks (mark, k, v) VALUES (?1, 0, ?2)').bind(mark, text).run();
      const row = await env.DB.prepare('SELECT v = ?2 AS same, length(v) AS n FROM marks WHERE mark = ?1')
        .bind(mark, text)
        .first();
      same(row, { same: 1, n: 330_000 });
    },
  ),
  check(
    'd1.meta',
    'rows read and written are counted',
    'workers/shared/metered-bindings.ts',
    'the cost of a round would be unknown',
    async (env, mark) => {
      const { meta } = await insert(env, mark, 0).run();
      if (!((meta.rows_written ?? 0) >= 1)) throw new Differs(`rows_written is ${meta.rows_written}`);
    },
  ),
  check(
    'd1.returning',
    'RETURNING gives the rows that an update changed',
    'workers/store/work.ts',
    'a lease could not be told in one call',
    async (env, mark) => {
      await insert(env, mark, 7).run();
      same(
        (await env.DB.prepare("UPDATE marks SET state = 'b' WHERE mark = ?1 RETURNING k").bind(mark).all())
          .results,
        [{ k: 7 }],
      );
    },
  ),
];

const bytesOf = (text: string) => new TextEncoder().encode(text);
const sha256 = async (bytes: Uint8Array) =>
  [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))]
    .map((b) => b.toString(16).padStart(2, '0'))
    .join('');
const hexOf = (buffer: ArrayBuffer | undefined) =>
  buffer && [...new Uint8Array(buffer)].map((b) => b.toString(16).padStart(2, '0')).join('');
const objects = 'workers/store/objects.ts';
const uploads = 'workers/store/uploads.ts';
const FIVE_MIB = 5 * 1024 * 1024;

const R2: readonly Check[] = [
  check(
    'r2.create-only',
    'a put under If-None-Match: * writes nothing over',
    objects,
    'a version could be replaced',
    async (env, mark) => {
      const put = (text: string) =>
        env.BUCKET.put(mark, text, { onlyIf: new Headers({ 'if-none-match': '*' }) as never });
      same([(await put('first')) !== null, (await put('second')) !== null], [true, false]);
      same(await (await env.BUCKET.get(mark))!.text(), 'first');
    },
  ),
  check(
    'r2.checksum',
    'a put with another sha256 than that of its bytes is refused, and stores nothing',
    objects,
    'torn uploads would be stored',
    async (env, mark) => {
      await thrown(async () => env.BUCKET.put(mark, 'bytes', { sha256: await sha256(bytesOf('other')) }));
      same(await env.BUCKET.head(mark), null);
    },
  ),
  check(
    'r2.stored-checksum',
    'the sha256 of a put is told with the object',
    objects,
    'what is stored could not be compared without reading it',
    async (env, mark) => {
      const hash = await sha256(bytesOf('bytes'));
      await env.BUCKET.put(mark, 'bytes', { sha256: hash });
      same(hexOf((await env.BUCKET.head(mark))!.checksums.sha256), hash);
    },
  ),
  check(
    'r2.read-after-write',
    'what was put is read at once',
    objects,
    'the next stage would find nothing',
    async (env, mark) => {
      for (const text of ['one', 'two']) {
        await env.BUCKET.put(mark, text);
        same(await (await env.BUCKET.get(mark))!.text(), text);
      }
    },
  ),
  check(
    'r2.range',
    'a range of an object is read alone',
    'workers/gateway/file-body.ts',
    'shards would be read whole',
    async (env, mark) => {
      await env.BUCKET.put(mark, '0123456789');
      same(await (await env.BUCKET.get(mark, { range: { offset: 3, length: 4 } }))!.text(), '3456');
    },
  ),
  check(
    'r2.missing',
    'an object that is not there is null',
    objects,
    'errors would be told for absence',
    async (env, mark) => {
      same([await env.BUCKET.get(mark), await env.BUCKET.head(mark)], [null, null]);
    },
  ),
  check(
    'r2.list',
    'a list has pages, in order, under a prefix alone',
    'workers/store/shut-out.ts',
    'calls and versions would be left over',
    async (env, mark) => {
      await Promise.all([0, 1, 2, 3, 4].map((i) => env.BUCKET.put(`${mark}/${i}`, '')));
      await env.BUCKET.put(`${mark}x`, '');
      const keys: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await env.BUCKET.list({ prefix: `${mark}/`, limit: 2, ...(cursor ? { cursor } : {}) });
        keys.push(...page.objects.map(({ key }) => key));
        cursor = page.truncated ? page.cursor : undefined;
      } while (cursor);
      same(
        keys,
        [0, 1, 2, 3, 4].map((i) => `${mark}/${i}`),
      );
    },
  ),
  check(
    'r2.delete',
    'several keys are deleted in one call, missing ones among them',
    'workers/gateway/prune.ts',
    'retention would stop',
    async (env, mark) => {
      await env.BUCKET.put(`${mark}/a`, '');
      await env.BUCKET.delete([`${mark}/a`, `${mark}/none`]);
      same(await env.BUCKET.head(`${mark}/a`), null);
    },
  ),
  check(
    'r2.multipart',
    'parts are put together in the order of their numbers, whatever the order of their coming',
    uploads,
    'large weights would be torn',
    async (env, mark) => {
      const upload = await env.BUCKET.createMultipartUpload(mark);
      const second = await upload.uploadPart(2, 'end');
      const first = await upload.uploadPart(1, new Uint8Array(FIVE_MIB).fill(65));
      const { size } = await upload.complete([first, second]);
      same(size, FIVE_MIB + 3);
      same(await (await env.BUCKET.get(mark, { range: { suffix: 4 } }))!.text(), 'Aend');
    },
  ),
  check(
    'r2.abort',
    'an upload that is ended leaves no object',
    uploads,
    'half an upload could be read',
    async (env, mark) => {
      const upload = await env.BUCKET.createMultipartUpload(mark);
      await upload.uploadPart(1, 'part');
      same(await env.BUCKET.head(mark), null);
      await upload.abort();
      same(await env.BUCKET.head(mark), null);
    },
  ),
  check(
    'r2.resume',
    'an upload goes on by its id in another call',
    uploads,
    'an upload would begin anew after each crash',
    async (env, mark) => {
      const { uploadId } = await env.BUCKET.createMultipartUpload(mark);
      const part = await env.BUCKET.resumeMultipartUpload(mark, uploadId).uploadPart(1, 'part');
      same((await env.BUCKET.resumeMultipartUpload(mark, uploadId).complete([part])).size, 4);
    },
  ),
];

/** Messages that the consumer notes in D1; what one of them asks for is in its body. */
interface Asked {
  readonly mark: string;
  readonly n: number;
  readonly fail?: number;
  readonly big?: string;
}

const PATIENCE_MS = 60_000;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

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

const QUEUES: readonly Check[] = [
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
];

const SIGNATURE_KEY = { name: 'HMAC', hash: 'SHA-256' };
const WORKERS: readonly Check[] = [
  check(
    'workers.no-eval',
    'text is never run as a program',
    'docs/security.md',
    'a guard less against programs of models',
    async () => {
      const made: string = 'return 1';
      await thrown(() => new Function(made)());
    },
  ),
  check(
    'workers.no-compile',
    'wasm is not compiled at run time',
    'infer/workerd-engines.ts',
    'nothing: the mesh would still bring compiled modules',
    async () => {
      const Module = WebAssembly.Module as unknown as new (bytes: Uint8Array) => unknown;
      await thrown(() => new Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])));
    },
  ),
  check(
    'workers.shared-memory',
    'a shared memory of wasm can be made',
    'infer/ort-workerd.ts',
    'ONNX Runtime would not open: the engine kernels is left',
    async () => {
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true } as never);
      same(memory.buffer.constructor.name, 'SharedArrayBuffer');
    },
  ),
  check(
    'workers.memory',
    'a memory of wasm grows to 64 MiB',
    'infer/workerd-engines.ts',
    'policies of the shipped sizes would not open',
    async () => {
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 1024 });
      memory.grow(1023);
      same(memory.buffer.byteLength, 64 * 1024 * 1024);
    },
  ),
  check(
    'workers.hmac',
    'an HMAC is verified by the platform',
    'workers/gateway/signature.ts',
    'no webhook would be taken',
    async () => {
      const key = await crypto.subtle.importKey('raw', bytesOf('key'), SIGNATURE_KEY, false, [
        'sign',
        'verify',
      ]);
      const seal = await crypto.subtle.sign(
        'HMAC',
        key,
        bytesOf('The quick brown fox jumps over the lazy dog'),
      );
      same(hexOf(seal), 'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8');
    },
  ),
  check(
    'workers.ed25519',
    'a signature of Ed25519 is made and verified by the platform',
    'core/audit/work-seal.ts',
    'nodes could not seal',
    async () => {
      const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
      const seal = await crypto.subtle.sign('Ed25519', pair.privateKey, bytesOf('text'));
      same(
        [
          await crypto.subtle.verify('Ed25519', pair.publicKey, seal, bytesOf('text')),
          await crypto.subtle.verify('Ed25519', pair.publicKey, seal, bytesOf('texu')),
        ],
        [true, false],
      );
    },
  ),
  check(
    'workers.utf8',
    'bytes that are no UTF-8 are refused where it is asked',
    'workers/gateway/body.ts',
    'damaged bodies would be read',
    async () => {
      await thrown(() =>
        new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(new Uint8Array([0xff])),
      );
    },
  ),
  check(
    'workers.wait-until',
    'work goes on after the answer',
    'workers/rollout/worker.ts',
    'work after an answer would be lost until the clock sends it again',
    async (env, mark, later) => {
      later(pause(50).then(() => insert(env, mark, 0).run()));
      for (let waited = 0; (await countOf(env, mark)) === 0; waited += 100) {
        if (waited > 10_000) throw new Differs('it was not done');
        await pause(100);
      }
    },
  ),
  check(
    'workers.stream',
    'a body is streamed while it is made',
    'workers/rollout/serving/stream-writer.ts',
    'chats would come at their end',
    async () => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      const reader = readable.getReader();
      void writer.write(bytesOf('first'));
      same(new TextDecoder().decode((await reader.read()).value), 'first');
      await Promise.all([writer.close(), reader.read()]);
    },
  ),
  check(
    'rate-limit',
    'a limit of 5 a minute ends at about 5, and counts each key apart',
    'workers/gateway/guards.ts',
    'guessing would not be slowed',
    async (env, mark) => {
      const tried = async (key: string, times: number) => {
        let passed = 0;
        for (let i = 0; i < times; i++) if ((await env.LIMIT.limit({ key })).success) passed++;
        return passed;
      };
      const passed = await tried(`${mark}/a`, 40);
      if (passed === 40 || passed < 5) throw new Differs(`${passed} of 40 passed`);
      same(await tried(`${mark}/b`, 1), 1);
    },
  ),
];

export const CHECKS: readonly Check[] = [...D1, ...R2, ...QUEUES, ...WORKERS];

/** What the consumer does with a delivery: notes it, then does what its body asks for. @returns whether it is to be tried again */
export async function noteDelivery(
  env: ConformanceEnv,
  { id, attempts, body }: { readonly id: string; readonly attempts: number; readonly body: unknown },
  dead: boolean,
): Promise<boolean> {
  const asked = body as Asked;
  await env.DB.prepare(
    'INSERT INTO heard (mark, message, attempt, body, at, dead) VALUES (?1, ?2, ?3, ?4, ?5, ?6)',
  )
    .bind(asked.mark, id, attempts, JSON.stringify(asked), Date.now(), dead ? 1 : 0)
    .run();
  return !dead && attempts <= (asked.fail ?? 0);
}
