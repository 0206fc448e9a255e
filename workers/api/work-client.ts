/** The client of a node: leases sampling requests of a mesh, fetches what they need, and returns results. It knows no other route. */
import * as v from 'valibot';
import { type FailureKind, RollmeshError } from '../../core/errors.ts';
import { longSha256Hex } from '../../core/random.ts';
import { type Refusal, refusal } from '../../core/schema/answers.ts';
import { parsed } from '../../core/schema/parse.ts';
import {
  heartbeatAnswer,
  type LeaseAnswer,
  type LeaseOrder,
  leaseAnswer,
  type WorkResults,
  workResultsTaken,
} from '../../core/schema/work.ts';
import { type BackOff, fetchPatiently } from './back-off.ts';

const TIMEOUT_MS = 60_000;
/** Short, since a lease ends meanwhile, and the loop tries again by itself. */
const BRISK: BackOff = { attempts: 3, firstMs: 100, longestMs: 2_000 };

export interface WorkClientOptions {
  readonly url: string;
  /** The node's token. */
  readonly token: string;
  readonly fetch?: typeof fetch;
}

/**
 * 401 and 403: the token is not good, or not good for this. 409: the work is somebody else's by now. `work.unknown`: it was withdrawn,
 * because its round was begun again.
 */
const kindOf = (status: number, code: string): FailureKind => {
  if (status >= 500 || status === 429 || status === 408) return 'retry';
  return status === 409 || code === 'work.unknown' ? 'give-up' : 'wrong-input';
};

export class WorkClient {
  readonly #options: WorkClientOptions;

  constructor(options: WorkClientOptions) {
    this.#options = options;
  }

  async lease(order: LeaseOrder): Promise<LeaseAnswer> {
    return this.#post('lease', leaseAnswer, order);
  }

  /** Prolongs a lease. @throws RollmeshError `lease.expired` where it holds nothing any more */
  async heartbeat(lease: string): Promise<v.InferOutput<typeof heartbeatAnswer>> {
    return this.#post('heartbeat', heartbeatAnswer, { lease });
  }

  /** Gives back what a lease still holds; without a lease everything, and the mesh no longer counts on this node. */
  async release(lease?: string): Promise<void> {
    await this.#post('release', v.unknown(), lease === undefined ? {} : { lease });
  }

  /** Answers requests of a lease. @returns why some were not taken, by their ids */
  async results(results: WorkResults): Promise<ReadonlyMap<string, RollmeshError>> {
    const { refused } = await this.#post('results', workResultsTaken, results);
    return new Map(refused.map(({ work, status, error }) => [work, refusedWith(status, error)]));
  }

  /** A file that a lease names, or the anchor or a delta of one. @throws RollmeshError `file.hash` where the bytes are others */
  async file(
    lease: string,
    { file, sha256 }: { readonly file: string; readonly sha256: string },
  ): Promise<Uint8Array> {
    const response = await this.#send(`files/${lease}/${sha256}`, { method: 'GET' });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if ((await longSha256Hex(bytes)) === sha256) return bytes;
    throw new RollmeshError('retry', 'file.hash', `The mesh sent other bytes of ${file} than it named.`, {
      expected: `sha256 ${sha256}`,
    });
  }

  async #post<S extends v.GenericSchema>(path: string, schema: S, body: object): Promise<v.InferOutput<S>> {
    const response = await this.#send(path, { method: 'POST', body: JSON.stringify(body) });
    return parsed(
      schema,
      await response.json(),
      (why) =>
        new RollmeshError('give-up', 'mesh.answer', `The mesh's answer to ${path} cannot be read: ${why}.`, {
          next: 'Mesh and node are of different versions of rollmesh: use the same.',
        }),
    );
  }

  async #send(path: string, request: RequestInit): Promise<Response> {
    const { url, token, fetch: send = fetch } = this.#options;
    const response = await fetchPatiently(
      () =>
        send(`${url}/api/work/${path}`, {
          ...request,
          headers: { authorization: `Bearer ${token}` },
          signal: AbortSignal.timeout(TIMEOUT_MS),
        }),
      BRISK,
    ).catch((cause: unknown) => {
      throw new RollmeshError('retry', 'mesh.unreachable', `The mesh ${url} does not answer.`, { cause });
    });
    if (response.ok) return response;
    const said = v.safeParse(refusal, await response.json().catch(() => null));
    throw refusedWith(
      response.status,
      said.success
        ? said.output.error
        : { code: 'mesh.failed', message: `${path}: ${response.status}.`, expected: null, next: null },
    );
  }
}

const refusedWith = (status: number, { code, message, expected, next }: Refusal['error']): RollmeshError =>
  new RollmeshError(kindOf(status, code), code, message, {
    ...(expected === null ? {} : { expected }),
    ...(next === null ? {} : { next }),
  });
