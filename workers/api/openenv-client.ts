/**
 * The client of an environment that somebody else hosts, by OpenEnv (https://github.com/huggingface/OpenEnv): the schema of its actions over
 * HTTP, and a WebSocket for each episode, which is one session of the server. Answers have no numbers and come in the order of the requests,
 * so that a step is sent once, an answer that nobody asked for ends the episode, and with a connection the session is lost.
 */
import pRetry from 'p-retry';
import type { EnvironmentTool } from '../../core/schema/environment.ts';
import {
  type ActionSchema,
  type OpenEnvError,
  type OpenEnvMessage,
  type OpenEnvObservation,
  openEnvMessage,
  openEnvSchemas,
  openEnvTools,
} from '../../core/schema/openenv.ts';
import { parsed } from '../../core/schema/parse.ts';
import { retrying } from './back-off.ts';
import {
  type EnvironmentClientOptions,
  EnvironmentHttp,
  failed,
  jsonOf,
  MOST_BYTES,
  unreadable,
  within,
} from './environment-http.ts';

/** What a connection hears. */
export interface Heard {
  /** A message came. */
  readonly received: (text: string) => void;
  /** The connection is over, or was never there. */
  readonly ended: (cause: unknown) => void;
}

/** A WebSocket, as far as it is used here. */
export interface Connection {
  /** Whether it came about; never rejects. */
  readonly opened: Promise<boolean>;
  readonly isOpen: () => boolean;
  readonly send: (text: string) => void;
  readonly close: () => void;
}

/** Opens a WebSocket at an address that begins with `ws`; Node and Workers do so differently. */
export type Connect = (url: string, headers: Readonly<Record<string, string>>, heard: Heard) => Connection;

/** A message that came, or the end of the connection. */
type Arrival = { readonly text: string } | { readonly closed: unknown };

/** The messages of one connection, in their order. */
class Inbox {
  readonly #arrived: Arrival[] = [];
  #waiting: ((arrival: Arrival) => void) | undefined;

  put(arrival: Arrival): void {
    if (this.#waiting) this.#waiting(arrival);
    else this.#arrived.push(arrival);
    this.#waiting = undefined;
  }

  /** What came before it was waited for; undefined where nothing did. */
  early(): Arrival | undefined {
    return this.#arrived.shift();
  }

  next(): Promise<Arrival> {
    const early = this.early();
    return early ? Promise.resolve(early) : new Promise((resolve) => (this.#waiting = resolve));
  }
}

export class OpenEnvClient {
  readonly #http: EnvironmentHttp;
  readonly #connect: Connect;

  constructor(options: EnvironmentClientOptions, connect: Connect) {
    this.#http = new EnvironmentHttp(options);
    this.#connect = connect;
  }

  /** The JSON schema of an action. */
  async actionSchema(): Promise<ActionSchema> {
    return (await this.#http.json('GET', '/schema', openEnvSchemas)).action;
  }

  /**
   * Begins a session, in which one episode is played. A server that has no room for another is asked until it has, as long as an answer may
   * take.
   * @param order what `reset` takes, as `seed`
   */
  async begin(
    order: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly session: OpenEnvSession; readonly first: OpenEnvObservation }> {
    const { backOff, timeoutMs } = this.#http;
    const full = failed(
      'refused',
      `The environment had no room for another session within ${timeoutMs / 1000} s.`,
      'a smaller --at-once, or an environment that serves more sessions at the same time',
    );
    const once = async () => {
      const session = await pRetry(() => this.#connected(), retrying(backOff));
      const first = await session.reset(order).catch((error: unknown) => {
        session.close();
        throw error;
      });
      if (first !== 'full') return { session, first };
      session.close();
      throw full;
    };
    return pRetry(once, {
      ...retrying({ ...backOff, attempts: Number.POSITIVE_INFINITY }),
      maxRetryTime: timeoutMs,
      shouldRetry: ({ error }) => error === full,
    });
  }

  /** Nothing has begun before a connection is open, so that it may be asked for again. */
  async #connected(): Promise<OpenEnvSession> {
    const { url, keyHeader, timeoutMs } = this.#http;
    const inbox = new Inbox();
    const socket = this.#connect(`${url.replace(/^http/, 'ws')}/ws`, keyHeader, {
      received: (text) => inbox.put({ text }),
      ended: (cause) => inbox.put({ closed: cause }),
    });
    if (await within(socket.opened, timeoutMs)) return new OpenEnvSession(socket, inbox, this.#http);
    socket.close();
    throw this.#http.unreachable('a WebSocket at /ws', inbox.early());
  }
}

/** One session of a server, and with it one environment. */
export class OpenEnvSession {
  readonly #socket: Connection;
  readonly #inbox: Inbox;
  readonly #http: EnvironmentHttp;

  constructor(socket: Connection, inbox: Inbox, http: EnvironmentHttp) {
    this.#socket = socket;
    this.#inbox = inbox;
    this.#http = http;
  }

  /** @returns `full` where the server has no room for this session, which did not begin then */
  async reset(data: Readonly<Record<string, unknown>>): Promise<OpenEnvObservation | 'full'> {
    const answer = await this.#ask({ type: 'reset', data });
    if (answer.type === 'error' && answer.data.code === 'CAPACITY_REACHED') return 'full';
    return observationOf(answer, 'reset');
  }

  /** Acts, once. @returns what is wrong with the action where the environment did not take it */
  async step(
    data: Readonly<Record<string, unknown>>,
  ): Promise<OpenEnvObservation | { readonly invalid: string }> {
    const answer = await this.#ask({ type: 'step', data });
    if (answer.type === 'error' && answer.data.code === 'VALIDATION_ERROR')
      return { invalid: validationError(answer.data) };
    return observationOf(answer, 'step');
  }

  /** The tools of an environment that speaks the Model Context Protocol. */
  async tools(): Promise<readonly EnvironmentTool[]> {
    const answer = await this.#ask({
      type: 'mcp',
      data: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    });
    if (answer.type === 'error') throw refused('mcp', answer.data);
    if (answer.type !== 'mcp') throw surplus('mcp', answer);
    return parsed(openEnvTools, answer.data, unreadable('mcp tools/list')).result.tools;
  }

  /**
   * Asks for the state after the last step. Its answer is the only one that is still to come: an environment that answered a step twice has sent
   * another by then.
   */
  async settled(): Promise<void> {
    const answer = await this.#ask({ type: 'state' });
    if (answer.type === 'observation') throw surplus('state', answer);
  }

  close(): void {
    if (this.#socket.isOpen()) this.#socket.send(JSON.stringify({ type: 'close' }));
    this.#socket.close();
  }

  async #ask(message: { readonly type: string; readonly data?: object }): Promise<OpenEnvMessage> {
    const early = this.#inbox.early();
    if (!early && this.#socket.isOpen()) this.#socket.send(JSON.stringify(message));
    const { timeoutMs } = this.#http;
    const arrival = early ?? (await within(this.#inbox.next(), timeoutMs));
    if (!arrival) throw this.#http.timedOut(message.type);
    if ('closed' in arrival) throw this.#http.unreachable(message.type, arrival.closed);
    const { text } = arrival;
    if (new TextEncoder().encode(text).length > MOST_BYTES)
      throw failed(
        'too-large',
        `The environment's answer to ${message.type} is longer than ${MOST_BYTES} bytes.`,
        'less, since a policy reads it',
      );
    const answer = parsed(openEnvMessage, jsonOf(text, message.type), unreadable(message.type));
    // An error may come unasked: it ends the session, as where the server has no room.
    if (early && answer.type !== 'error') throw surplus(message.type, answer);
    return answer;
  }
}

const surplus = (asked: string, { type }: OpenEnvMessage) =>
  failed(
    'unreadable',
    `The environment sent a message of the type ${type} that nobody asked for before it answered ${asked}.`,
    'one answer to each request',
  );

const refused = (asked: string, { code, message }: OpenEnvError) =>
  failed(
    'refused',
    `The environment answers ${asked} with ${code}: ${JSON.stringify(message.slice(0, 200))}.`,
  );

function observationOf(answer: OpenEnvMessage, asked: string): OpenEnvObservation {
  if (answer.type === 'error') throw refused(asked, answer.data);
  if (answer.type !== 'observation') throw surplus(asked, answer);
  return answer.data;
}

/** The first things that are wrong with an action, for the policy. */
const validationError = ({ message, errors }: OpenEnvError): string =>
  errors.length
    ? errors
        .slice(0, 3)
        .map(({ loc, msg }) => `${loc.join('.')}: ${msg}`.slice(0, 200))
        .join(' ')
    : message.slice(0, 200);
