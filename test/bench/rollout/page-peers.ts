/** The peers as they are opened in a page: transformers.js over ONNX Runtime's wasm, and wllama, llama.cpp as wasm. */
import { idsOf, textOf } from './gguf-checkpoint.ts';
import type { BenchPrompt } from './prompts.ts';

/** A row's most likely tokens, one after another, with the log-probabilities (nats) that the peer gives them. */
export interface GreedyRow {
  readonly ids: number[];
  readonly logprobs: number[];
}

export interface PagePeer {
  /** Draws all samples from the prompts on; resolves with the number of tokens of each. */
  sample(): Promise<number[]>;
  greedy(): Promise<GreedyRow[]>;
}

const importFrom = <T>(address: string): Promise<T> => import(address);

const blobOf = async (url: string): Promise<Blob> => (await fetch(url)).blob();

interface Choice {
  readonly text: string;
  readonly logprobs?: { readonly content: readonly { readonly id: number; readonly logprob: number }[] };
}

/** The parts of wllama's interface that are used here. */
interface Wllama {
  loadModel(files: Blob[], settings: Record<string, unknown>): Promise<void>;
  createCompletion(settings: Record<string, unknown>): Promise<{ choices: [Choice] }>;
}

interface WllamaModule {
  readonly Wllama: new (paths: { default: string }, settings: { suppressNativeLog: boolean }) => Wllama;
}

/**
 * One thread, as many sequences at once as there are rows. Each row is a request of its own, as of several completions of one request the
 * package returns one. Caches are in float32: with float16 caches or its flash attention it is no faster here, and off by a thousandth of
 * a nat or more.
 */
export async function openWllama(
  file: string,
  prompts: readonly BenchPrompt[],
  maxNew: number,
): Promise<PagePeer> {
  const { Wllama } = await importFrom<WllamaModule>('/wllama.mjs');
  const wllama = new Wllama({ default: '/wllama.wasm' }, { suppressNativeLog: true });
  const rows = prompts.flatMap(({ ids, sampleIds }) => sampleIds.map(() => ids));
  await wllama.loadModel([await blobOf(file)], {
    n_gpu_layers: 0,
    n_threads: 1,
    n_parallel: rows.length,
    n_ctx: rows.length * (rows[0]!.length + maxNew),
    cache_type_k: 'f32',
    cache_type_v: 'f32',
    flash_attn: false,
    kv_unified: false,
  });
  // Every run computes the prompts again, as the policy does.
  const fixed = { max_tokens: maxNew, cache_prompt: false, top_k: 0, top_p: 1, min_p: 0 };
  const complete = (settings: Record<string, unknown>): Promise<Choice[]> =>
    Promise.all(
      rows.map(async (ids) => {
        const { choices } = await wllama.createCompletion({ prompt: textOf(ids), ...fixed, ...settings });
        return choices[0];
      }),
    );
  return {
    sample: async () => (await complete({ temperature: 1 })).map(({ text }) => idsOf(text).length),
    greedy: async () =>
      (await complete({ temperature: 0, logprobs: 1 })).map(({ logprobs }) => ({
        ids: (logprobs?.content ?? []).map(({ id }) => id),
        logprobs: (logprobs?.content ?? []).map(({ logprob }) => logprob),
      })),
  };
}

interface TransformersTensor {
  readonly dims: readonly number[];
  readonly data: ArrayLike<number | bigint>;
}

type Inputs = Record<string, TransformersTensor>;

interface CausalModel {
  (inputs: Inputs): Promise<{ logits: TransformersTensor }>;
  generate(settings: Record<string, unknown>): Promise<TransformersTensor>;
}

/** The parts of transformers.js that are used here. */
interface TransformersModule {
  readonly env: {
    allowRemoteModels: boolean;
    allowLocalModels: boolean;
    localModelPath: string;
    useBrowserCache: boolean;
    useWasmCache: boolean;
    readonly backends: {
      readonly onnx: { readonly wasm: { numThreads: number; wasmPaths: { mjs: string; wasm: string } } };
    };
  };
  readonly AutoModelForCausalLM: {
    from_pretrained(name: string, settings: Record<string, unknown>): Promise<CausalModel>;
  };
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => TransformersTensor;
}

/** One thread, in ONNX Runtime's build for processors alone: the one that transformers.js takes by itself also holds WebGPU. */
export async function openTransformers(
  folder: string,
  prompts: readonly BenchPrompt[],
  maxNew: number,
): Promise<PagePeer> {
  const { env, AutoModelForCausalLM, Tensor } = await importFrom<TransformersModule>('/transformers.mjs');
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = '/models/';
  env.useBrowserCache = false;
  env.useWasmCache = false;
  env.backends.onnx.wasm.numThreads = 1;
  env.backends.onnx.wasm.wasmPaths = { mjs: '/transformers-ort.mjs', wasm: '/transformers-ort.wasm' };
  const model = await AutoModelForCausalLM.from_pretrained(folder, {
    dtype: 'fp32',
    device: 'wasm',
    session_options: {
      externalData: [
        {
          path: 'weights.bin',
          data: new Uint8Array(await (await blobOf(`/models/${folder}/weights.bin`)).arrayBuffer()),
        },
      ],
      logSeverityLevel: 3,
    },
  });
  const rows = prompts.flatMap(({ ids, sampleIds }) => sampleIds.map(() => ids));
  const inputs = (sequences: readonly (readonly number[])[]): Inputs => {
    const dims = [sequences.length, sequences[0]!.length];
    const ids = BigInt64Array.from(sequences.flat(), BigInt);
    return {
      input_ids: new Tensor('int64', ids, dims),
      attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), dims),
    };
  };
  const generate = async (settings: Record<string, unknown>): Promise<number[][]> => {
    const fixed = { max_new_tokens: maxNew, eos_token_id: null };
    const { dims, data } = await model.generate({ ...inputs(rows), ...fixed, ...settings });
    const all = Array.from(data, Number);
    const length = dims[1]!;
    return rows.map((ids, row) => all.slice(row * length + ids.length, (row + 1) * length));
  };
  return {
    sample: async () =>
      (await generate({ do_sample: true, temperature: 1, top_k: 0 })).map(({ length }) => length),
    greedy: async () => {
      const drawn = await generate({ do_sample: false });
      const { logits } = await model(inputs(rows.map((ids, row) => [...ids, ...drawn[row]!])));
      const [, length, vocabSize] = logits.dims as [number, number, number];
      const logprob = (row: number, at: number, id: number): number => {
        const from = (row * length + at) * vocabSize;
        const place = Array.from({ length: vocabSize }, (_, i) => Number(logits.data[from + i]));
        const top = Math.max(...place);
        return place[id]! - top - Math.log(place.reduce((sum, x) => sum + Math.exp(x - top), 0));
      };
      return drawn.map((ids, row) => ({
        ids,
        logprobs: ids.map((id, i) => logprob(row, rows[row]!.length - 1 + i, id)),
      }));
    },
  };
}
