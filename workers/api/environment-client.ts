/**
 * The client of an environment that somebody else hosts, by the Open Reward Standard (https://openrewardstandard.io): HTTP, and server-sent
 * events for the calls of tools. A call may change the environment, so that it is sent once: a stream that breaks is taken up again under the
 * number that the server gave the call, and where it gave none, the episode has no reward.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import pRetry from 'p-retry';
import * as v from 'valibot';
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
} from '../../core/schema/environment.ts';
import { parsed } from '../../core/schema/parse.ts';
import { AskAgain, retrying } from './back-off.ts';
import {
  bounded,
  type EnvironmentClientOptions,
  EnvironmentHttp,
  failed,
  jsonOf,
  missingBy,
  refusedBy,
  unreadable,
} from './environment-http.ts';

/** How often a broken stream is taken up again. */
const RESUMED = 5;

export class EnvironmentClient {
  readonly #http: EnvironmentHttp;

  constructor(options: EnvironmentClientOptions) {
    this.#http = new EnvironmentHttp(options);
  }

  /** The names of the environments that the server has, its default first. */
  async environments(): Promise<readonly string[]> {
    return this.#http.json('GET', '/list_environments', v.pipe(v.array(v.string()), v.minLength(1)));
  }

  splits(environment: string): Promise<readonly EnvironmentSplit[]> {
    return this.#http.json('GET', `${pathOf(environment)}/splits`, environmentSplits);
  }

  async countTasks(environment: string, split: string): Promise<number> {
    const path = `${pathOf(environment)}/num_tasks`;
    return (await this.#http.json('POST', path, environmentTaskCount, { body: { split } })).num_tasks;
  }

  async task({ environment, split, index }: EnvironmentPlace): Promise<Readonly<Record<string, unknown>>> {
    const path = `${pathOf(environment)}/task`;
    return (await this.#http.json('POST', path, environmentTask, { body: { split, index } })).task;
  }

  /** Begins a session under a name that no other session has had. */
  async begin(place: EnvironmentPlace, session: string): Promise<void> {
    const { environment, split, index } = place;
    const body = { env_name: environment, split, index };
    let attempts = 0;
    const response = await this.#http.send('POST', '/create', { body, session, began: () => attempts++ });
    // An attempt whose answer was lost has begun it already.
    if (response.status === 400 && attempts > 1) return response.body?.cancel();
    await this.#http.text(response, 'POST /create');
  }

  prompt(environment: string, session: string): Promise<readonly EnvironmentBlock[]> {
    return this.#http.json('GET', `${pathOf(environment)}/prompt`, environmentBlocks, { session });
  }

  /** The tools of a session's task. */
  async tools(environment: string, session: string): Promise<readonly EnvironmentTool[]> {
    return (await this.#http.json('GET', `${pathOf(environment)}/task_tools`, environmentTools, { session }))
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
    const signal = AbortSignal.timeout(this.#http.timeoutMs);
    let id: string | undefined;
    const once = async (attempt: number) => {
      const body = { name, input, ...(id === undefined ? {} : { task_id: id }) };
      try {
        const response = await this.#http.fetch('POST', path, { body, session, signal });
        if (response.status === 429 && attempt <= RESUMED) {
          await response.body?.cancel();
          throw new AskAgain(response);
        }
        if (!response.ok) throw await refusedBy(response, asked);
        const text = await readCall(response, asked, (given) => {
          id = given;
        });
        return parsed(environmentOutput, jsonOf(text, asked), unreadable(asked));
      } catch (error) {
        if (missingBy(error) || error instanceof AskAgain) throw error;
        throw signal.aborted ? this.#http.timedOut(asked) : this.#http.unreachable(asked, error);
      }
    };
    return pRetry(once, {
      ...retrying({ ...this.#http.backOff, attempts: RESUMED + 1 }, signal),
      // Without a number nobody can say whether the tool has run.
      shouldRetry: ({ error }) =>
        error instanceof AskAgain || (id !== undefined && missingBy(error) === 'unreachable'),
    }).catch((error: unknown) => {
      throw signal.aborted && error === signal.reason ? this.#http.timedOut(asked) : error;
    });
  }

  /** Ends a session. What goes wrong with that changes no reward: the server gives sessions up by itself. */
  async end(session: string): Promise<void> {
    const signal = AbortSignal.timeout(10_000);
    await this.#http.fetch('POST', '/delete', { session, signal }).then(
      (response) => response.body?.cancel(),
      () => undefined,
    );
  }
}

const pathOf = (environment: string): string => `/${encodeURIComponent(environment)}`;

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
