/** Bindings that count what is used through them, by the platform's own units: rows that D1 says it touched, classes of R2, messages of 64 kB. */
import type {
  D1Database,
  D1PreparedStatement,
  D1Result,
  Queue,
  R2Bucket,
  R2MultipartUpload,
} from '@cloudflare/workers-types';
import { queueOperations } from '../../core/cost/prices.ts';
import { countUsed, waiting } from './meter.ts';

const jsonBytes = (body: unknown) => (JSON.stringify(body) ?? '').length;

/** How many operations it counts as to write, read or delete this message. */
export const messageOperations = (body: unknown): number => queueOperations(jsonBytes(body));

function noteRows<T>(result: D1Result<T>): D1Result<T> {
  countUsed('d1RowsRead', result.meta.rows_read);
  countUsed('d1RowsWritten', result.meta.rows_written);
  return result;
}

const ORIGINAL = Symbol('the statement that is counted');
type Counted = D1PreparedStatement & { readonly [ORIGINAL]?: D1PreparedStatement };

/** `raw` and `first` report no row counts, so both are done by `all`. This works because each column of our queries has its own name. */
function meteredStatement(statement: D1PreparedStatement): D1PreparedStatement {
  const all = async <T>() => noteRows(await waiting(() => statement.all<T>()));
  const rows = async () => (await all<Record<string, unknown>>()).results;
  const counted = {
    [ORIGINAL]: statement,
    bind: (...values: unknown[]) => meteredStatement(statement.bind(...values)),
    all,
    run: async <T>() => noteRows(await waiting(() => statement.run<T>())),
    first: async (column?: string) => {
      const [row] = await rows();
      return row ? (column === undefined ? row : row[column]) : null;
    },
    raw: async () => (await rows()).map((row) => Object.values(row)),
  };
  return counted as unknown as D1PreparedStatement;
}

export function meteredD1(d1: D1Database): D1Database {
  const own = {
    prepare: (query: string) => meteredStatement(d1.prepare(query)),
    batch: async <T>(statements: Counted[]) => {
      const originals = statements.map((statement) => statement[ORIGINAL] ?? statement);
      const results = await waiting(() => d1.batch<T>(originals));
      return results.map(noteRows);
    },
  };
  return layOver(d1, own);
}

export function meteredR2(bucket: R2Bucket): R2Bucket {
  const own = {
    head: (key: string) => {
      countUsed('r2ClassB', 1);
      return waiting(() => bucket.head(key));
    },
    get: async (...args: Parameters<R2Bucket['get']>) => {
      countUsed('r2ClassB', 1);
      const object = await waiting(() => bucket.get(...args));
      if (object) countUsed('r2BytesRead', object.size);
      return object && layOver(object, bodyOf(object));
    },
    put: async (...args: Parameters<R2Bucket['put']>) => {
      countUsed('r2ClassA', 1);
      const object = await waiting(() => bucket.put(...args));
      if (object) countUsed('r2BytesWritten', object.size);
      return object;
    },
    createMultipartUpload: async (...args: Parameters<R2Bucket['createMultipartUpload']>) => {
      countUsed('r2ClassA', 1);
      return meteredUpload(await waiting(() => bucket.createMultipartUpload(...args)));
    },
    resumeMultipartUpload: (key: string, id: string) => meteredUpload(bucket.resumeMultipartUpload(key, id)),
    list: (...args: Parameters<R2Bucket['list']>) => {
      countUsed('r2ClassA', 1);
      return waiting(() => bucket.list(...args));
    },
    delete: (keys: string | string[]) => waiting(() => bucket.delete(keys)),
  };
  return layOver(bucket, own);
}

/** The bytes of parts are not counted as written: they are removed once the object is stored, and that is counted. */
function meteredUpload(upload: R2MultipartUpload): R2MultipartUpload {
  const own = {
    uploadPart: (...args: Parameters<R2MultipartUpload['uploadPart']>) => {
      countUsed('r2ClassA', 1);
      return waiting(() => upload.uploadPart(...args));
    },
    complete: (...args: Parameters<R2MultipartUpload['complete']>) => {
      countUsed('r2ClassA', 1);
      return waiting(() => upload.complete(...args));
    },
    abort: () => waiting(() => upload.abort()),
  };
  return layOver(upload, own);
}

/** Counts the reading of a body as waiting, too. */
const bodyOf = (object: { arrayBuffer?(): Promise<ArrayBuffer>; text?(): Promise<string> }) => ({
  arrayBuffer: () => waiting(() => object.arrayBuffer!()),
  text: () => waiting(() => object.text!()),
});

export function meteredQueue<T>(queue: Queue<T>): Queue<T> {
  const own = {
    send: (...[body, options]: Parameters<Queue<T>['send']>) => {
      countUsed('queueOperations', messageOperations(body));
      return waiting(() => queue.send(body, options));
    },
    sendBatch: (...[messages, options]: Parameters<Queue<T>['sendBatch']>) => {
      const batch = [...messages];
      for (const { body } of batch) countUsed('queueOperations', messageOperations(body));
      return waiting(() => queue.sendBatch(batch, options));
    },
  };
  return layOver(queue, own);
}

/** The binding with some methods replaced. The others are bound to the original, because the platform's objects require it as `this`. */
function layOver<T extends object>(binding: T, own: object): T {
  return new Proxy(binding, {
    get(target, key) {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
