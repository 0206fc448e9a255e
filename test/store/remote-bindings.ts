/**
 * Miniflare's D1 and R2 with one request for each call. By Miniflare's own proxy every `prepare` and every `bind`, and every part of an object that is
 * looked at, is a request for which the process stands still: some 13 ms of a core each, more than all else that the tests of the store take.
 */
import type { D1Database, D1PreparedStatement, R2Bucket } from '@cloudflare/workers-types';
import type { Miniflare } from 'miniflare';
import type { Statements } from '../../local/mesh/migrate.ts';

/** The Worker that has the bindings `DB` and `BUCKET`. */
export const BINDINGS_WORKER = `
const hex = (bytes) => bytes && Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
const described = (object) => object && {
  key: object.key, version: object.version, size: object.size, etag: object.etag, httpEtag: object.httpEtag,
  uploaded: object.uploaded.getTime(), sha256: hex(object.checksums.sha256),
  httpMetadata: object.httpMetadata, customMetadata: object.customMetadata, range: object.range,
};
/** JSON's dates are texts. */
const optionsOf = (options) => {
  const dates = ['uploadedBefore', 'uploadedAfter'].filter((name) => options?.onlyIf?.[name]);
  for (const name of dates) options.onlyIf[name] = new Date(options.onlyIf[name]);
  return options ?? undefined;
};
const d1 = {
  async ask(env, { call, statements, args }) {
    const made = statements.map(({ sql, params }) => {
      const statement = env.DB.prepare(sql);
      return params.length ? statement.bind(...params) : statement;
    });
    if (call === 'exec') return { value: await env.DB.exec(args[0]) };
    return { value: call === 'batch' ? await env.DB.batch(made) : await made[0][call](...args) };
  },
};
const r2 = {
  async put({ BUCKET }, { key, options }, body) {
    return { value: described(await BUCKET.put(key, body, optionsOf(options))) };
  },
  async head({ BUCKET }, { key }) {
    return { value: described(await BUCKET.head(key)) };
  },
  async get({ BUCKET }, { key, options }) {
    const object = await BUCKET.get(key, optionsOf(options));
    return { value: described(object), body: object && 'body' in object ? object.body : null };
  },
  async list({ BUCKET }, { options }) {
    const { objects, ...more } = await BUCKET.list(options ?? undefined);
    return { value: { ...more, objects: objects.map(described) } };
  },
  async delete({ BUCKET }, { key }) {
    await BUCKET.delete(key);
    return { value: null };
  },
  async createUpload({ BUCKET }, { key }) {
    return { value: (await BUCKET.createMultipartUpload(key)).uploadId };
  },
  async uploadPart({ BUCKET }, { key, id, part }, body) {
    return { value: await BUCKET.resumeMultipartUpload(key, id).uploadPart(part, body) };
  },
  async completeUpload({ BUCKET }, { key, id, parts }) {
    return { value: described(await BUCKET.resumeMultipartUpload(key, id).complete(parts)) };
  },
  async abortUpload({ BUCKET }, { key, id }) {
    await BUCKET.resumeMultipartUpload(key, id).abort();
    return { value: null };
  },
};
export default {
  async fetch(request, env) {
    const header = request.headers.get('x-asked');
    const body = await request.arrayBuffer();
    const { of, asked } = JSON.parse(header === null ? new TextDecoder().decode(body) : decodeURIComponent(header));
    try {
      const { value, body: found } = await (of === 'd1' ? d1.ask(env, asked) : r2[of](env, asked, body));
      if (!found) return Response.json({ value });
      return new Response(found, { headers: { 'x-value': encodeURIComponent(JSON.stringify(value)) } });
    } catch (error) {
      return Response.json({ refused: error.message, cause: error.cause?.message });
    }
  },
};`;

interface Answer {
  readonly value?: unknown;
  readonly refused?: string;
  readonly cause?: string;
}

function saidValue({ value, refused, cause }: Answer): unknown {
  if (refused === undefined) return value;
  throw new Error(refused, cause === undefined ? {} : { cause: new Error(cause) });
}

interface Prepared {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** What JSON keeps; a value of another kind, such as undefined, is refused as D1 refuses it. */
function checked(param: unknown): unknown {
  if (param === null || ['string', 'boolean'].includes(typeof param) || Number.isFinite(param)) return param;
  throw new Error(`D1_TYPE_ERROR: ${typeof param} is not bound by the tests' D1`);
}

/** Only what the store calls: `prepare` with its statements, `batch`, and `exec`. */
export function remoteD1(mf: Miniflare): D1Database {
  const ask = async (call: string, statements: readonly Prepared[], args: readonly unknown[] = []) => {
    const body = JSON.stringify({ of: 'd1', asked: { call, statements, args } });
    const answer = await mf.dispatchFetch('http://bindings/', { method: 'POST', body });
    return saidValue((await answer.json()) as Answer);
  };
  const preparedOf = new WeakMap<object, Prepared>();
  const statement = (prepared: Prepared): D1PreparedStatement => {
    const made = {
      bind: (...params: unknown[]) => statement({ ...prepared, params: params.map(checked) }),
      all: () => ask('all', [prepared]),
      run: () => ask('run', [prepared]),
      raw: (...args: unknown[]) => ask('raw', [prepared], args),
      first: (...args: unknown[]) => ask('first', [prepared], args),
    };
    preparedOf.set(made, prepared);
    return made as unknown as D1PreparedStatement;
  };
  const d1 = {
    prepare: (sql: string) => statement({ sql, params: [] }),
    exec: (sql: string) => ask('exec', [], [sql]),
    batch: (statements: readonly D1PreparedStatement[]) =>
      ask(
        'batch',
        statements.map((one) => preparedOf.get(one)!),
      ),
  };
  return d1 as unknown as D1Database;
}

/** As migrations ask it. */
export const d1Statements = (d1: D1Database): Statements => ({
  exec: (sql) => d1.exec(sql),
  all: async (sql) => (await d1.prepare(sql).all<{ name: string }>()).results,
});

interface Described {
  readonly uploaded: number;
  readonly sha256?: string;
}

/** An object as R2 gives it, of what the Worker said of it. */
function objectOf(described: unknown) {
  if (described === null || described === undefined) return null;
  const { uploaded, sha256, ...more } = described as Described;
  const hash = sha256 === undefined ? {} : { sha256: new Uint8Array(Buffer.from(sha256, 'hex')).buffer };
  return { ...more, uploaded: new Date(uploaded), checksums: hash };
}

/** Objects whole, by their keys, and uploads in parts. */
export function remoteR2(mf: Miniflare): R2Bucket {
  const ask = (of: string, asked: object, body?: ArrayBuffer) =>
    mf.dispatchFetch('http://bindings/', {
      method: 'POST',
      headers: { 'x-asked': encodeURIComponent(JSON.stringify({ of, asked })) },
      ...(body === undefined ? {} : { body }),
    });
  const told = async (...asked: Parameters<typeof ask>) =>
    saidValue((await (await ask(...asked)).json()) as Answer);
  const upload = (key: string, uploadId: string) => ({
    key,
    uploadId,
    uploadPart: async (part: number, value: BodyInit) =>
      told('uploadPart', { key, id: uploadId, part }, await new Response(value).arrayBuffer()),
    complete: async (parts: readonly object[]) =>
      objectOf(await told('completeUpload', { key, id: uploadId, parts })),
    abort: () => told('abortUpload', { key, id: uploadId }),
  });
  const bucket = {
    createMultipartUpload: async (key: string) =>
      upload(key, (await told('createUpload', { key })) as string),
    resumeMultipartUpload: upload,
    put: async (key: string, value: BodyInit | null, options?: object) =>
      objectOf(await told('put', { key, options }, await new Response(value).arrayBuffer())),
    head: async (key: string) => objectOf(await told('head', { key })),
    get: async (key: string, options?: object) => {
      const answer = await ask('get', { key, options });
      const said = answer.headers.get('x-value');
      if (said === null) return objectOf(saidValue((await answer.json()) as Answer));
      const content = new Response(await answer.arrayBuffer());
      return Object.assign(objectOf(JSON.parse(decodeURIComponent(said)))!, {
        body: content.body,
        text: () => content.text(),
        json: () => content.json(),
        arrayBuffer: () => content.arrayBuffer(),
        bytes: async () => new Uint8Array(await content.arrayBuffer()),
      });
    },
    list: async (options?: object) => {
      const { objects, ...more } = (await told('list', { options })) as { objects: unknown[] };
      return { ...more, objects: objects.map(objectOf) };
    },
    delete: (key: string | string[]) => told('delete', { key }),
  };
  return bucket as unknown as R2Bucket;
}
