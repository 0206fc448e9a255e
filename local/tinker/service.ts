/** What a server of Tinker's training API does: sessions, models that are trained on this machine's device, checkpoints, and samples of them. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import type { Policy, PolicyRef, SamplingSettings } from '../../core/policy/policy.ts';
import { sha256Hex } from '../../core/random.ts';
import { adapterFile, type VersionFiles } from '../../core/schema/policy.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import type { TrainingDevice } from '../../learner/loop/training-device.ts';
import { frozenParamsFrom, type ParamSet } from '../../learner/nn/params.ts';
import {
  encodeOutput,
  encodeSamples,
  type ForwardBackward,
  type Sampled,
} from '../../learner/tinker/messages.ts';
import { ServedModel } from '../../learner/tinker/served-model.ts';
import {
  type AdamParams,
  type Address,
  addressOf,
  parseAddress,
  type SampleRequest,
} from '../../learner/tinker/wire.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import type { Checkpoints } from './checkpoints.ts';
import { Requests, type Result } from './requests.ts';

/** A base model that clients may train. */
export interface Base {
  readonly files: VersionFiles;
  /** Where its tokenizer can be loaded from: a folder in the Hugging Face layout. */
  readonly folder: string;
}

/** Sessions that are not heard of for so long are over: clients tell every ten seconds that they live. */
const SILENT_MS = 5 * 60_000;
/** In this time what has arrived is read. */
const HEARD_MS = 1000;

interface Session {
  /** When its client was last heard of, by `performance.now`. */
  heard: number;
  readonly models: Set<string>;
  readonly samplers: Set<string>;
}

interface Sampler {
  readonly base: string;
  /** Absent = the base alone. */
  readonly at?: Address;
}

const configOf = ({ files }: Base): ModelConfig =>
  parseConfig(JSON.parse(new TextDecoder().decode(files['config.json'])));

const unknown = (what: string) =>
  new RollmeshError('missing-version', 'tinker.unknown', `This server has no ${what}.`, {
    next: 'It may have been started again since: create a model and load the last checkpoint.',
  });

export class TinkerService {
  readonly #bases: ReadonlyMap<string, Base>;
  readonly #checkpoints: Checkpoints;
  readonly #device: Pick<TrainingDevice, 'open'>;
  readonly #newId: () => string;
  readonly #requests = new Requests();
  readonly #sessions = new Map<string, Session>();
  readonly #models = new Map<string, ServedModel>();
  readonly #samplers = new Map<string, Sampler>();
  readonly #params = new Map<string, ParamSet>();
  readonly #policies = new OpenPolicies(nodeEngines, (ref) => this.#filesOf(ref.name), 2);

  /** `newId` names sessions. */
  constructor(
    bases: ReadonlyMap<string, Base>,
    checkpoints: Checkpoints,
    device: Pick<TrainingDevice, 'open'>,
    newId: () => string = randomUUID,
  ) {
    this.#bases = bases;
    this.#checkpoints = checkpoints;
    this.#device = device;
    this.#newId = newId;
  }

  get checkpoints(): Checkpoints {
    return this.#checkpoints;
  }

  supported(): readonly { readonly model_name: string; readonly max_context_length: number }[] {
    return [...this.#bases].map(([model_name, base]) => ({
      model_name,
      max_context_length: configOf(base).maxPositions,
    }));
  }

  architecture(base: string): string {
    return configOf(this.#base(base)).architecture;
  }

  folder(base: string): string {
    return this.#base(base).folder;
  }

  createSession(): string {
    const id = this.#newId();
    this.#sessions.set(id, { heard: performance.now(), models: new Set(), samplers: new Set() });
    return id;
  }

  /** @throws RollmeshError `tinker.unknown` */
  session(id: string): Session {
    const session = this.#sessions.get(id);
    if (!session) throw unknown(`session ${id}`);
    session.heard = performance.now();
    return session;
  }

  /** Gives up the models of clients that have ended without a word. */
  async #sweep(): Promise<void> {
    const silent = () =>
      [...this.#sessions].filter(([, { heard }]) => performance.now() - heard >= SILENT_MS);
    if (!silent().length) return;
    // While a job computes nothing is read: what clients said meanwhile is read first.
    await sleep(HEARD_MS);
    for (const [id, { models, samplers }] of silent()) {
      this.#sessions.delete(id);
      for (const model of models) this.#drop(model);
      for (const sampler of samplers) this.#samplers.delete(sampler);
    }
  }

  #drop(id: string): void {
    this.#models.get(id)?.dispose();
    this.#models.delete(id);
    this.#requests.forget(id);
  }

  /** The result of a request; see Requests. */
  result(id: string, waitMs: number): Promise<Result | null | undefined> {
    return this.#requests.result(id, waitMs);
  }

  createModel(asked: {
    readonly session: string;
    readonly seq: number;
    readonly base: string;
    readonly rank: number;
    readonly seed: number | undefined;
  }): string {
    const session = this.session(asked.session);
    const base = this.#base(asked.base);
    const model = `${asked.session}:train:${asked.seq}`;
    const id = `${model}/0`;
    this.#requests.take(id, JSON.stringify(asked), async () => {
      await this.#sweep();
      const params = await this.#paramsOf(asked.base, base);
      this.#models.set(
        model,
        new ServedModel(asked.base, params, asked.rank, `adapter/${asked.seed ?? model}`),
      );
      session.models.add(model);
      // It was given up if nothing was heard while this request waited; a model belongs to a session that is looked after.
      this.#sessions.set(asked.session, session);
      return { json: { model_id: model, type: 'create_model' } };
    });
    return id;
  }

  /** @throws RollmeshError `tinker.unknown` */
  model(id: string): ServedModel {
    const model = this.#models.get(id);
    if (!model) throw unknown(`model ${id}`);
    return model;
  }

  unload(id: string): string {
    this.model(id);
    const request = `${id}/unload`;
    this.#requests.take(request, '', async () => {
      this.#drop(id);
      return { json: { model_id: id, type: 'unload_model' } };
    });
    return request;
  }

  forwardBackward(request: ForwardBackward, message: Uint8Array): string {
    const model = this.model(request.modelId);
    return this.#take(request.modelId, request.seqId, sha256Hex(message), async () => ({
      message: encodeOutput(await model.forwardBackward(request)),
    }));
  }

  optimStep(id: string, seq: number, params: AdamParams): string {
    const model = this.model(id);
    return this.#take(id, seq, JSON.stringify(params), async () => ({
      json: { metrics: await model.optimStep(params), type: 'optim_step' },
    }));
  }

  saveWeights(id: string, seq: number, name: string, overwrite: boolean): string {
    return this.#save(id, seq, { run: id, kind: 'weights', name }, overwrite, (path) => ({
      path,
      type: 'save_weights',
    }));
  }

  /** Without a name the checkpoint is for a sampler alone, number `sampler` of the model's session. */
  saveForSampler(id: string, seq: number, name: string | undefined, sampler: number | undefined): string {
    const at: Address = { run: id, kind: 'sampler_weights', name: name ?? `sampler-${sampler ?? seq}` };
    const type = 'save_weights_for_sampler';
    return this.#save(id, seq, at, name === undefined, (path) =>
      name === undefined
        ? {
            sampling_session_id: this.#addSampler(id.replace(/:train:.*$/, ''), sampler ?? seq, {
              base: this.model(id).base,
              at,
            }),
            type,
          }
        : { path, type },
    );
  }

  loadWeights(id: string, seq: number, path: string, optimizer: boolean): string {
    const model = this.model(id);
    const at = addressIn(path);
    return this.#take(id, seq, `${path} ${optimizer}`, async () => {
      const { base, rank } = await this.#checkpoints.about(at);
      if (base !== model.base || rank !== model.rank)
        throw wrongInput('tinker.request', `The checkpoint ${path} is of ${base}, rank ${rank}.`, {
          expected: `one of ${model.base}, rank ${model.rank}`,
        });
      const state = optimizer ? await this.#checkpoints.optimizer(at) : undefined;
      if (optimizer && !state)
        throw wrongInput('tinker.request', `The checkpoint ${path} has no optimiser.`, {
          expected: 'one of save_weights, or to load it without the optimiser',
        });
      model.load({ adapter: await this.#checkpoints.adapter(at), optimizer: state });
      return { json: { path, model_id: id, type: 'load_weights' } };
    });
  }

  /** A sampler of a base, or of a checkpoint. */
  async createSampler(
    session: string,
    seq: number,
    base: string | undefined,
    path: string | undefined,
  ): Promise<string> {
    this.session(session);
    return this.#addSampler(session, seq, await this.#samplerOf(base, path));
  }

  /** @throws RollmeshError `tinker.unknown` */
  sampler(id: string): Sampler {
    const sampler = this.#samplers.get(id);
    if (!sampler) throw unknown(`sampler ${id}`);
    return sampler;
  }

  async sample(request: SampleRequest): Promise<string> {
    const { sampling_session_id: session, base_model: base, model_path: path, seq_id: seq } = request;
    const sampler = session
      ? this.sampler(session)
      : await this.#samplerOf(base ?? undefined, path ?? undefined);
    const id = session && seq !== null && seq !== undefined ? `${session}/${seq}` : randomUUID();
    this.#requests.take(id, JSON.stringify(request), async () => ({
      message: await this.#samples(sampler, request, id),
    }));
    return id;
  }

  async dispose(): Promise<void> {
    for (const model of this.#models.values()) model.dispose();
    for (const params of this.#params.values()) params.dispose();
    await this.#policies.dispose();
  }

  #take(model: string, seq: number, content: string, work: () => Promise<Result>): string {
    const id = `${model}/${seq}`;
    this.#requests.take(id, content, work, { model, seq });
    return id;
  }

  #save(id: string, seq: number, at: Address, overwrite: boolean, answer: (path: string) => object): string {
    const model = this.model(id);
    const { base, rank } = model;
    return this.#take(id, seq, `${addressOf(at)} ${overwrite}`, async () => {
      await this.#checkpoints.write(at, await model.save(), { base, rank }, overwrite);
      return { json: answer(addressOf(at)) };
    });
  }

  #addSampler(session: string, seq: number, sampler: Sampler): string {
    const id = `${session}:sample:${seq}`;
    this.#samplers.set(id, sampler);
    this.#sessions.get(session)?.samplers.add(id);
    return id;
  }

  async #samplerOf(base: string | undefined, path: string | undefined): Promise<Sampler> {
    if (path !== undefined) {
      const at = addressIn(path);
      return { base: (await this.#checkpoints.about(at)).base, at };
    }
    if (base === undefined)
      throw wrongInput('tinker.request', 'Nothing says what is to be sampled.', {
        expected: 'base_model or model_path',
      });
    this.#base(base);
    return { base };
  }

  #base(name: string): Base {
    const base = this.#bases.get(name);
    if (base) return base;
    throw wrongInput('tinker.base', `This server does not have the model ${name}.`, {
      expected: `one of ${[...this.#bases.keys()].join(', ')}`,
      next: 'Name it with --model when the server is started.',
    });
  }

  async #paramsOf(name: string, base: Base): Promise<ParamSet> {
    const known = this.#params.get(name);
    if (known) return known;
    const config = configOf(base);
    await this.#device.open(config);
    const params = frozenParamsFrom(config, base.files['model.safetensors']!);
    this.#params.set(name, params);
    return params;
  }

  /** The files of a policy that samples: a base by its name, or one with the adapter of a checkpoint by its address. */
  async #filesOf(name: string): Promise<VersionFiles> {
    const at = parseAddress(name);
    if (!at) return this.#base(name).files;
    const { base } = await this.#checkpoints.about(at);
    return { ...this.#base(base).files, [adapterFile()]: await this.#checkpoints.adapter(at) };
  }

  async #samples({ base: name, at }: Sampler, request: SampleRequest, id: string): Promise<Uint8Array> {
    const base = this.#base(name);
    const config = configOf(base);
    const ids = request.prompt.chunks.flatMap(({ tokens }) => tokens);
    const { max_tokens, seed, stop, temperature, top_k, top_p } = request.sampling_params;
    const room = config.maxPositions - ids.length;
    if (room < 1 || !ids.length || request.topk_prompt_logprobs > 0)
      throw wrongInput(
        'tinker.request',
        `The prompt has ${ids.length} tokens, with topk_prompt_logprobs ${request.topk_prompt_logprobs}.`,
        {
          expected: `1 to ${config.maxPositions - 1} tokens, without topk_prompt_logprobs`,
        },
      );
    const stops = stopsOf(stop ?? undefined, () => tokenizerOf(base.files, name));
    const settings: SamplingSettings = {
      maxNew: Math.min(max_tokens ?? room, room),
      temperature,
      topP: top_p,
      topK: Math.max(0, top_k),
      stop: [...new Set([...stops.ids, ...config.eosIds])],
    };
    const ref: PolicyRef = { name: at ? addressOf(at) : name, version: 0, engine: 'kernels' };
    // A checkpoint may have been written over.
    const written = at ? (await this.#checkpoints.about(at)).time : '';
    const sampled = async (policy: Policy): Promise<Uint8Array> => {
      const sampleIds = Array.from({ length: request.num_samples }, (_, i) => `${seed ?? id}/${i}`);
      const [samples] = await policy.generate([{ ids, sampleIds }], settings);
      const scores =
        request.prompt_logprobs && ids.length > 1 ? (await policy.score([ids]))[0]!.logprobs : [];
      return encodeSamples(
        samples!.map((sample) => stops.cut(sample)),
        request.prompt_logprobs ? [Number.NaN, ...scores] : undefined,
      );
    };
    return this.#policies.use(ref, sampled, written);
  }
}

function addressIn(path: string): Address {
  const at = parseAddress(path);
  if (at) return at;
  throw wrongInput('tinker.request', `The path ${JSON.stringify(path)} is no address of a checkpoint.`, {
    expected: 'tinker://RUN/weights/NAME or tinker://RUN/sampler_weights/NAME',
  });
}

/** Where samples end: after a token, or after the token that completes a text. Of a text of several tokens what came after it is cut off. */
function stopsOf(
  stop: string | readonly string[] | readonly number[] | undefined,
  tokenizer: () => ReturnType<typeof tokenizerOf>,
): { readonly ids: readonly number[]; readonly cut: (sample: Sampled) => Sampled } {
  const all: readonly (string | number)[] = typeof stop === 'string' ? [stop] : (stop ?? []);
  const texts = all.filter((one) => typeof one === 'string');
  const ids = all.filter((one) => typeof one === 'number');
  if (!texts.length) return { ids, cut: (sample) => sample };
  const text = tokenizer();
  const single = texts
    .map((one) => text.encode(one))
    .flatMap((tokens) => (tokens.length === 1 ? tokens : []));
  const ended = (tokens: readonly number[]) => texts.some((one) => text.decode(tokens).includes(one));
  const cut = (sample: Sampled): Sampled => {
    if (!ended(sample.ids)) return sample;
    let length = 1;
    while (!ended(sample.ids.slice(0, length))) length++;
    return { ids: sample.ids.slice(0, length), logprobs: sample.logprobs.slice(0, length), stopped: true };
  };
  return { ids: [...ids, ...single], cut };
}
