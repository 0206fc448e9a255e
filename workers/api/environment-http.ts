/**
 * Requests to an environment that somebody else hosts. All errors have a code `environment.KIND` where KIND is the kind of the missing reward.
 */
import type * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import type { MissingReward } from '../../core/schema/missing-reward.ts';
import { parsed } from '../../core/schema/parse.ts';
import { type BackOff, fetchPatiently } from './back-off.ts';

export interface EnvironmentClientOptions {
  /** Without a path of an environment: `http://localhost:8080`. */
  readonly url: string;
  /** Sent as `X-API-Key`. */
  readonly key?: string | undefined;
  /** The longest wait for the end of an answer, ms. */
  readonly timeoutMs?: number;
  readonly backOff?: BackOff;
}

/** The most bytes of an answer that are read. */
export const MOST_BYTES = 1 << 20;
export const TIMEOUT_MS = 300_000;
export const BACK_OFF: BackOff = { attempts: 5, firstMs: 250, longestMs: 10_000 };

const KINDS = [
  'unreachable',
  'refused',
  'unreadable',
  'too-large',
  'timed-out',
] as const satisfies readonly MissingReward[];
type Kind = (typeof KINDS)[number];

export const failed = (kind: Kind, what: string, expected?: string, cause?: unknown) =>
  new RollmeshError('give-up', `environment.${kind}`, what, {
    ...(expected === undefined ? {} : { expected }),
    next: 'See the log of the environment’s server.',
    ...(cause === undefined ? {} : { cause }),
  });

/** The kind of missing reward that an error of this client means; undefined for any other error. */
export const missingBy = (error: unknown): Kind | undefined =>
  error instanceof RollmeshError ? KINDS.find((kind) => error.code === `environment.${kind}`) : undefined;

/** What a promise comes to; undefined where that takes longer than `ms`. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    if (timer !== undefined) clearTimeout(timer);
  }
}

export class EnvironmentHttp {
  readonly url: string;
  readonly timeoutMs: number;
  readonly backOff: BackOff;
  /** What tells the server who asks. */
  readonly keyHeader: Readonly<Record<string, string>>;

  constructor({ url, key, timeoutMs = TIMEOUT_MS, backOff = BACK_OFF }: EnvironmentClientOptions) {
    this.url = url.replace(/\/+$/, '');
    this.timeoutMs = timeoutMs;
    this.backOff = backOff;
    this.keyHeader = key === undefined ? {} : { 'x-api-key': key };
  }

  timedOut = (asked: string) =>
    failed(
      'timed-out',
      `The environment did not end its answer to ${asked} within ${this.timeoutMs / 1000} s.`,
    );

  unreachable = (asked: string, cause: unknown) =>
    failed('unreachable', `${this.url} does not answer ${asked}.`, 'an environment that is up', cause);

  /** One attempt. */
  fetch(
    method: string,
    path: string,
    { body, session, signal }: { body?: object; session?: string | undefined; signal: AbortSignal },
  ): Promise<Response> {
    const { url } = this;
    return fetch(url + path, {
      method,
      // Where a redirect leads is not what was named on the command line.
      redirect: 'manual',
      headers: {
        // A call is sent once, so it must not meet a connection that the server is about to close.
        connection: 'close',
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(session === undefined ? {} : { 'x-session-id': session }),
        ...this.keyHeader,
      },
      signal,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }

  /** As many attempts as the back-off has. `began`: called before each. */
  async send(
    method: string,
    path: string,
    { began, ...more }: { body?: object; session?: string | undefined; began?: () => void },
  ): Promise<Response> {
    const asked = `${method} ${path}`;
    const send = () => {
      began?.();
      return this.fetch(method, path, { ...more, signal: AbortSignal.timeout(this.timeoutMs) });
    };
    try {
      return await fetchPatiently(send, this.backOff);
    } catch (error) {
      throw isTimeout(error) ? this.timedOut(asked) : this.unreachable(asked, error);
    }
  }

  /** The text of an answer that has to be a good one. */
  async text(response: Response, asked: string): Promise<string> {
    if (!response.ok) throw await refusedBy(response, asked);
    try {
      return await new Response(bounded(response, asked)).text();
    } catch (error) {
      if (missingBy(error)) throw error;
      throw isTimeout(error) ? this.timedOut(asked) : this.unreachable(asked, error);
    }
  }

  async json<S extends v.GenericSchema>(
    method: string,
    path: string,
    schema: S,
    more: { body?: object; session?: string } = {},
  ): Promise<v.InferOutput<S>> {
    const asked = `${method} ${path}`;
    const text = await this.text(await this.send(method, path, more), asked);
    return parsed(schema, jsonOf(text, asked), unreadable(asked));
  }
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';

export const unreadable = (asked: string) => (why: string) =>
  failed(
    'unreadable',
    `The environment's answer to ${asked} cannot be read: ${why}.`,
    'an answer of its protocol',
  );

export function jsonOf(text: string, asked: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable(asked)(`it is no JSON: ${JSON.stringify(text.slice(0, 60))}`);
  }
}

export async function refusedBy(response: Response, asked: string): Promise<RollmeshError> {
  const said = await new Response(bounded(response, asked)).text().catch(() => '');
  return failed(
    'refused',
    `The environment answers ${asked} with ${response.status}${said ? `: ${JSON.stringify(said.slice(0, 200))}` : ''}.`,
    'the status 200',
  );
}

/** The bytes of an answer, as far as they are read. */
export function bounded(response: Response, asked: string): ReadableStream<Uint8Array> | null {
  let bytes = 0;
  return (
    response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          if (bytes > MOST_BYTES)
            throw failed(
              'too-large',
              `The environment's answer to ${asked} is longer than ${MOST_BYTES} bytes.`,
              'less, since a policy reads it',
            );
          controller.enqueue(chunk);
        },
      }),
    ) ?? null
  );
}
