/**
 * One ONNX session of a policy's graph, and the three ways it is run: filling a cache, generating, scoring. Knows the
 * graph's inputs and outputs; knows nothing of prompts that differ in length, batches or seeds.
 */
import type * as Ort from 'onnxruntime-web/wasm';
import type { ModelConfig } from '../model/config.ts';
import { cacheNames } from '../model/onnx/policy-graph.ts';
import { paddedHeadDim, WEIGHTS_FILE } from '../model/onnx/weights.ts';
import type { Runtime } from './runtime.ts';

export interface Draw {
  /** Divides the logits; 0 takes the most likely token. */
  readonly temperature: number;
  /** 0 = off. */
  readonly topK: number;
  /** 1 = off. */
  readonly topP: number;
  readonly stop: readonly number[];
}

/** Keys and values of prompts, [prompts, kvHeads, length, headDim] a tensor. */
export type KeyValues = readonly Ort.Tensor[];

export interface GenerateInputs {
  /** Last token of each row's prompt, [rows]; its cache holds all before it. */
  readonly lastIds: readonly number[];
  /** Position of that token, [rows]. */
  readonly positions: readonly number[];
  /** Which prompt of the cache a row goes on from, [rows]. */
  readonly prompts: readonly number[];
  /** One number a turn and row, [turns * rows], each in (0, 1). */
  readonly uniforms: Float32Array;
  readonly cache: KeyValues;
}

const floats = (tensor: Ort.Tensor | undefined): Float32Array => {
  if (!(tensor?.data instanceof Float32Array))
    throw new Error('internal: an output is missing or not float32');
  return tensor.data;
};

const integers = (tensor: Ort.Tensor | undefined): BigInt64Array => {
  if (!(tensor?.data instanceof BigInt64Array))
    throw new Error('internal: an output is missing or not int64');
  return tensor.data;
};

export class PolicySession {
  readonly #ort: typeof Ort;
  readonly #session: Ort.InferenceSession;
  readonly #config: ModelConfig;

  private constructor(ort: typeof Ort, session: Ort.InferenceSession, config: ModelConfig) {
    this.#ort = ort;
    this.#session = session;
    this.#config = config;
  }

  /** Loads a graph (`policyGraph(config)`) with its weight file (`packWeights`); the bytes are not needed afterwards. */
  static async create(
    runtime: Runtime,
    config: ModelConfig,
    graph: Uint8Array,
    weights: Uint8Array,
  ): Promise<PolicySession> {
    const session = await runtime.ort.InferenceSession.create(graph, {
      executionProviders: ['wasm'],
      graphOptimizationLevel: 'all',
      externalData: [{ path: WEIGHTS_FILE, data: weights }],
    });
    return new PolicySession(runtime.ort, session, config);
  }

  release(): Promise<void> {
    return this.#session.release();
  }

  /** Caches of whole rows, ids [rows * length]; nothing is sampled. */
  async fill(ids: readonly number[], rows: number): Promise<KeyValues> {
    const names = cacheNames(this.#config, 'present');
    const out = await this.#session.run(
      this.#feeds({
        ids: this.#int64(ids, [rows, ids.length / rows]),
        last_position: this.#int32(new Array<number>(rows).fill(ids.length / rows - 1)),
        rows: this.#int64(range(rows)),
        positions: this.#int64([0]),
      }),
      names,
    );
    return names.map((name) => out[name]!);
  }

  /** An empty cache: for prompts of one token. */
  emptyCache(rows: number): KeyValues {
    const dims = [rows, this.#config.kvHeads, 0, paddedHeadDim(this.#config)];
    return cacheNames(this.#config, 'past').map(
      () => new this.#ort.Tensor('float32', new Float32Array(0), dims),
    );
  }

  /** Tokens and log-probabilities, [turns done * rows] each; turns end early when every row has stopped. */
  async generate(
    { lastIds, positions, prompts, uniforms, cache }: GenerateInputs,
    draw: Draw,
  ): Promise<{ tokens: BigInt64Array; logprobs: Float32Array }> {
    const rows = lastIds.length;
    const turns = uniforms.length / rows;
    const greedy = draw.temperature === 0;
    const { vocabSize } = this.#config;
    const truncate = !greedy && (draw.topP < 1 || (draw.topK > 0 && draw.topK < vocabSize));
    const goesOn = new Float32Array(vocabSize).fill(1);
    for (const id of draw.stop) goesOn[id] = 0;
    const out = await this.#session.run(
      this.#feeds(
        {
          ids: this.#int64(lastIds, [rows, 1]),
          last_position: this.#int32(positions),
          rows: this.#int64(prompts),
          positions: this.#int64(range(rows)),
          turns: this.#int64([turns], []),
          uniforms: new this.#ort.Tensor('float32', uniforms, [turns, rows, 1]),
          inverse_temperature: this.#float(greedy ? 1 : 1 / draw.temperature),
          greedy: this.#bool(greedy),
          truncate: this.#bool(truncate),
          top_k: this.#int64([draw.topK > 0 ? Math.min(draw.topK, vocabSize) : vocabSize]),
          top_p: this.#float(draw.topP < 1 ? draw.topP : 2),
          goes_on: new this.#ort.Tensor('float32', goesOn, [vocabSize]),
        },
        cache,
      ),
      ['tokens', 'logprobs'],
    );
    return { tokens: integers(out.tokens), logprobs: floats(out.logprobs) };
  }

  /**
   * Log-probabilities (nats) of `targets` after the tokens at `positions` (indices into ids [rows * length]), and the
   * entropies of those distributions; [positions] each.
   */
  async score(
    ids: readonly number[],
    rows: number,
    positions: readonly number[],
    targets: readonly number[],
  ): Promise<{ logprobs: Float32Array; entropy: Float32Array }> {
    const out = await this.#session.run(
      this.#feeds({
        ids: this.#int64(ids, [rows, ids.length / rows]),
        last_position: this.#int32(new Array<number>(rows).fill(ids.length / rows - 1)),
        rows: this.#int64(range(rows)),
        positions: this.#int64(positions),
        targets: this.#int64(targets, [targets.length, 1]),
      }),
      ['target_logprobs', 'entropy'],
    );
    return { logprobs: floats(out.target_logprobs), entropy: floats(out.entropy) };
  }

  /** Given inputs over the ones that say: one turn, nothing sampled that anybody reads, no cache. */
  #feeds(
    given: { ids: Ort.Tensor; rows: Ort.Tensor; positions: Ort.Tensor } & Record<string, Ort.Tensor>,
    cache: KeyValues = this.emptyCache(given.rows.dims[0]!),
  ): Record<string, Ort.Tensor> {
    const picked = given.positions.dims[0]!;
    const { vocabSize } = this.#config;
    return {
      turns: this.#int64([1], []),
      uniforms: new this.#ort.Tensor('float32', new Float32Array(picked).fill(0.5), [1, picked, 1]),
      inverse_temperature: this.#float(1),
      greedy: this.#bool(true),
      truncate: this.#bool(false),
      top_k: this.#int64([1]),
      top_p: this.#float(2),
      goes_on: new this.#ort.Tensor('float32', new Float32Array(vocabSize), [vocabSize]),
      alive: new this.#ort.Tensor('float32', new Float32Array(picked).fill(1), [picked, 1]),
      targets: this.#int64(new Array<number>(picked).fill(0), [picked, 1]),
      ...Object.fromEntries(cacheNames(this.#config, 'past').map((name, i) => [name, cache[i]!])),
      ...given,
    };
  }

  #int64(values: readonly number[], dims: readonly number[] = [values.length]): Ort.Tensor {
    return new this.#ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);
  }

  #int32(values: readonly number[]): Ort.Tensor {
    return new this.#ort.Tensor('int32', Int32Array.from(values), [values.length]);
  }

  #float(value: number): Ort.Tensor {
    return new this.#ort.Tensor('float32', Float32Array.of(value), []);
  }

  #bool(value: boolean): Ort.Tensor {
    return new this.#ort.Tensor('bool', [value], []);
  }
}

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);
