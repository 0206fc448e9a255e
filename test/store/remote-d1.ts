/**
 * Miniflare's D1 with one request for each call. By Miniflare's own proxy every `prepare` and every `bind` is a request for which the process stands
 * still: some 13 ms of a core each, which was more than all else that the tests of the store take.
 */
import type { D1Database, D1PreparedStatement } from '@cloudflare/workers-types';
import type { Miniflare } from 'miniflare';

/** The Worker that has the database; it is bound as `DB`. */
export const D1_WORKER = `
export default {
  async fetch(request, env) {
    const { call, statements, args } = await request.json();
    try {
      const made = statements.map(({ sql, params }) => {
        const statement = env.DB.prepare(sql);
        return params.length ? statement.bind(...params) : statement;
      });
      const value = call === 'batch' ? await env.DB.batch(made) : await made[0][call](...args);
      return Response.json({ value });
    } catch (error) {
      return Response.json({ refused: error.message, cause: error.cause?.message });
    }
  },
};`;

interface Prepared {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** What JSON keeps; a value of another kind, such as undefined, is refused as D1 refuses it. */
function checked(param: unknown): unknown {
  if (param === null || ['string', 'boolean'].includes(typeof param) || Number.isFinite(param)) return param;
  throw new Error(`D1_TYPE_ERROR: ${typeof param} is not bound by the tests' D1`);
}

/** Only what the store calls: `prepare` with its statements, and `batch`. */
export function remoteD1(mf: Miniflare): D1Database {
  const ask = async (call: string, statements: readonly Prepared[], args: readonly unknown[] = []) => {
    const body = JSON.stringify({ call, statements, args });
    const answer = await mf.dispatchFetch('http://d1/', { method: 'POST', body });
    const { value, refused, cause } = (await answer.json()) as {
      value?: unknown;
      refused?: string;
      cause?: string;
    };
    if (refused !== undefined)
      throw new Error(refused, cause === undefined ? {} : { cause: new Error(cause) });
    return value;
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
    batch: (statements: readonly D1PreparedStatement[]) =>
      ask(
        'batch',
        statements.map((one) => preparedOf.get(one)!),
      ),
  };
  return d1 as unknown as D1Database;
}
