/**
 * Lays a checkpoint's tensors out where the kernels read them. Memory is reserved from the config alone; then the tensors come piece by
 * piece in any order, so that no more than one piece need be in memory besides.
 */
import { wrongInput } from '../../core/errors.ts';
import { patchWidth } from '../../core/images/patches.ts';
import { checkTensor, invalid, isRedundant, PATCH_PROJECTION, tensorShapes } from '../../model/checkpoint.ts';
import type { ModelConfig } from '../../model/config.ts';
import { type BlockNorms, type LayerSpec, type Rope, ropesOf } from '../../model/layers.ts';
import { contextLength } from '../../model/onnx/policy-graph.ts';
import { ropeTable } from '../../model/rope.ts';
import type { TensorPiece } from '../../model/safetensors-stream.ts';
import { type Areas, roundUp } from './heap.ts';
import type { KernelInstance } from './kernels.ts';
import { fill, type Matrix, reserve } from './matrix.ts';

export interface LayerWeights {
  /** The addresses of the gains of a block's norms; 0 if there are none. */
  readonly attention: { readonly before: number; readonly after: number };
  readonly mlp: { readonly before: number; readonly after: number };
  /** Queries, keys and values side by side. */
  readonly qkv: Matrix;
  /** The address of the bias of queries, keys and values; 0 if there is none. */
  readonly qkvBias: number;
  /** The addresses of the gains of the heads' norms; 0 if there are none. */
  readonly qNorm: number;
  readonly kNorm: number;
  readonly output: Matrix;
  /** Gate and up side by side; up begins at output `upAt`. */
  readonly gateUp: Matrix;
  readonly upAt: number;
  readonly down: Matrix;
}

/** Writes rows of a tensor to their place, beginning with `row`, a multiple of 8. A vector comes whole. */
interface Target {
  readonly rows: number;
  readonly write: (row: number, data: Float32Array) => void;
}

/** Throws `wrong-input` for shapes that the kernels cannot compute, since they take eight or sixteen numbers at a time. */
export function checkShapes(config: ModelConfig, int8: boolean): void {
  const { hiddenSize, intermediateSize, heads, headDim } = config;
  const unit = int8 ? 16 : 8;
  const widths = {
    hidden_size: hiddenSize,
    intermediate_size: intermediateSize,
    'heads * head_dim': heads * headDim,
  };
  const fits = headDim % 8 === 0 && Object.values(widths).every((width) => width % unit === 0);
  if (fits) return;
  const text = Object.entries({ ...widths, head_dim: headDim }).map(([name, width]) => `${name} ${width}`);
  throw wrongInput('kernels.shape', `The kernels engine cannot compute a model with ${text.join(', ')}.`, {
    expected: `head_dim to be a multiple of 8 and the others of ${unit}`,
    next: 'Use the onnx engine.',
  });
}

export class Weights {
  readonly #instance: KernelInstance;
  readonly #areas: Areas;
  readonly #config: ModelConfig;
  readonly #int8: boolean;
  readonly #targets = new Map<string, Target>();
  /** How many numbers of each tensor have not come yet. */
  readonly #missing: Map<string, number>;
  readonly #shapes: ReadonlyMap<string, readonly number[]>;
  readonly layers: readonly LayerWeights[];
  /** [vocab, hidden]; it is also the output projection if embeddings are tied. */
  readonly embedding: Matrix;
  /** Of patches of images into embeddings, in float32 whatever the form of the others; only where the model sees. */
  readonly patchProjection: Matrix | undefined;
  readonly head: Matrix;
  readonly finalNorm: number;
  /** The addresses of the tables of each rotary embedding, [positions, headDim]: cosines, then sines. */
  readonly rotations: ReadonlyMap<Rope, number>;
  /** The first address after them. */
  readonly end: number;

  /**
   * `areas`: where the weights lie; by default they are taken of the instance's heap. Weights that another thread lays out are at the addresses that
   * areas from the same address on give.
   */
  constructor(instance: KernelInstance, config: ModelConfig, int8: boolean, areas: Areas = instance.heap) {
    checkShapes(config, int8);
    this.#instance = instance;
    this.#areas = areas;
    this.#config = config;
    this.#int8 = int8;
    this.#shapes = tensorShapes(config);
    this.#missing = new Map(
      [...this.#shapes].map(([name, shape]) => [name, shape.reduce((a, b) => a * b, 1)]),
    );
    const { hiddenSize: d, vocabSize } = config;
    this.embedding = this.#matrix(d, [['model.embed_tokens.weight', vocabSize]]);
    this.patchProjection =
      config.vision && this.#matrix(patchWidth(config.vision), [[PATCH_PROJECTION, d]], false);
    this.layers = config.layers.map((layer, i) => this.#layer(config, layer, `model.layers.${i}`));
    this.finalNorm = this.#vector(d, [['model.norm.weight', d]], config.gainOffset);
    this.head = config.tiedEmbeddings ? this.embedding : this.#matrix(d, [['lm_head.weight', vocabSize]]);
    this.rotations = new Map(
      ropesOf(config.layers).map((rope) => [rope, areas.take(4 * contextLength(config) * config.headDim)]),
    );
    this.end = areas.mark;
  }

  #layer(config: ModelConfig, { qkvBias, qkNorm, norms }: LayerSpec, at: string): LayerWeights {
    const { hiddenSize: d, intermediateSize: f, heads, kvHeads, headDim } = config;
    const widths = [heads, kvHeads, kvHeads].map((count) => count * headDim) as [number, number, number];
    const projections = (kind: 'weight' | 'bias') =>
      (['q', 'k', 'v'] as const).map((x, i) => [`${at}.self_attn.${x}_proj.${kind}`, widths[i]!] as const);
    const norm = (name: string, width: number) =>
      this.#vector(width, [[`${at}.${name}.weight`, width]], config.gainOffset);
    const around = ({ before, after }: BlockNorms) => ({
      before: before ? norm(before, d) : 0,
      after: after ? norm(after, d) : 0,
    });
    const [queries, keys] = qkNorm === 'whole' ? widths : [headDim, headDim];
    return {
      attention: around(norms.attention),
      mlp: around(norms.mlp),
      qkv: this.#matrix(d, projections('weight')),
      qkvBias: qkvBias ? this.#vector(widths[0] + 2 * widths[1], projections('bias')) : 0,
      qNorm: qkNorm ? norm('self_attn.q_norm', queries) : 0,
      kNorm: qkNorm ? norm('self_attn.k_norm', keys) : 0,
      output: this.#matrix(heads * headDim, [[`${at}.self_attn.o_proj.weight`, d]]),
      gateUp: this.#matrix(d, [
        [`${at}.mlp.gate_proj.weight`, f],
        [`${at}.mlp.up_proj.weight`, f],
      ]),
      upAt: roundUp(f, 8),
      down: this.#matrix(f, [[`${at}.mlp.down_proj.weight`, d]]),
    };
  }

  /** Reserves matrices of k inputs side by side; each begins at an output that is a multiple of 8. */
  #matrix(
    k: number,
    parts: readonly (readonly [name: string, outputs: number])[],
    int8 = this.#int8,
  ): Matrix {
    const { kernels, heap } = this.#instance;
    const outputs = parts.reduce((sum, [, n]) => sum + roundUp(n, 8), 0);
    const matrix = reserve(this.#areas, outputs, k, int8);
    let first = 0;
    for (const [name, n] of parts) {
      const at = first;
      this.#targets.set(name, { rows: n, write: (row, data) => fill(kernels, heap, matrix, at + row, data) });
      first += roundUp(n, 8);
    }
    return matrix;
  }

  /** Reserves vectors one after the other, to which `plus` is added, and returns the address of the first. */
  #vector(length: number, parts: readonly (readonly [name: string, length: number])[], plus = 0): number {
    const { heap } = this.#instance;
    const address = this.#areas.take(4 * length);
    let first = 0;
    for (const [name, n] of parts) {
      const at = address + 4 * first;
      this.#targets.set(name, {
        rows: n,
        write: (_, data) => heap.floats(at, n).set(plus ? data.map((x) => x + plus) : data),
      });
      first += n;
    }
    return address;
  }

  /**
   * Writes rows of a tensor, which are not needed afterwards. Throws `wrong-input` for a tensor or a shape that does not fit the config, and
   * for numbers that are not finite.
   */
  write({ name, shape, row, data }: TensorPiece): void {
    const target = this.#targets.get(name);
    const missing = this.#missing.get(name);
    if (!target || missing === undefined || missing < data.length) {
      if (isRedundant(name, this.#config)) return;
      throw invalid(
        'checkpoint.unexpected',
        `Tensor ${name} belongs to no part of the model.`,
        'only known tensors',
      );
    }
    checkTensor(name, shape, data, this.#shapes.get(name)!);
    target.write(row, data);
    this.#missing.set(name, missing - data.length);
  }

  /** Writes what the config alone says. Throws `wrong-input` unless every tensor has come. */
  complete(): void {
    for (const [name, missing] of this.#missing)
      if (missing)
        throw invalid(
          'checkpoint.missing',
          `Tensor ${name} is missing.`,
          `a tensor [${this.#shapes.get(name)}]`,
        );
    for (const [rope, address] of this.rotations) {
      const table = ropeTable(rope, this.#config.headDim, contextLength(this.#config));
      this.#instance.heap.floats(address, table.length).set(table);
    }
  }
}
