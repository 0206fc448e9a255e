/**
 * Servers that load adapters, as vLLM, SGLang and llama-server as a router do: their routes, the shapes of their answers and their refusals, over a
 * tiny model in float64 whose adapters they read from the files that they are told. What an answer of each looks like is told in `ANSWERS`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import type { Completion } from '../../core/policy/policy.ts';
import { Random } from '../../core/random.ts';
import type { DialectName } from '../../infer/remote/policy.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { readSafetensors, type Tensors } from '../../model/safetensors.ts';
import { randomTensors, smallConfigJson } from '../model/checkpoints.ts';
import { referenceLogits, softmax } from '../model/reference.ts';

export const CONFIG_JSON = smallConfigJson({
  num_hidden_layers: 1,
  vocab_size: 32,
  hidden_size: 32,
  intermediate_size: 48,
  num_attention_heads: 2,
  num_key_value_heads: 2,
});
export const config = parseConfig(CONFIG_JSON);
export const base = randomTensors(config);

/** Log-probabilities (nats) of what comes after each token: [ids][vocab]. */
export const logprobsAfter = (weights: Tensors, ids: readonly number[]): number[][] =>
  referenceLogits(config, weights, ids).map((row) => softmax(row).map(Math.log));

/** What a stand-in computes with. */
export interface Model {
  readonly config: ModelConfig;
  readonly base: Tensors;
  readonly draw: (weights: Tensors, asked: Drawing) => Promise<Omit<Completion, 'stopped'>>;
}

interface Drawing {
  readonly prompt: number[];
  readonly maxNew: number;
  readonly stop: number[];
  readonly seed: number;
}

/** The tiny model, in float64. */
const TINY: Model = {
  config,
  base,
  async draw(weights, { prompt, maxNew, stop, seed }) {
    const random = new Random(`seed/${seed}`);
    const ids: number[] = [];
    const logprobs: number[] = [];
    while (ids.length < maxNew && !stop.includes(ids.at(-1) ?? -1)) {
      const row = logprobsAfter(weights, [...prompt, ...ids]).at(-1)!;
      const u = random.float();
      let sum = 0;
      const sums = row.map((x) => {
        sum += Math.exp(x);
        return sum;
      });
      const found = sums.findIndex((x) => u < x);
      const id = found < 0 ? row.length - 1 : found;
      ids.push(id);
      logprobs.push(row[id]!);
    }
    return { ids, logprobs };
  },
};

/** W + alpha / r · B A in float64, rounded to float32; `pair`: A [r, in] and B [out, r] of a weight. */
export function merged(
  weights: Tensors,
  pair: (weight: string) => { a: Float32Array; b: Float32Array; rank: number } | undefined,
  alpha: number,
): Tensors {
  const out: Tensors = new Map();
  for (const [name, { shape, data }] of weights) {
    const found = pair(name);
    if (!found) {
      out.set(name, { shape, data });
      continue;
    }
    const { a, b, rank } = found;
    const width = shape[1]!;
    const sums = Float32Array.from(data, (w, i) => {
      const [row, column] = [Math.floor(i / width), i % width];
      let sum = 0;
      for (let k = 0; k < rank; k++) sum += b[row * rank + k]! * a[k * width + column]!;
      return w + (alpha / rank) * sum;
    });
    out.set(name, { shape, data: sums });
  }
  return out;
}

/** The weights with the adapter of a folder of PEFT, as vLLM and SGLang read it. */
function withPeft({ base: weights }: Model, folder: string): Tensors {
  const { lora_alpha: alpha, r } = JSON.parse(readFileSync(join(folder, 'adapter_config.json'), 'utf8'));
  const tensors = readSafetensors(readFileSync(join(folder, 'adapter_model.safetensors')));
  return merged(
    weights,
    (weight) => {
      const stem = `base_model.model.${weight.replace(/\.weight$/, '')}`;
      const a = tensors.get(`${stem}.lora_A.weight`);
      const b = tensors.get(`${stem}.lora_B.weight`);
      return a && b && { a: a.data, b: b.data, rank: r };
    },
    alpha,
  );
}

/** The numbers and metadata of a GGUF file, read by the format's description and by no code of ours. */
function readGguf(path: string) {
  const bytes = readFileSync(path);
  let at = 8;
  const take = (length: number) => {
    at += length;
    return at - length;
  };
  const u32 = () => bytes.readUInt32LE(take(4));
  const u64 = () => Number(bytes.readBigUInt64LE(take(8)));
  const string = () => {
    const length = u64();
    const from = take(length);
    return bytes.toString('utf8', from, from + length);
  };
  if (bytes.toString('latin1', 0, 4) !== 'GGUF') throw new Error('bad magic');
  const [count, fields] = [u64(), u64()];
  const metadata = new Map<string, string | number>();
  for (let i = 0; i < fields; i++) {
    const key = string();
    const type = u32();
    metadata.set(key, type === 8 ? string() : type === 6 ? bytes.readFloatLE(take(4)) : u32());
  }
  const infos = Array.from({ length: count }, () => ({
    name: string(),
    shape: Array.from({ length: u32() }, u64),
    type: u32(),
    offset: u64(),
  }));
  const start = Math.ceil(at / 32) * 32;
  const tensors = new Map(
    infos.map(({ name, shape, offset }) => [
      name,
      Float32Array.from({ length: shape.reduce((x, y) => x * y, 1) }, (_, i) =>
        bytes.readFloatLE(start + offset + 4 * i),
      ),
    ]),
  );
  return { metadata, tensors };
}

const GGUF_PARTS: Readonly<Record<string, string>> = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

/** The weights with a GGUF adapter, as llama.cpp reads it for a Llama: rows of q and k of a pair that turns together are neighbours. */
function withGguf({ base: weights, config: shape }: Model, path: string): Tensors {
  const { metadata, tensors } = readGguf(path);
  if (metadata.get('general.type') !== 'adapter' || metadata.get('adapter.type') !== 'lora')
    throw new Error('no adapter');
  return merged(
    weights,
    (weight) => {
      const [, layer, part] = /^model\.layers\.(\d+)\.(.+)\.weight$/.exec(weight) ?? [];
      const name = `blk.${layer}.${GGUF_PARTS[part ?? '']}.weight`;
      const a = tensors.get(`${name}.lora_a`);
      const stored = tensors.get(`${name}.lora_b`);
      if (!a || !stored) return undefined;
      const rank = a.length / weights.get(weight)!.shape[1]!;
      const half = shape.headDim / 2;
      const b = Float32Array.from(stored, (_, i) => {
        const [row, k] = [Math.floor(i / rank), i % rank];
        const inHead = row % shape.headDim;
        const from = /[qk]_proj/.test(weight)
          ? row - inHead + 2 * (inHead % half) + Math.floor(inHead / half)
          : row;
        return stored[from * rank + k]!;
      });
      return { a, b, rank };
    },
    metadata.get('adapter.lora.alpha') as number,
  );
}

/** What goes wrong. */
export interface Faults {
  /** How long loads take, ms. */
  slowMs?: number;
  /** What loads are refused with. */
  refuse?: { readonly status: number; readonly message: string } | undefined;
  /** Completions of this version begin so much later, ms. */
  late?: { readonly version: number; readonly ms: number };
  /** Loads whatever was loaded first. */
  wrong?: boolean;
  /** Says of what it has loaded that it came from here, or at this scale. */
  told?: { readonly path?: string; readonly scale?: number };
  /** Answers as another model. */
  otherName?: string | undefined;
  /** The connection of the next load ends before it is answered. */
  loseAnswer?: boolean;
  /** It was not started for adapters. */
  without?: 'route' | 'lora';
  /** Drops are refused. */
  keeps?: boolean;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const ok = (body: unknown): Answer => ({ status: 200, body });
const NO_ROUTE: Answer = { status: 404, body: { detail: 'Not Found' } };

/** Answers in the shapes of vLLM at 4fe45004, SGLang at 9c0549b7 (read in their sources) and llama-server b11669 (recorded). */
const ANSWERS = {
  vllm: {
    refused: (status: number, message: string) => ({
      status,
      body: { error: { message, type: 'BadRequestError', param: null, code: status } },
    }),
    noAdapter: (name: string, path: string) => `Loading lora ${name} failed: No adapter found for ${path}`,
  },
  sglang: {
    refused: (status: number, message: string) => ({
      status,
      body: { success: false, error_message: message, loaded_adapters: null },
    }),
  },
  llama: {
    refused: (code: number, message: string) => ({
      status: code,
      body: { error: { code, message, type: 'invalid_request_error' } },
    }),
  },
};

export class StandIn {
  readonly dialect: DialectName;
  /** llama-server alone: the folder of its presets. */
  readonly #folder: string;
  readonly #model: Model;
  #server: Server | undefined;
  /** Loaded adapters, by name; with them what they compute with and where it was read. */
  readonly loaded = new Map<string, { readonly weights: Tensors; readonly path: string }>();
  /** Which name each completion was asked under, in order. */
  readonly answered: string[] = [];
  /** Every path that was asked, in order. */
  readonly asked: string[] = [];
  faults: Faults = {};
  #first: Tensors | undefined;
  /** Models of the preset file, as they were read last, and which of them failed. */
  #presets = new Map<string, string | undefined>();
  readonly #failed = new Set<string>();

  constructor(dialect: DialectName, folder: string, model = TINY) {
    this.dialect = dialect;
    this.#folder = folder;
    this.#model = model;
  }

  async start(): Promise<string> {
    this.#reload();
    this.#server = createServer(async (request, response) => {
      const url = new URL(request.url!, 'http://here');
      const answer = await this.#answer(url, await bodyOf(request));
      if (answer === 'lost') response.destroy();
      else {
        const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
      }
    });
    await new Promise<void>((resolve) => this.#server!.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  stop = () => this.#server?.close();

  /** As after a new start of its process. */
  restart(): void {
    this.loaded.clear();
  }

  async #answer(url: URL, body: Record<string, unknown>): Promise<Answer | 'lost'> {
    this.asked.push(url.pathname);
    const { late } = this.faults;
    if (
      late &&
      versionIn(String(body.lora_path ?? body.model)) === late.version &&
      !/load/.test(url.pathname)
    )
      await new Promise((resolve) => setTimeout(resolve, late.ms));
    switch (`${this.dialect} ${url.pathname}`) {
      case 'vllm /v1/load_lora_adapter':
      case 'sglang /load_lora_adapter':
        return this.#load(body.lora_name as string, body.lora_path as string);
      case 'vllm /v1/unload_lora_adapter':
      case 'sglang /unload_lora_adapter':
        return this.#unload(body.lora_name as string);
      case 'vllm /v1/models':
      case 'sglang /v1/models':
        return ok({
          object: 'list',
          data: [
            { id: 'the-base', object: 'model', root: '/models/base', parent: null },
            ...[...this.loaded].map(([id, { path }]) => ({
              id,
              object: 'model',
              root: this.faults.told?.path ?? path,
              parent: 'the-base',
            })),
          ],
        });
      case 'vllm /v1/completions':
      case 'llama.cpp /v1/completions':
        return this.#complete(body);
      case 'sglang /generate':
        return this.#generate(body);
      case 'llama.cpp /props':
        return ok(
          this.faults.without
            ? { total_slots: 1, build_info: 'b11669' }
            : { role: 'router', max_instances: 4 },
        );
      case 'llama.cpp /models':
        if (url.searchParams.has('reload')) this.#reload();
        return ok({
          object: 'list',
          data: [...this.#presets.keys()].map((id) => ({ id, object: 'model', status: this.#statusOf(id) })),
        });
      case 'llama.cpp /models/load':
        return this.#loadModel(body.model as string);
      case 'llama.cpp /models/unload':
        if (!this.loaded.delete(body.model as string))
          return ANSWERS.llama.refused(400, 'model is not running');
        return ok({ success: true });
      case 'llama.cpp /lora-adapters': {
        const found = this.loaded.get(url.searchParams.get('model') ?? '');
        if (!found) return ANSWERS.llama.refused(400, 'model is not loaded');
        return ok([
          { id: 0, path: found.path, scale: 1, task_name: '', prompt_prefix: '', ...this.faults.told },
        ]);
      }
      default:
        return NO_ROUTE;
    }
  }

  async #load(name: string, path: string): Promise<Answer | 'lost'> {
    if (this.faults.without === 'route') return NO_ROUTE;
    const say = this.dialect === 'vllm' ? ANSWERS.vllm.refused : ANSWERS.sglang.refused;
    if (this.faults.without === 'lora')
      return say(400, 'LoRA is not enabled. Please set `--enable-lora` to enable LoRA.');
    if (this.loaded.has(name)) return say(400, `The lora adapter '${name}' has already been loaded.`);
    if (!existsSync(path))
      return say(this.dialect === 'vllm' ? 404 : 400, ANSWERS.vllm.noAdapter(name, path));
    if (this.faults.slowMs) await new Promise((resolve) => setTimeout(resolve, this.faults.slowMs));
    if (this.faults.refuse) return say(this.faults.refuse.status, this.faults.refuse.message);
    this.#keep(name, path, withPeft(this.#model, path));
    if (this.faults.loseAnswer) {
      this.faults.loseAnswer = false;
      return 'lost';
    }
    return ok(
      this.dialect === 'vllm'
        ? `Success: LoRA adapter '${name}' added successfully.`
        : { success: true, error_message: null, loaded_adapters: { [name]: path } },
    );
  }

  #unload(name: string): Answer {
    const say = this.dialect === 'vllm' ? ANSWERS.vllm.refused : ANSWERS.sglang.refused;
    if (this.faults.keeps) return say(500, 'The engine is busy.');
    if (!this.loaded.delete(name)) return say(404, `The lora adapter '${name}' cannot be found.`);
    return ok(
      this.dialect === 'vllm'
        ? `Success: LoRA adapter '${name}' removed successfully.`
        : { success: true, error_message: null, loaded_adapters: {} },
    );
  }

  #keep(name: string, path: string, weights: Tensors): void {
    this.#first ??= weights;
    this.loaded.set(name, { path, weights: this.faults.wrong ? this.#first : weights });
  }

  #reload(): void {
    if (this.dialect !== 'llama.cpp') return;
    const text = readFileSync(join(this.#folder, 'models.ini'), 'utf8');
    this.#presets = new Map(
      text.split(/^(?=\[)/m).flatMap((section) => {
        const [, name] = /^\[(.+)\]/.exec(section) ?? [];
        return name ? [[name, /^lora = (.+)$/m.exec(section)?.[1]] as const] : [];
      }),
    );
    for (const name of this.loaded.keys()) if (!this.#presets.has(name)) this.loaded.delete(name);
  }

  #loadModel(name: string): Answer {
    if (!this.#presets.has(name))
      return {
        status: 404,
        body: { error: { message: 'File Not Found', type: 'not_found_error', code: 404 } },
      };
    const path = this.#presets.get(name);
    this.#failed.delete(name);
    setTimeout(() => {
      try {
        if (this.faults.refuse) throw new Error(this.faults.refuse.message);
        this.#keep(name, path ?? '', path ? withGguf(this.#model, path) : this.#model.base);
      } catch {
        this.#failed.add(name);
      }
    }, this.faults.slowMs ?? 0);
    return ok({ success: true });
  }

  #statusOf(name: string) {
    if (this.#failed.has(name)) return { value: 'unloaded', exit_code: 1, failed: true };
    return { value: this.loaded.has(name) ? 'loaded' : 'loading' };
  }

  /** Draws from the model of a name; undefined = it has none. */
  async #draw(name: string | undefined, drawing: Drawing): Promise<Completion | undefined> {
    const isBase = name === undefined || name === 'the-base';
    const weights = isBase ? this.#model.base : this.loaded.get(name)?.weights;
    if (!weights) return undefined;
    this.answered.push(name ?? 'the-base');
    const made = await this.#model.draw(weights, drawing);
    return { ...made, stopped: drawing.stop.includes(made.ids.at(-1) ?? -1) };
  }

  async #complete(body: Record<string, unknown>): Promise<Answer> {
    const {
      model,
      prompt,
      max_tokens: maxNew,
      seed,
      stop_token_ids: stop,
    } = body as {
      model: string;
      prompt: number[];
      max_tokens: number;
      seed: number;
      stop_token_ids?: number[];
    };
    const made = await this.#draw(model, { prompt, maxNew, stop: stop ?? [], seed });
    if (!made)
      return this.dialect === 'vllm'
        ? ANSWERS.vllm.refused(404, `The model \`${model}\` does not exist.`)
        : ANSWERS.llama.refused(400, `model '${model}' not found`);
    const { ids, logprobs, stopped } = made;
    return ok({
      object: 'text_completion',
      model: this.faults.otherName ?? model,
      choices: [
        {
          index: 0,
          text: '',
          finish_reason: stopped ? 'stop' : 'length',
          logprobs:
            this.dialect === 'vllm'
              ? { tokens: ids.map((id) => `token_id:${id}`), token_logprobs: logprobs }
              : { content: ids.map((id, i) => ({ id, token: '', logprob: logprobs[i], top_logprobs: [] })) },
        },
      ],
    });
  }

  async #generate(body: Record<string, unknown>): Promise<Answer> {
    const {
      lora_path: name,
      input_ids: prompt,
      sampling_params: params,
      top_logprobs_num: tops,
    } = body as {
      lora_path?: string;
      input_ids: number[];
      sampling_params: { max_new_tokens: number; stop_token_ids?: number[]; sampling_seed?: number };
      top_logprobs_num?: number;
    };
    const { max_new_tokens: maxNew, stop_token_ids: stop = [], sampling_seed: seed = 0 } = params;
    const made = await this.#draw(name, { prompt, maxNew, stop, seed });
    if (!made)
      return {
        status: 400,
        body: { error: { message: `The following requested LoRA adapters are not loaded: ${name}` } },
      };
    const { ids, logprobs, stopped } = made;
    const weights = name === undefined ? base : this.loaded.get(name)!.weights;
    const rows = tops ? logprobsAfter(weights, prompt) : [];
    return ok({
      text: '',
      output_ids: ids,
      meta_info: {
        finish_reason: stopped ? { type: 'stop', matched: ids.at(-1) } : { type: 'length', length: maxNew },
        completion_tokens: ids.length,
        output_token_logprobs: ids.map((id, i) => [logprobs[i], id, null]),
        ...(tops
          ? {
              input_token_logprobs: prompt.map((id, i) => [i ? rows[i - 1]![id] : null, id, null]),
              input_top_logprobs: prompt.map((_, i) =>
                i ? rows[i - 1]!.slice(0, tops).map((x, id) => [x, id, null]) : null,
              ),
            }
          : {}),
      },
    });
  }
}

/** What a version's name says of it, as a server has it. */
export const versionIn = (name: string): number => Number(/-(\d+)-[0-9a-f]{12}$/.exec(basename(name))?.[1]);

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length ? JSON.parse(Buffer.concat(chunks).toString()) : {};
}
