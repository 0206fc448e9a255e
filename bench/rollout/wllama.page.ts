/** The page side of the comparison with wllama: one checkpoint in both, each run timed inside the page. */
import * as ort from 'onnxruntime-web/wasm';
import { createPolicy, type OnnxPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import { parseConfig } from '../../model/config.ts';
import { idsOf, textOf } from './gguf-checkpoint.ts';
import { type BenchPrompt, benchPrompts, type Shape } from './prompts.ts';

export interface PageRequest {
  readonly config: unknown;
  readonly shape: Shape;
  readonly prompt: number;
  readonly maxNew: number;
}

interface Choice {
  readonly text: string;
  readonly logprobs?: { readonly content: readonly { readonly id: number; readonly logprob: number }[] };
}

/** The part of wllama's interface that is used here. */
interface Wllama {
  loadModel(files: Blob[], settings: Record<string, unknown>): Promise<void>;
  createCompletion(settings: Record<string, unknown>): Promise<{ choices: [Choice] }>;
}

interface WllamaModule {
  readonly Wllama: new (paths: { default: string }, settings: { suppressNativeLog: boolean }) => Wllama;
}

const bytesOf = async (url: string): Promise<ArrayBuffer> => (await fetch(url)).arrayBuffer();

/** A page is not held to an isolate's memory: matrices are laid out for the kernels whatever their size. */
async function openPolicy(config: unknown): Promise<OnnxPolicy> {
  ort.env.wasm.wasmBinary = await bytesOf('/ort.wasm');
  return createPolicy({
    runtime: await loadOrt(),
    ref: { name: 'bench', version: 0 },
    config: parseConfig(config),
    weights: new Uint8Array(await bytesOf('/weights.bin')),
    prepack: true,
  });
}

/**
 * One thread, as many sequences at once as there are rows, float32 throughout: with its flash attention or float16 caches
 * it is slower here and off by a thousandth of a nat or more.
 */
async function openWllama({ shape, prompt, maxNew }: PageRequest): Promise<Wllama> {
  const address = '/wllama.mjs';
  const { Wllama }: WllamaModule = await import(address);
  const wllama = new Wllama({ default: '/wllama.wasm' }, { suppressNativeLog: true });
  const rows = shape.groups * shape.samples;
  await wllama.loadModel([new Blob([await bytesOf('/model.gguf')])], {
    n_gpu_layers: 0,
    n_threads: 1,
    n_parallel: rows,
    n_ctx: rows * (prompt + maxNew),
    cache_type_k: 'f32',
    cache_type_v: 'f32',
    flash_attn: false,
    kv_unified: false,
  });
  return wllama;
}

/** Completes all rows at once. Every run computes the prompts again, as the policy does. */
const complete = (wllama: Wllama, prompts: readonly BenchPrompt[], settings: Record<string, unknown>) =>
  Promise.all(
    prompts.flatMap(({ ids, sampleIds }) =>
      sampleIds.map(async () => {
        const fixed = { prompt: textOf(ids), cache_prompt: false, top_k: 0, top_p: 1, min_p: 0 };
        return (await wllama.createCompletion({ ...fixed, ...settings })).choices[0];
      }),
    ),
  );

/** The greatest difference of log-probabilities (nats) between the two, on the tokens that wllama finds most likely. */
async function largestError(
  policy: OnnxPolicy,
  wllama: Wllama,
  prompts: readonly BenchPrompt[],
  max_tokens: number,
): Promise<number> {
  const choices = await complete(wllama, prompts, { max_tokens, temperature: 0, logprobs: 1 });
  const rows = prompts.flatMap(({ ids, sampleIds }) => sampleIds.map(() => ids));
  const tokens = choices.map(({ logprobs }) => logprobs?.content ?? []);
  const scores = await policy.score(rows.map((ids, row) => [...ids, ...tokens[row]!.map(({ id }) => id)]));
  const errors = scores.flatMap(({ logprobs }, row) =>
    tokens[row]!.map(({ logprob }, i) => Math.abs(logprob - logprobs[rows[row]!.length - 1 + i]!)),
  );
  if (errors.length !== rows.length * max_tokens) throw new Error(`wllama scored ${errors.length} tokens.`);
  return Math.max(...errors);
}

async function openBoth(request: PageRequest) {
  const policy = await openPolicy(request.config);
  const wllama = await openWllama(request);
  const { shape, prompt, maxNew } = request;
  const prompts = benchPrompts(shape, prompt, parseConfig(request.config).vocabSize);
  const timed = async (run: () => Promise<number[]>): Promise<number> => {
    const start = performance.now();
    const lengths = await run();
    const ms = performance.now() - start;
    if (lengths.some((length) => length !== maxNew)) throw new Error(`generated [${lengths}] tokens`);
    return ms;
  };
  const ours = () =>
    timed(async () => {
      const out = await policy.generate(prompts, { maxNew, temperature: 1, stop: [] });
      return out.flat().map(({ ids }) => ids.length);
    });
  const theirs = () =>
    timed(async () => {
      const out = await complete(wllama, prompts, { max_tokens: maxNew, temperature: 1 });
      return out.map(({ text }) => idsOf(text).length);
    });
  Object.assign(globalThis, { ours, theirs });
  return { error: await largestError(policy, wllama, prompts, maxNew) };
}

Object.assign(globalThis, { openBoth });
