/** Runs a decoder by calls of the kernels: embedding, layers and logits, for any number of tokens (rows) at once. */
import {
  isPatch,
  type Patch,
  patchesIn,
  patchNumbers,
  patchWidth,
  tokensOf,
} from '../../core/images/patches.ts';
import type { HeadKind, TokenIds } from '../../core/policy/policy.ts';
import type { ModelConfig } from '../../model/config.ts';
import type { HeadWeights } from '../../model/head.ts';
import { type LayerSpec, type Rope, ropesOf } from '../../model/layers.ts';
import { contextLength } from '../../model/onnx/policy-graph.ts';
import { ropeTable } from '../../model/rope.ts';
import { rowsOf } from '../batches.ts';
import { type Heap, roundUp } from './heap.ts';
import type { KernelInstance, Kernels } from './kernels.ts';
import { fill, type Matrix, reserve } from './matrix.ts';
import type { LayerWeights, Weights } from './weights.ts';

/** The addresses of the work areas of a pass over at most `rows` rows; each is float32 [rows, …] unless said otherwise. */
export interface Work {
  readonly rows: number;
  /** The numbers of patches of images [patchWidth]; there is none of rows where the model does not see. */
  readonly patches: number;
  /** The residual stream [hidden]. */
  readonly x: number;
  /** The input of a product [widest input]. */
  readonly input: number;
  /** A block's output that is normed before it is added [hidden]; there is none of rows where no layer has such a norm. */
  readonly out: number;
  /** Queries, keys, values [qkvWidth]. */
  readonly qkv: number;
  /** Gate and up [2 * intermediate, each rounded up to 8]. */
  readonly gateUp: number;
  /** The integer activations, in one or two planes, and (`integerScales`) their scales. */
  readonly integers: number;
  readonly integerScales: number;
  /** The reciprocal norms of rows, or of the heads of one row. */
  readonly inverse: number;
  /** The token ids and (`positions`) their positions, i32. */
  readonly ids: number;
  readonly positions: number;
  /** The work area of attention (`attentionWords` words). */
  readonly attention: number;
  /** The addresses of the tables of each rotary embedding, with a row for each position of the pass. */
  readonly rotations: ReadonlyMap<Rope, number>;
}

/** A head in the kernels' memory. */
export interface DecoderHead {
  readonly kind: HeadKind;
  readonly outputs: number;
  readonly matrix: Matrix;
  /** The address of the bias, as wide as the matrix. */
  readonly bias: number;
}

/** What the kernels take for attention that sees all keys. */
const ALL_KEYS = 2 ** 31 - 1;

/** Computes a layer's attention: adds the keys and values in `work.qkv` to a cache and writes the output for its queries to `work.input`. */
export type Attend = (layer: number) => void;

export class Decoder {
  readonly config: ModelConfig;
  readonly kernels: Kernels;
  readonly heap: Heap;
  /** The number of values in a row of queries, keys and values. */
  readonly qkvWidth: number;
  /** The number of values in a row of logits: the vocabulary's size, rounded up to a multiple of 8. */
  readonly logitsWidth: number;
  readonly head: DecoderHead | undefined;
  readonly #weights: Weights;
  readonly #planes: 0 | 1 | 2;
  readonly #normsOutputs: boolean;

  /** `head` is laid out on the heap of the instance, in float32 whatever the form of the weights. */
  constructor(
    { kernels, heap }: KernelInstance,
    config: ModelConfig,
    weights: Weights,
    planes: 0 | 1 | 2,
    head?: HeadWeights,
  ) {
    const { heads, kvHeads, headDim, vocabSize } = config;
    this.config = config;
    this.kernels = kernels;
    this.heap = heap;
    this.qkvWidth = (heads + 2 * kvHeads) * headDim;
    this.logitsWidth = roundUp(vocabSize, 8);
    this.#weights = weights;
    this.#planes = planes;
    this.#normsOutputs = config.layers.some(({ norms }) => norms.attention.after || norms.mlp.after);
    this.head = head && this.#layOut(head);
  }

  #layOut({ kind, outputs, weight, bias }: HeadWeights): DecoderHead {
    const { kernels, heap, config } = this;
    const matrix = reserve(heap, outputs, config.hiddenSize, false);
    fill(kernels, heap, matrix, 0, weight);
    const at = heap.take(4 * matrix.n);
    heap.floats(at, outputs).set(bias);
    return { kind, outputs, matrix, bias: at };
  }

  /** Takes the work areas for passes over at most `rows` tokens, or over one token of each of `samples` samples, of sequences with at most so many `positions`. */
  work(rows: number, samples: number, positions: number): Work {
    const { hiddenSize, intermediateSize, heads, kvHeads, headDim } = this.config;
    const { heap, kernels } = this;
    const widest = Math.max(hiddenSize, intermediateSize, heads * headDim);
    const patch = this.#patchWidth;
    const group = heads / kvHeads;
    const keys = positions + 8;
    const attention = kernels.attentionWords(samples, keys, heads, kvHeads, headDim);
    // The scratch area holds the left side of a product: the rows of a pass, or attention's rows over their keys.
    kernels.setScratch(
      heap.take(
        4 *
          Math.max(
            rows * Math.max(widest, patch),
            Math.max(samples, 12) * group * Math.max(keys + 8, headDim),
          ),
      ),
    );
    return {
      rows,
      patches: heap.take(4 * rows * patch),
      x: heap.take(4 * rows * hiddenSize),
      input: heap.take(4 * rows * widest),
      out: heap.take(this.#normsOutputs ? 4 * rows * hiddenSize : 0),
      qkv: heap.take(4 * rows * this.qkvWidth),
      gateUp: heap.take(4 * rows * 2 * roundUp(intermediateSize, 8)),
      integers: heap.take(this.#planes * rows * widest),
      integerScales: heap.take(4 * rows),
      inverse: heap.take(4 * Math.max(rows, heads)),
      ids: heap.take(4 * rows),
      positions: heap.take(4 * rows),
      attention: heap.take(4 * attention),
      rotations: this.#rotations(positions),
    };
  }

  /** The tables that lie with the weights; for more positions than they have, longer ones beside the work areas. */
  #rotations(positions: number): ReadonlyMap<Rope, number> {
    const { config, heap } = this;
    if (positions <= contextLength(config)) return this.#weights.rotations;
    return new Map(
      ropesOf(config.layers).map((rope) => [rope, heap.put(ropeTable(rope, config.headDim, positions))]),
    );
  }

  /** How many keys a layer's attention sees, and the scalar by whose root its scores are divided. */
  attended(layer: number): [window: number, scalar: number] {
    return [this.config.layers[layer]!.window ?? ALL_KEYS, this.config.queryScalar];
  }

  /** The bytes of the weights, and of what lies before them. */
  get weightBytes(): number {
    return this.#weights.end;
  }

  /** The bytes that a row of a batch takes beside its cache: its share of the work areas, and its logits. */
  get rowBytes(): number {
    const { hiddenSize, intermediateSize, heads, headDim } = this.config;
    const widest = Math.max(hiddenSize, intermediateSize, heads * headDim);
    const values =
      (this.#normsOutputs ? 2 : 1) * hiddenSize +
      2 * widest +
      2 * this.#patchWidth +
      this.qkvWidth +
      2 * roundUp(intermediateSize, 8) +
      this.logitsWidth;
    return 4 * values + this.#planes * widest;
  }

  get #patchWidth(): number {
    const { vision } = this.config;
    return vision ? patchWidth(vision) : 0;
  }

  /** The patches of a whole sequence by their indices; undefined where the model does not see, or there are none. */
  patchesIn(ids: TokenIds): ReadonlyMap<number, Patch> | undefined {
    const { vision } = this.config;
    return vision && ids.some(isPatch) ? patchesIn(ids, vision) : undefined;
  }

  /** Adds what the patches are projected to to the rows of `work.x` that they are. */
  #see(work: Work, seen: readonly (Patch | undefined)[]): void {
    const { kernels, heap } = this;
    const { hiddenSize: d, vision } = this.config;
    const { n, k, at, panel } = this.#weights.patchProjection!;
    for (let from = 0; from < seen.length; from++) {
      const end = seen.indexOf(undefined, from);
      const run = seen.slice(from, end < 0 ? seen.length : end) as Patch[];
      if (!run.length) continue;
      heap.floats(work.patches, run.length * k).set(patchNumbers(run, vision!));
      kernels.linear(run.length, n, k, work.patches, k, at, panel, work.x + 4 * from * d, d, 1);
      from += run.length;
    }
  }

  /** Runs the tokens `ids` at `positions` through all layers. Their hidden states are then in `work.x`. `seen`: those of them that are patches. */
  run(
    work: Work,
    ids: readonly number[],
    positions: readonly number[],
    attend: Attend,
    seen?: readonly (Patch | undefined)[],
  ): void {
    const { kernels, heap } = this;
    const { hiddenSize: d, scalesEmbeddings } = this.config;
    const { embedding, layers } = this.#weights;
    const rows = ids.length;
    heap.integers(work.ids, rows).set(tokensOf(ids, this.config.vision));
    heap.integers(work.positions, rows).set(positions);
    if (embedding.int8) kernels.embedInt8(rows, d, embedding.at, embedding.scales, work.ids, work.x);
    else kernels.embed(rows, d, embedding.at, work.ids, work.x);
    if (scalesEmbeddings) kernels.scaleAdd(rows * d, work.x, work.x, Math.sqrt(d), 0, 0, 1);
    if (seen) this.#see(work, seen);
    layers.forEach((weights, layer) => {
      this.#attention(rows, work, weights, this.config.layers[layer]!, () => attend(layer));
      this.#feedForward(rows, work, weights, this.config.layers[layer]!);
    });
  }

  #attention(
    rows: number,
    work: Work,
    weights: LayerWeights,
    { rope, qkNorm }: LayerSpec,
    attend: () => void,
  ): void {
    const { kernels, qkvWidth } = this;
    const { heads, kvHeads, headDim, rmsNormEps: eps } = this.config;
    const { qkv, inverse } = work;
    this.#enter(rows, work, weights.attention.before);
    if (weights.qkvBias) kernels.fillRows(rows, qkvWidth, weights.qkvBias, qkv, qkvWidth);
    this.#product(rows, work, weights.qkv, qkv, qkvWidth, weights.qkvBias !== 0);
    if (weights.qNorm) {
      const keys = qkv + 4 * heads * headDim;
      // All heads as one row are a single wide head.
      const norm = (count: number, x: number, gain: number) =>
        qkNorm === 'whole'
          ? kernels.normHeads(rows, qkvWidth, 1, count * headDim, x, gain, inverse, eps)
          : kernels.normHeads(rows, qkvWidth, count, headDim, x, gain, inverse, eps);
      norm(heads, qkv, weights.qNorm);
      norm(kvHeads, keys, weights.kNorm);
    }
    const table = rope && work.rotations.get(rope)!;
    if (table) kernels.rotate(rows, qkvWidth, heads + kvHeads, headDim, qkv, work.positions, table);
    attend();
    this.#leave(rows, work, weights.output, weights.attention.after);
  }

  #feedForward(
    rows: number,
    work: Work,
    { mlp, gateUp, upAt, down }: LayerWeights,
    { activation }: LayerSpec,
  ): void {
    const { kernels } = this;
    const { intermediateSize: f } = this.config;
    this.#enter(rows, work, mlp.before);
    this.#product(rows, work, gateUp, work.gateUp, gateUp.n, false);
    const gate = activation === 'silu' ? kernels.gate : kernels.gateGelu;
    gate(rows, f, work.gateUp, gateUp.n, upAt, work.input);
    this.#leave(rows, work, down, mlp.after);
  }

  /** Writes the input of a block to `work.input`: the residual stream, by the norm before the block where there is one. */
  #enter(rows: number, { x, input, inverse }: Work, gain: number): void {
    const { kernels } = this;
    const { hiddenSize: d, rmsNormEps: eps } = this.config;
    if (gain) kernels.rmsNorm(rows, d, x, gain, input, inverse, eps);
    else kernels.scaleAdd(rows * d, x, input, 1, 0, 0, 1);
  }

  /** Adds a block's last product to the residual stream, by the norm after the block where there is one. */
  #leave(rows: number, work: Work, matrix: Matrix, gain: number): void {
    const { kernels } = this;
    const { hiddenSize: d, rmsNormEps: eps } = this.config;
    const { x, out, inverse } = work;
    this.#product(rows, work, matrix, gain ? out : x, d, !gain);
    if (!gain) return;
    kernels.rmsNorm(rows, d, out, gain, out, inverse, eps);
    kernels.scaleAdd(rows * d, out, x, 1, 1, 0, 1);
  }

  /** c [rows, n] (+)= work.input [rows, k] times a matrix; the rows of c are `ldc` values apart. */
  #product(rows: number, work: Work, matrix: Matrix, c: number, ldc: number, add: boolean): void {
    const { kernels } = this;
    const { input, integers, integerScales } = work;
    const { n, k, at, corrections, scales, panel } = matrix;
    if (this.#planes === 0) {
      kernels.linear(rows, n, k, input, k, at, panel, c, ldc, Number(add));
      return;
    }
    const two = this.#planes === 2;
    if (two) kernels.quantizeRowsTwice(rows, k, input, integers, integerScales);
    else kernels.quantizeRows(rows, k, input, integers, integerScales);
    kernels.linearInt8(
      rows,
      n,
      k,
      integers,
      integerScales,
      at,
      corrections,
      scales,
      c,
      ldc,
      Number(add),
      Number(two),
    );
  }

  /** Returns the head's outputs [rows, outputs] for the first `rows` rows of `work.x`; `to` is an area of `rows` times the matrix's width. */
  heads(
    { outputs, matrix: { n, k, at, panel }, bias }: DecoderHead,
    rows: number,
    work: Work,
    to: number,
  ): number[][] {
    const { kernels, heap } = this;
    kernels.rmsNorm(
      rows,
      k,
      work.x,
      this.#weights.finalNorm,
      work.input,
      work.inverse,
      this.config.rmsNormEps,
    );
    kernels.fillRows(rows, n, bias, to, n);
    kernels.linear(rows, n, k, work.input, k, at, panel, to, n, 1);
    return rowsOf(heap.floats(to, rows * n), n).map((row) => row.slice(0, outputs));
  }

  /** Writes the logits of the first `rows` rows of `work.x` to `logits` [rows, logitsWidth]. */
  logits(rows: number, work: Work, logits: number): void {
    const { hiddenSize: d, rmsNormEps: eps } = this.config;
    const { finalNorm, head } = this.#weights;
    this.kernels.rmsNorm(rows, d, work.x, finalNorm, work.input, work.inverse, eps);
    this.#product(rows, work, head, logits, this.logitsWidth, false);
  }
}
