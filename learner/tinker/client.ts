/**
 * A client of Tinker's training API: sessions, models, and requests whose results are asked for until they are there. A request is sent again with the number
 * that it was first sent with, so that a server answers it once. What a server has forgotten is not sent again: only a checkpoint says what a model
 * has learnt by then.
 */
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { type BackOff, fetchPatiently } from '../../workers/api/back-off.ts';
import { readArchive } from './archive.ts';
import {
  type Datum,
  decodeOutput,
  encodeForwardBackward,
  type ForwardBackward,
  type ForwardBackwardOutput,
} from './messages.ts';
import {
  type AdamParams,
  archiveAt,
  capabilities,
  failed,
  modelCreated,
  notYet,
  optimStepped,
  PROTOBUF,
  parseAddress,
  promised,
  SDK_VERSION,
  sessionCreated,
  weightsSaved,
} from './wire.ts';

export interface TinkerServer {
  /** Where the server is, without `/api/v1`. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly fetch?: typeof fetch;
  /** How often a request is sent again while the server is away or busy. */
  readonly backOff?: BackOff;
  /** How long a result is waited for while the server answers that it is not there yet. */
  readonly patienceMs?: number;
}

/** About as long as the client library goes on, which is five minutes. */
const PATIENT: BackOff = { attempts: 13, firstMs: 1000, longestMs: 30_000 };
/** How long one answer may take: servers hold a question for a result back until it is there, up to about 30 s. */
const ANSWER_MS = 60_000;
/** A step of the largest models takes minutes, and a busy server has others before it. */
const PATIENCE_MS = 60 * 60_000;
const DOWNLOAD_MS = 10 * 60_000;
/** Between two questions for a result that is not there, where the server does not hold them back. */
const POLL_MS = 100;
const HEARTBEAT_MS = 10_000;
/** The most data and bytes of one request, as the client library has them. */
const MOST_DATA = 1024;
const MOST_BYTES = 5_000_000;

/** Routes that ask for nothing that a server could have lost. */
const OF_NOTHING = ['get_server_capabilities', 'create_session'];

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const textOf = ({ body }: Pick<Answer, 'body'>): string => new TextDecoder().decode(body);
const json = v.pipe(v.string(), v.parseJson());

/** What a server says of a request that it refuses. */
function said(answer: Answer): string {
  const parsed = v.safeParse(json, textOf(answer));
  const body = parsed.success ? (parsed.output as Record<string, unknown> | null) : null;
  const words = body?.detail ?? body?.error ?? body?.message;
  const text = typeof words === 'string' ? words : textOf(answer);
  return text.replace(/\s+/g, ' ').slice(0, 300).replace(/\.$/, '');
}

/** Has the server forgotten a session, a model or a request? */
export const isLost = (error: unknown): boolean =>
  error instanceof RollmeshError && error.code === 'tinker.lost';

export class TinkerClient {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch;
  readonly #backOff: BackOff;
  readonly #patienceMs: number;
  #session: Promise<string> | undefined;
  #heart: NodeJS.Timeout | undefined;
  #models = 0;

  constructor({
    url,
    apiKey,
    fetch: send = fetch,
    backOff = PATIENT,
    patienceMs = PATIENCE_MS,
  }: TinkerServer) {
    this.url = url.replace(/\/+$/, '');
    this.#headers = { 'user-agent': 'rollmesh', ...(apiKey ? { 'x-api-key': apiKey } : {}) };
    this.#fetch = send;
    this.#backOff = backOff;
    this.#patienceMs = patienceMs;
  }

  /** The names of the base models that the server trains. */
  async baseModels(): Promise<string[]> {
    const { supported_models } = await this.ask(capabilities, 'get_server_capabilities');
    return supported_models.flatMap(({ model_name }) => model_name ?? []);
  }

  /** A new model: the base model with an adapter that changes nothing yet. */
  async createModel(base: string, rank: number, seed: number): Promise<RemoteModel> {
    try {
      return await this.#createModel(base, rank, seed);
    } catch (error) {
      if (!isLost(error)) throw error;
      // The server was started again, and knows none of the sessions before.
      this.close();
      return this.#createModel(base, rank, seed);
    }
  }

  async #createModel(base: string, rank: number, seed: number): Promise<RemoteModel> {
    const session = await this.#open();
    const { request_id } = await this.ask(promised, 'create_model', {
      session_id: session,
      model_seq_id: this.#models++,
      base_model: base,
      // Adapters here are on attention and MLP alone.
      lora_config: { rank, seed, train_unembed: false, train_mlp: true, train_attn: true },
      type: 'create_model',
    });
    return new RemoteModel(this, (await this.resultOf(request_id, modelCreated)).model_id);
  }

  /** The files of a checkpoint's archive, by their names. */
  async download(path: string): Promise<Map<string, Uint8Array>> {
    const address = parseAddress(path);
    if (!address) throw this.#strange(`the checkpoint ${JSON.stringify(path)}`);
    const route = `training_runs/${address.run}/checkpoints/${address.kind}/${address.name}/archive`;
    const answer = await this.#send(route, { redirect: true });
    const at =
      answer.status === 200 ? this.#checked(archiveAt, answer).url : (answer.headers.get('location') ?? '');
    const url = URL.parse(at, `${this.url}/`);
    if (!url || !/^https?:$/.test(url.protocol)) throw this.#strange(`the archive's address ${at}`);
    // The address is signed; the key is for the server alone.
    const archive = await this.#patiently('The checkpoint’s archive', () =>
      this.#fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) }),
    );
    if (archive.status !== 200) throw this.#refused('the checkpoint’s archive', archive);
    return readArchive(archive.body);
  }

  /** Asks a route; with a body it is sent one. */
  async ask<S extends v.GenericSchema>(schema: S, route: string, body?: unknown): Promise<v.InferOutput<S>> {
    return this.#checked(schema, await this.#send(route, { body }));
  }

  /** Sends a message of protobuf; resolves to the id under which its result can be asked for. */
  async promise(route: string, message: Uint8Array): Promise<string> {
    return this.#checked(promised, await this.#send(route, { message })).request_id;
  }

  /**
   * The result of a request, once it is there.
   * @throws RollmeshError of kind `retry`: `tinker.lost` where the server has forgotten the request, `tinker.late` where the result is not there in the time that it
   *   is waited for; `tinker.failed` where it failed
   */
  async resultOf<S extends v.GenericSchema>(id: string, schema: S): Promise<v.InferOutput<S>> {
    return this.#checked(schema, await this.#result(id));
  }

  async outputOf(id: string): Promise<ForwardBackwardOutput> {
    const answer = await this.#result(id, PROTOBUF);
    if (answer.headers.get('content-type')?.includes(PROTOBUF)) return decodeOutput(answer.body);
    throw wrongInput('tinker.release', `The server ${this.url} answers forward_backward in JSON.`, {
      expected: `protobuf, as release ${SDK_VERSION} of Tinker's client library and later ones ask for it`,
      next: 'Update the server.',
    });
  }

  /** Ends the session: its models may be dropped. */
  close(): void {
    clearInterval(this.#heart);
    this.#session = undefined;
  }

  /** The session of this client, which is opened when it is first needed and kept alive until `close`. */
  #open(): Promise<string> {
    this.#session ??= this.#begin().catch((error: unknown) => {
      this.#session = undefined;
      throw error;
    });
    return this.#session;
  }

  async #begin(): Promise<string> {
    const { session_id, error_message } = await this.ask(sessionCreated, 'create_session', {
      tags: ['rollmesh'],
      user_metadata: {},
      sdk_version: SDK_VERSION,
      type: 'create_session',
    });
    if (error_message)
      throw new RollmeshError('give-up', 'tinker.session', `The server ${this.url} says: ${error_message}`);
    this.#models = 0;
    clearInterval(this.#heart);
    // Whether it is heard shows with the next request.
    const beat = () =>
      this.#once('session_heartbeat', { body: { session_id, type: 'session_heartbeat' } }).catch(() => {});
    this.#heart = setInterval(beat, HEARTBEAT_MS).unref();
    return session_id;
  }

  async #result(id: string, accept = 'application/json'): Promise<Answer> {
    const until = performance.now() + this.#patienceMs;
    for (;;) {
      const began = performance.now();
      const answer = await this.#send('retrieve_future', { body: { request_id: id }, accept });
      if (!answer.headers.get('content-type')?.includes('json')) return answer;
      const body = this.#checked(v.unknown(), answer);
      if (v.is(failed, body)) throw failureOf(body);
      if (!v.is(notYet, body)) return answer;
      if (performance.now() > until)
        throw new RollmeshError(
          'retry',
          'tinker.late',
          `The server ${this.url} has no result of the request ${id} after ${Math.round(this.#patienceMs / 1000)} s.`,
          { next: 'The round begins again from the last published version.' },
        );
      if (performance.now() - began < POLL_MS) await sleep(POLL_MS);
    }
  }

  async #send(
    route: string,
    asked: {
      readonly body?: unknown;
      readonly message?: Uint8Array;
      readonly accept?: string;
      readonly redirect?: boolean;
    },
  ): Promise<Answer> {
    const answer = await this.#patiently(`The server ${this.url}`, () => this.#once(route, asked));
    const { status } = answer;
    if (status === 200 || (asked.redirect && status === 302)) return answer;
    const of = route === 'retrieve_future' ? JSON.stringify(asked.body) : route;
    if (status === 410 || (status === 404 && !OF_NOTHING.includes(route)))
      throw new RollmeshError(
        'retry',
        'tinker.lost',
        `The server ${this.url} has lost what ${of} asks for: ${said(answer)}.`,
        { next: 'Nothing is trained twice: the round begins again from the last published version.' },
      );
    throw this.#refused(route, answer);
  }

  #once(
    route: string,
    { body, message, accept = 'application/json' }: { body?: unknown; message?: Uint8Array; accept?: string },
  ): Promise<Response> {
    const content = message ? PROTOBUF : 'application/json';
    return this.#fetch(`${this.url}/api/v1/${route}`, {
      headers: { ...this.#headers, accept, 'content-type': content },
      ...(body === undefined && !message
        ? {}
        : { method: 'POST', body: message ? new Uint8Array(message) : JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  }

  /** Sends the same request again while the server is away or busy, or its answer breaks off. */
  async #patiently(who: string, send: () => Promise<Response>): Promise<Answer> {
    const whole = async (): Promise<Response> => {
      const answer = await send();
      const body = await answer.arrayBuffer();
      return new Response(body.byteLength ? body : null, answer);
    };
    const gone = (what: string, cause?: unknown) =>
      new RollmeshError('retry', 'tinker.unreachable', `${who} ${what}.`, {
        next: 'The round is tried again later.',
        cause,
      });
    const last = await fetchPatiently(whole, this.#backOff).catch((cause: unknown) => {
      throw gone('did not answer', cause);
    });
    const body = new Uint8Array(await last.arrayBuffer());
    const answer: Answer = { status: last.status, headers: last.headers, body };
    const { status } = answer;
    if (status === 429) throw gone(`is busy (429): ${said(answer)}`);
    if (status === 408 || status === 409 || status >= 500) throw gone(`answered ${status}: ${said(answer)}`);
    return answer;
  }

  #refused(route: string, answer: Answer): RollmeshError {
    const { status } = answer;
    if (status === 401 || status === 403)
      return wrongInput(
        'tinker.key',
        `The server ${this.url} refused the key (${status}): ${said(answer)}.`,
        {
          expected: 'its key in the variable TINKER_API_KEY',
        },
      );
    if (status === 402)
      return new RollmeshError('retry', 'tinker.billing', `The server ${this.url} says: ${said(answer)}.`);
    return new RollmeshError(
      'give-up',
      'tinker.refused',
      `The server ${this.url} refused ${route} (${status}): ${said(answer)}.`,
    );
  }

  #checked<S extends v.GenericSchema>(schema: S, answer: Answer): v.InferOutput<S> {
    const parsed = v.safeParse(v.pipe(json, schema), textOf(answer));
    if (parsed.success) return parsed.output as v.InferOutput<S>;
    throw this.#strange(
      `${v.getDotPath(parsed.issues[0]) ?? 'an answer'} in ${textOf(answer).slice(0, 200)}`,
    );
  }

  #strange(what: string): RollmeshError {
    return new RollmeshError('give-up', 'tinker.answer', `The server ${this.url} gave ${what}.`, {
      expected: `an answer as release ${SDK_VERSION} of Tinker's client library reads it`,
      next: 'Check that the address is that of a server with this API.',
    });
  }
}

const failureOf = ({ error, category }: { readonly error: string; readonly category?: string | undefined }) =>
  new RollmeshError(
    category === 'user' ? 'give-up' : 'retry',
    'tinker.failed',
    `The server could not do what was asked: ${error.slice(0, 300)}`,
  );

/** A model of a server. Its requests are numbered, and the server does them in that order. */
export class RemoteModel {
  readonly id: string;
  readonly #client: TinkerClient;
  #seq = 0;

  constructor(client: TinkerClient, id: string) {
    this.#client = client;
    this.id = id;
  }

  /** Computes a loss and adds its gradient to what the next step is taken by. With `forwardOnly` it adds nothing. */
  async forwardBackward(
    loss: string,
    data: readonly Datum[],
    { config = {}, forwardOnly = false }: Partial<Pick<ForwardBackward, 'config' | 'forwardOnly'>> = {},
  ): Promise<ForwardBackwardOutput> {
    const ids: string[] = [];
    for (const part of inParts(data))
      ids.push(
        await this.#client.promise(
          'forward_backward',
          encodeForwardBackward({
            modelId: this.id,
            seqId: ++this.#seq,
            data: part,
            loss,
            config,
            forwardOnly,
          }),
        ),
      );
    const outputs: ForwardBackwardOutput[] = [];
    for (const id of ids) outputs.push(await this.#client.outputOf(id));
    const logprobs = outputs.flatMap((output) => output.logprobs);
    if (logprobs.length !== data.length || logprobs.some((row, i) => row.length !== data[i]!.tokens.length))
      throw new RollmeshError(
        'give-up',
        'tinker.answer',
        'The server gave other log-probabilities than one a target.',
        {
          expected: `${data.length} rows, each as long as its sequence`,
        },
      );
    const sums = outputs.map(({ metrics }) => metrics['loss:sum'] ?? Number.NaN);
    return { logprobs, metrics: { 'loss:sum': sums.reduce((a, b) => a + b, 0) } };
  }

  /** Takes a step of AdamW by the gradients so far, and forgets them. Resolves to the server's figures. */
  async optimStep(params: AdamParams): Promise<Readonly<Record<string, number>>> {
    const { metrics } = await this.#do(optimStepped, 'optim_step', { adam_params: params });
    return metrics ?? {};
  }

  /** Saves weights and optimiser; resolves to the address of the checkpoint. */
  async save(name: string): Promise<string> {
    return (await this.#do(weightsSaved, 'save_weights', { path: name, overwrite: false })).path;
  }

  /** Saves the adapter for those who sample. */
  async saveForSampler(name: string): Promise<string> {
    return (await this.#do(weightsSaved, 'save_weights_for_sampler', { path: name })).path;
  }

  /** Goes on from a checkpoint, with its optimiser or a new one. */
  async load(path: string, optimizer: boolean): Promise<void> {
    await this.#do(v.unknown(), 'load_weights', { path, optimizer });
  }

  /** The server may drop the model. Whether it does is not waited for. */
  async unload(): Promise<void> {
    await this.#client.ask(v.unknown(), 'unload_model', { model_id: this.id, type: 'unload_model' });
  }

  async #do<S extends v.GenericSchema>(schema: S, type: string, body: object): Promise<v.InferOutput<S>> {
    const request = { ...body, model_id: this.id, seq_id: ++this.#seq, type };
    const { request_id } = await this.#client.ask(promised, type, request);
    return this.#client.resultOf(request_id, schema);
  }
}

/** Data in requests of a size that servers take. */
function inParts(data: readonly Datum[]): Datum[][] {
  const parts: Datum[][] = [];
  let bytes = 0;
  for (const datum of data) {
    const own = 4 * datum.tokens.length + sizeOf(datum.inputs);
    const part = parts.at(-1);
    if (part && part.length < MOST_DATA && bytes + own <= MOST_BYTES) {
      part.push(datum);
      bytes += own;
    } else {
      parts.push([datum]);
      bytes = own;
    }
  }
  return parts;
}

const sizeOf = (inputs: Datum['inputs']): number =>
  Object.values(inputs).reduce((sum, { length }) => sum + 8 * length, 0);
