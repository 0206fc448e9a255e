/**
 * One ONNX session of a policy's graph, and the three ways to run it: filling a cache, generating, scoring. This module knows
 * the graph's inputs and outputs; it does not handle prompts that differ in length, batching or seeds.
 */
import type * as Ort from 'onnxruntime-web/wasm';
import { patchesIn, patchNumbers, patchWidth, tokensOf } from '../core/images/patches.ts';
import type { TokenIds } from '../core/policy/policy.ts';
import type { ModelConfig } from '../model/config.ts';
import { cacheNames } from '../model/onnx/policy-graph.ts';
import { WEIGHTS_FILE } from '../model/onnx/weights.ts';
import { type Automaton, automatonOf } from './automaton.ts';
import type { Runtime } from './runtime.ts';

/**
 * Padded lengths are a multiple of this. The runtime's softmax adds up four numbers at a time, then the rest one by one, so only
 * with such lengths does padding not change the order of the sum, and thereby the last bits.
 */
export const ALIGNMENT = 4;

/** Rows of patches that are fed at least: the runtime adds up the product of a single row in another order. */
const LEAST_PATCHES = 2;

export interface Draw {
  /** The logits are divided by it; 0 takes the most likely token. */
  readonly temperature: number;
  /** How many of the most likely tokens are kept; 0 means all. */
  readonly topK: number;
  /** The probability mass of most likely tokens that is kept; 1 means all. */
  readonly topP: number;
  readonly automaton: Automaton;
}

/** The keys and values of prompts: for each layer keys, then values, [prompts, kvHeads, length, headDim] each. */
export interface KeyValues {
  readonly prompts: number;
  readonly length: number;
  readonly tensors: readonly Float32Array[];
}

export interface GenerateInputs {
  /** The number of samples of each prompt in the cache. A row is one sample: row = prompt * samples + sample. */
  readonly samples: number;
  readonly cache: KeyValues;
  /** How many of the cache's positions each prompt fills (the rest is padding), [prompts]. */
  readonly lengths: readonly number[];
  /** The token that follows the cached ones, [prompts]. */
  readonly lastIds: readonly number[];
  /** One random number in (0, 1) for each turn and row, [turns * rows]. */
  readonly uniforms: Float32Array;
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

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

type Feeds = Record<string, Ort.Tensor>;

export class PolicySession {
  readonly #runtime: Runtime;
  readonly #session: Ort.InferenceSession;
  readonly #config: ModelConfig;

  private constructor(runtime: Runtime, session: Ort.InferenceSession, config: ModelConfig) {
    this.#runtime = runtime;
    this.#session = session;
    this.#config = config;
  }

  /**
   * Loads a graph (`policyGraph(config)`) with its weight file (`packWeights`); the bytes are not needed afterwards. With
   * `prepack` the runtime keeps float32 matrices in the order in which its kernels read them; while loading, the originals are kept too.
   */
  static async create(
    runtime: Runtime,
    config: ModelConfig,
    graph: Uint8Array,
    weights: Uint8Array,
    prepack: boolean,
  ): Promise<PolicySession> {
    const session = await runtime.inTurn(() =>
      runtime.ort.InferenceSession.create(graph, {
        ...runtime.options,
        graphOptimizationLevel: 'all',
        logSeverityLevel: 3,
        externalData: [{ path: WEIGHTS_FILE, data: weights }],
        extra: { session: { disable_prepacking: prepack ? '0' : '1' } },
      }),
    );
    return new PolicySession(runtime, session, config);
  }

  release(): Promise<void> {
    return this.#runtime.inTurn(() => this.#session.release());
  }

  #run(feeds: Feeds, outputs: readonly string[]): Promise<Ort.InferenceSession.OnnxValueMapType> {
    return this.#runtime.inTurn(() => this.#session.run(feeds, outputs));
  }

  /** Computes the caches of equally long rows, ids [rows * length], without sampling. The length is a multiple of ALIGNMENT. */
  async fill(ids: readonly number[], rows: number): Promise<KeyValues> {
    const names = cacheNames(this.#config, 'present');
    const out = await this.#run({ ...this.#wholeRows(ids, rows), ...this.#picks([0]) }, names);
    return { prompts: rows, length: ids.length / rows, tensors: names.map((name) => floats(out[name])) };
  }

  /** Samples tokens and their log-probabilities (nats), [turns done * rows] each. The turns end early when every row has stopped. */
  async generate(
    inputs: GenerateInputs,
    draw: Draw,
  ): Promise<{ tokens: BigInt64Array; logprobs: Float32Array }> {
    const { samples, cache, lengths, lastIds, uniforms } = inputs;
    const { vocabSize } = this.#config;
    const { prompts, length } = cache;
    const rows = samples * prompts;
    const turns = uniforms.length / rows;
    const greedy = draw.temperature === 0;
    const truncate = !greedy && (draw.topP < 1 || (draw.topK > 0 && draw.topK < vocabSize));
    const { restricts } = draw.automaton;
    const perRow = <T>(values: readonly T[]): T[] =>
      values.flatMap((value) => range(samples).map(() => value));
    const mask = new Float32Array(prompts * (length + 1));
    lengths.forEach((own, prompt) => {
      const from = prompt * (length + 1);
      mask.fill(Number.NEGATIVE_INFINITY, from + own, from + length);
    });
    const out = await this.#run(
      {
        ...this.#picks(range(rows)),
        next_shape: this.#int64([prompts, samples]),
        ...this.#ids(perRow(lastIds), [prompts, samples]),
        position: this.#int64(perRow(lengths), [prompts, samples]),
        ...this.#shapes(prompts, samples, 1),
        mask: this.#float32(mask, [prompts, 1, 1, 1, 1, length + 1]),
        next_mask: this.#float32(new Float32Array(prompts), [prompts, 1, 1, 1, 1, 1]),
        widths: this.#int64([length, 1]),
        turns: this.#int64([turns], []),
        uniforms: this.#float32(uniforms, [turns, rows, 1]),
        inverse_temperature: this.#float32([greedy ? 1 : 1 / draw.temperature], []),
        greedy: this.#bool(greedy),
        truncate: this.#bool(truncate),
        top_k: this.#int64([draw.topK > 0 ? Math.min(draw.topK, vocabSize) : vocabSize]),
        top_p: this.#float32([draw.topP < 1 ? draw.topP : 2], []),
        restrict: this.#bool(truncate || restricts),
        ...this.#automaton(draw.automaton),
        ...this.#past(cache),
      },
      ['tokens', 'logprobs'],
    );
    return { tokens: integers(out.tokens), logprobs: floats(out.logprobs) };
  }

  /**
   * The log-probabilities (nats) of `targets` after the tokens at `picks` (indices into ids [rows * length], length a multiple of
   * ALIGNMENT), and the entropies (nats) of those distributions; [picks] each. `heads`: whether the graph has a head, whose outputs [picks * outputs]
   * are then told, too.
   */
  async score(
    ids: readonly number[],
    rows: number,
    picks: readonly number[],
    targets: readonly number[],
    heads: boolean,
  ): Promise<{ logprobs: Float32Array; entropy: Float32Array; heads: Float32Array | undefined }> {
    const out = await this.#run(
      {
        ...this.#wholeRows(ids, rows),
        ...this.#picks(picks),
        targets: this.#int64(tokensOf(targets, this.#config.vision), [targets.length, 1]),
      },
      ['target_logprobs', 'entropy', ...(heads ? ['last_heads'] : [])],
    );
    return {
      logprobs: floats(out.target_logprobs),
      entropy: floats(out.entropy),
      heads: heads ? floats(out.last_heads) : undefined,
    };
  }

  /** The logits after the tokens at `picks`, as for `score`; [picks, vocabulary]. */
  async logits(ids: readonly number[], rows: number, picks: readonly number[]): Promise<Float32Array> {
    const out = await this.#run({ ...this.#wholeRows(ids, rows), ...this.#picks(picks) }, ['last_logits']);
    return floats(out.last_logits);
  }

  /** The feeds for one turn over whole rows, from their first token on. */
  #wholeRows(ids: readonly number[], rows: number): Feeds {
    const { kvHeads, headDim } = this.#config;
    const length = ids.length / rows;
    // A shared cache that the mask hides. It is needed because the runtime leaves the product with an empty cache uninitialised.
    const hidden = ALIGNMENT;
    const width = hidden + length;
    const mask = new Float32Array(length * width).fill(Number.NEGATIVE_INFINITY);
    for (let i = 0; i < length; i++) mask.fill(0, i * width + hidden, i * width + hidden + i + 1);
    const past = range(2 * this.#config.layers.length).map(
      () => new Float32Array(rows * kvHeads * hidden * headDim),
    );
    return {
      ...this.#ids(ids, [rows, length]),
      position: this.#int64(
        ids.map((_, i) => i % length),
        [rows, length],
      ),
      ...this.#shapes(rows, 1, length),
      mask: this.#float32(mask, [1, 1, 1, 1, length, width]),
      next_mask: this.#float32(new Float32Array(length), [1, 1, 1, 1, length, 1]),
      widths: this.#int64([hidden, length]),
      turns: this.#int64([1], []),
      ...this.#past({ prompts: rows, length: hidden, tensors: past }),
    };
  }

  /** The feeds of ids, row by row. Where the model sees, patches are numbered from vocabSize on, and fed beside them. */
  #ids(ids: TokenIds, dims: readonly number[]): Feeds {
    const { vision, vocabSize } = this.#config;
    if (!vision) return { ids: this.#int64(ids, dims) };
    const patches = patchesIn(ids, vision);
    const numberOf = new Map([...patches.keys()].map((at, k) => [at, vocabSize + k]));
    const width = patchWidth(vision);
    const rows = Math.max(LEAST_PATCHES, patches.size);
    const numbers = new Float32Array(rows * width);
    numbers.set(patchNumbers([...patches.values()], vision));
    return {
      ids: this.#int64(
        ids.map((id, at) => numberOf.get(at) ?? id),
        dims,
      ),
      patches: this.#float32(numbers, [rows, width]),
    };
  }

  /** The feeds that give the shape of a turn: `samples` rows for each prompt, `tokens` new tokens for each row. */
  #shapes(prompts: number, samples: number, tokens: number): Feeds {
    const { heads, kvHeads } = this.#config;
    const queries = heads / kvHeads;
    return {
      own_shape: this.#int64([prompts, kvHeads, 1, samples, tokens, -1]),
      query_shape: this.#int64([prompts, kvHeads, queries, samples, tokens, -1]),
      flat_shape: this.#int64([prompts, kvHeads, queries * samples * tokens, -1]),
    };
  }

  /** The feeds for the picked tokens, and for a draw whose result is not used. */
  #picks(picks: readonly number[]): Feeds {
    const picked = picks.length;
    const { vocabSize } = this.#config;
    return {
      picks: this.#int64(picks),
      next_shape: this.#int64([picked, 1]),
      alive: this.#float32(new Float32Array(picked).fill(1), [picked, 1]),
      targets: this.#int64(new Array<number>(picked).fill(0), [picked, 1]),
      uniforms: this.#float32(new Float32Array(picked).fill(0.5), [1, picked, 1]),
      inverse_temperature: this.#float32([1], []),
      greedy: this.#bool(true),
      truncate: this.#bool(false),
      top_k: this.#int64([1]),
      top_p: this.#float32([2], []),
      restrict: this.#bool(false),
      ...this.#automaton(automatonOf([], undefined, vocabSize)),
      state: this.#int64(new Array<number>(picked).fill(0), [picked, 1]),
    };
  }

  #automaton({ states, classes, classOf, bias, next, goesOn }: Automaton): Feeds {
    const { Tensor } = this.#runtime.ort;
    return {
      class_of: new Tensor('int64', classOf, [classOf.length]),
      bias: this.#float32(bias, [states, classes]),
      next: new Tensor('int64', next, [states, classes]),
      goes_on: this.#float32(goesOn, [states, classes]),
    };
  }

  #past({ prompts, length, tensors }: KeyValues): Feeds {
    const dims = [prompts, this.#config.kvHeads, length, this.#config.headDim];
    const names = cacheNames(this.#config, 'past');
    return Object.fromEntries(names.map((name, i) => [name, this.#float32(tensors[i]!, dims)]));
  }

  #int64(values: readonly number[], dims: readonly number[] = [values.length]): Ort.Tensor {
    return new this.#runtime.ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);
  }

  #float32(values: Float32Array | readonly number[], dims: readonly number[]): Ort.Tensor {
    return new this.#runtime.ort.Tensor('float32', Float32Array.from(values), dims);
  }

  #bool(value: boolean): Ort.Tensor {
    return new this.#runtime.ort.Tensor('bool', [value], []);
  }
}
