/**
 * The client of an environment that somebody else hosts, by the Open Reward Standard (https://openrewardstandard.io): HTTP, and server-sent
 * events for the calls of tools. A call may change the environment, so that it is sent once: a stream that breaks is taken up again under the
 * number that the server gave the call, and where it gave none, the episode has no reward. All errors have a code
 * `environment.KIND` where KIND is the kind of the missing reward.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import * as v from 'valibot';
import { RollmeshError } from '../core/errors.ts';
import {
  type EnvironmentBlock,
  type EnvironmentOutput,
  type EnvironmentPlace,
  type EnvironmentSplit,
  type EnvironmentTool,
  environmentBlocks,
  environmentOutput,
  environmentSplits,
  environmentTask,
  environmentTaskCount,
  environmentTools,
} from '../core/schema/environment.ts';
import type { MissingReward } from '../core/schema/missing-reward.ts';
import { parsed } from '../core/schema/parse.ts';
import { type BackOff, fetchPatiently, waited } from './back-off.ts';

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
const MOST_BYTES = 1 << 20;
const TIMEOUT_MS = 300_000;
const BACK_OFF: BackOff = { attempts: 5, firstMs: 250, longestMs: 10_000 };
/** How often a broken stream is taken up again. */
const RESUMED = 5;

const KINDS = [
  'unreachable',
  'refused',
  'unreadable',
  'too-large',
  'timed-out',
] as const satisfies readonly MissingReward[];
type Kind = (typeof KINDS)[number];

const failed = (kind: Kind, what: string, expected?: string, cause?: unknown) =>
  new RollmeshError('give-up', `environment.${kind}`, what, {
    ...(expected === undefined ? {} : { expected }),
    next: 'See the log of the environment’s server.',
    ...(cause === undefined ? {} : { cause }),
  });

/** The kind of missing reward that an error of this client means; undefined for any other error. */
export const missingBy = (error: unknown): Kind | undefined =>
  error instanceof RollmeshError ? KINDS.find((kind) => error.code === `environment.${kind}`) : undefined;

export class EnvironmentClient {
  readonly #options: EnvironmentClientOptions;

  constructor(options: EnvironmentClientOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') };
  }

  /** The names of the environments that the server has, its default first. */
  async environments(): Promise<readonly string[]> {
    return this.#json('GET', '/list_environments', v.pipe(v.array(v.string()), v.minLength(1)));
  }

  splits(environment: string): Promise<readonly EnvironmentSplit[]> {
    return this.#json('GET', `${pathOf(environment)}/splits`, environmentSplits);
  }

  async countTasks(environment: string, split: string): Promise<number> {
    const path = `${pathOf(environment)}/num_tasks`;
    return (await this.#json('POST', path, environmentTaskCount, { body: { split } })).num_tasks;
  }

  async task({ environment, split, index }: EnvironmentPlace): Promise<Readonly<Record<string, unknown>>> {
    const path = `${pathOf(environment)}/task`;
    return (await this.#json('POST', path, environmentTask, { body: { split, index } })).task;
  }

  /** Begins a session under a name that no other session has had. */
  async begin(place: EnvironmentPlace, session: string): Promise<void> {
    const { environment, split, index } = place;
    const body = { env_name: environment, split, index };
    let attempts = 0;
    const response = await this.#send('POST', '/create', { body, session, began: () => attempts++ });
    // An attempt whose answer was lost has begun it already.
    if (response.status === 400 && attempts > 1) return response.body?.cancel();
    await this.#text(response, 'POST /create');
  }

  prompt(environment: string, session: string): Promise<readonly EnvironmentBlock[]> {
    return this.#json('GET', `${pathOf(environment)}/prompt`, environmentBlocks, { session });
  }

  /** The tools of a session's task. */
  async tools(environment: string, session: string): Promise<readonly EnvironmentTool[]> {
    return (await this.#json('GET', `${pathOf(environment)}/task_tools`, environmentTools, { session }))
      .tools;
  }

  /** Calls a tool, once. */
  async call(
    environment: string,
    session: string,
    name: string,
    input: Readonly<Record<string, unknown>>,
  ): Promise<EnvironmentOutput> {
    const path = `${pathOf(environment)}/call`;
    const asked = `POST ${path}`;
    const signal = AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS);
    let id: string | undefined;
    for (let attempt = 0; ; attempt++) {
      const body = { name, input, ...(id === undefined ? {} : { task_id: id }) };
      try {
        const response = await this.#fetch('POST', path, { body, session, signal });
        if (response.status === 429 && attempt < RESUMED) {
          await response.body?.cancel();
          await waited(response, this.#options.backOff ?? BACK_OFF, attempt + 1);
          continue;
        }
        if (!response.ok) throw await refusedBy(response, asked);
        const text = await readCall(response, asked, (given) => {
          id = given;
        });
        return parsed(environmentOutput, jsonOf(text, asked), unreadable(asked));
      } catch (error) {
        if (missingBy(error)) throw error;
        if (signal.aborted) throw this.#timedOut(asked);
        // Without a number nobody can say whether the tool has run.
        if (id === undefined || attempt === RESUMED) throw this.#unreachable(asked, error);
        await waited(undefined, this.#options.backOff ?? BACK_OFF, attempt + 1);
      }
    }
  }

  /** Ends a session. What goes wrong with that changes no reward: the server gives sessions up by itself. */
  async end(session: string): Promise<void> {
    const signal = AbortSignal.timeout(10_000);
    await this.#fetch('POST', '/delete', { session, signal }).then(
      (response) => response.body?.cancel(),
      () => undefined,
    );
  }

  #timedOut = (asked: string) =>
    failed(
      'timed-out',
      `The environment did not end its answer to ${asked} within ${(this.#options.timeoutMs ?? TIMEOUT_MS) / 1000} s.`,
    );

  #unreachable = (asked: string, cause: unknown) =>
    failed(
      'unreachable',
      `${this.#options.url} does not answer ${asked}.`,
      'an environment that is up',
      cause,
    );

  #fetch(
    method: string,
    path: string,
    { body, session, signal }: { body?: object; session?: string | undefined; signal: AbortSignal },
  ): Promise<Response> {
    const { url, key } = this.#options;
    return fetch(url + path, {
      method,
      // Where a redirect leads is not what was named on the command line.
      redirect: 'manual',
      headers: {
        // A call is sent once, so it must not meet a connection that the server is about to close.
        connection: 'close',
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(session === undefined ? {} : { 'x-session-id': session }),
        ...(key === undefined ? {} : { 'x-api-key': key }),
      },
      signal,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }

  async #send(
    method: string,
    path: string,
    { began, ...more }: { body?: object; session?: string | undefined; began?: () => void },
  ): Promise<Response> {
    const asked = `${method} ${path}`;
    const { timeoutMs = TIMEOUT_MS, backOff = BACK_OFF } = this.#options;
    const send = () => {
      began?.();
      return this.#fetch(method, path, { ...more, signal: AbortSignal.timeout(timeoutMs) });
    };
    try {
      return await fetchPatiently(send, backOff);
    } catch (error) {
      throw isTimeout(error) ? this.#timedOut(asked) : this.#unreachable(asked, error);
    }
  }

  async #text(response: Response, asked: string): Promise<string> {
    if (!response.ok) throw await refusedBy(response, asked);
    try {
      return await new Response(bounded(response, asked)).text();
    } catch (error) {
      if (missingBy(error)) throw error;
      throw isTimeout(error) ? this.#timedOut(asked) : this.#unreachable(asked, error);
    }
  }

  async #json<S extends v.GenericSchema>(
    method: string,
    path: string,
    schema: S,
    more: { body?: object; session?: string } = {},
  ): Promise<v.InferOutput<S>> {
    const asked = `${method} ${path}`;
    const text = await this.#text(await this.#send(method, path, more), asked);
    return parsed(schema, jsonOf(text, asked), unreadable(asked));
  }
}

const pathOf = (environment: string): string => `/${encodeURIComponent(environment)}`;

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';

const unreadable = (asked: string) => (why: string) =>
  failed(
    'unreadable',
    `The environment's answer to ${asked} cannot be read: ${why}.`,
    'an answer of the Open Reward Standard',
  );

function jsonOf(text: string, asked: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable(asked)(`it is no JSON: ${JSON.stringify(text.slice(0, 60))}`);
  }
}

async function refusedBy(response: Response, asked: string): Promise<RollmeshError> {
  const said = await new Response(bounded(response, asked)).text().catch(() => '');
  return failed(
    'refused',
    `The environment answers ${asked} with ${response.status}${said ? `: ${JSON.stringify(said.slice(0, 200))}` : ''}.`,
    'the status 200',
  );
}

/** The bytes of an answer, as far as they are read. */
function bounded(response: Response, asked: string): ReadableStream<Uint8Array> | null {
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

/** The text of a call's output from its events. `began`: told the number under which the call can be taken up again. */
async function readCall(response: Response, asked: string, began: (id: string) => void): Promise<string> {
  const events = bounded(response, asked)
    ?.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream());
  let text = '';
  for await (const { event, data } of events ?? []) {
    if (event === 'task_id') began(data.trim());
    else if (event === 'error')
      throw failed(
        'refused',
        `The environment ends ${asked} with an error: ${JSON.stringify(data.slice(0, 200))}.`,
      );
    else if (event === 'chunk' || event === 'end') text += data;
    if (event === 'end') return text;
  }
  throw new Error(`the stream of ${asked} ended before its last event`);
}
