/**
 * Attention with two KV caches: `shared`, which all samples of a prompt have in common and which is stored once per prompt, and `own`,
 * which holds what each row has added since. It is built from small nodes, because the runtime's own attention node has one cache per
 * row and copies all of it each turn, which costs more than the rest of a small model.
 *
 * Axes: P prompts, G samples of each prompt, S new tokens per row, N = G * S new tokens per prompt, H query heads, K key-value heads,
 * R = H / K query heads per key-value head, T shared and t own positions. With the prompt outermost and the samples beside the tokens,
 * no matrix product needs a transposed operand.
 */
import type { ModelConfig } from '../config.ts';
import type { LayerSpec, Rope } from '../layers.ts';
import { ropeTables } from '../rope.ts';
import { DataType, type Graph, type Value } from './builder.ts';
import { rmsNorm } from './decoder.ts';
import type { Weights } from './graph-weights.ts';

const matmul = 'com.microsoft:FusedMatMul';

export interface Cache {
  readonly key: Value;
  readonly value: Value;
}

/** The inputs of attention that all layers share in one turn. */
export interface Turn {
  /** int64 [P, N]. */
  readonly position: Value;
  readonly rotations: ReadonlyMap<Rope, Rotation>;
  /** By window: added to the scores, 0 where a query may look, else minus infinity; broadcasts to [P, K, R, G, S, T + t]. */
  readonly masks: ReadonlyMap<number | null, Value>;
  /** int64 [2]: T, t (new tokens included). */
  readonly widths: Value;
  /** int64 [6]: P, K, 1, G, S, -1. */
  readonly ownShape: Value;
  /** int64 [6]: P, K, R, G, S, -1. */
  readonly queryShape: Value;
  /** int64 [4]: P, K, R * N, -1. */
  readonly flatShape: Value;
}

/** Cosines and sines [positions, headDim / 2] of the rotary embedding. */
export interface Rotation {
  readonly cos: Value;
  readonly sin: Value;
}

export function rotation(graph: Graph, rope: Rope, headDim: number, positions: number): Rotation {
  const { cos, sin } = ropeTables(rope, headDim, positions);
  const table = (values: Float32Array): Value =>
    graph.constant(DataType.FLOAT, [positions, headDim / 2], values);
  return { cos: table(cos), sin: table(sin) };
}

/** What tells how far keys are from queries. */
interface Distances {
  /** int64 [P, N]: positions of the turn's tokens. */
  readonly position: Value;
  /** int64 [P, N]: those of the first turn, from whose first own keys follow one another. */
  readonly firstPosition: Value;
  readonly widths: Value;
  readonly queryShape: Value;
}

/**
 * A mask in which a query also sees no key that is `window` positions or more before it, [P, 1, 1, G, S, T + t]. Shared keys are at the
 * positions of their columns.
 */
export function windowed(graph: Graph, mask: Value, window: number, of: Distances): Value {
  const part = (values: Value, from: number, to: number, axis = 0): Value =>
    graph.op('Slice', [values, graph.int64(from), graph.int64(to), graph.int64(axis)]);
  const count = (i: number): Value => graph.op('Gather', [of.widths, graph.scalarInt64(i)]);
  const upTo = (end: Value): Value => graph.op('Range', [graph.scalarInt64(0), end, graph.scalarInt64(1)]);
  const first = part(of.firstPosition, 0, 1, 1);
  const shared = graph.op('Add', [graph.op('Mul', [first, graph.scalarInt64(0)]), upTo(count(0))]);
  const own = graph.op('Add', [first, upTo(count(1))]);
  const keys = graph.op('Unsqueeze', [
    graph.op('Concat', [shared, own], { axis: 1 }),
    graph.int64(1, 2, 3, 4),
  ]);
  const shape = graph.op(
    'Concat',
    [part(of.queryShape, 0, 1), graph.int64(1, 1), part(of.queryShape, 3, 5), graph.int64(1)],
    { axis: 0 },
  );
  const distance = graph.op('Sub', [graph.op('Reshape', [of.position, shape]), keys]);
  const far = graph.op('GreaterOrEqual', [distance, graph.scalarInt64(window)]);
  return graph.op('Where', [far, graph.scalarFloat(Number.NEGATIVE_INFINITY), mask]);
}

/** Gains of the norms of query and key heads, [H + K, 1, headDim]. They belong in the main graph, since they never change. */
export function headGains(graph: Graph, config: ModelConfig, weights: Weights, layer: number): Value {
  const repeated = (name: string, heads: number): Value =>
    graph.op('Expand', [
      weights.norm(`model.layers.${layer}.self_attn.${name}_norm.weight`),
      graph.int64(heads, 1, config.headDim),
    ]);
  return graph.op('Concat', [repeated('q', config.heads), repeated('k', config.kvHeads)], { axis: 0 });
}

/** Turns a shared cache [P, K, T, headDim] into the form that `attention` reads, with keys as columns. It belongs in the main graph. */
export const sharedCache = (graph: Graph, { key, value }: Cache): Cache => ({
  key: graph.op('Transpose', [key], { perm: [0, 1, 3, 2] }),
  value,
});

/**
 * Computes attention from projections [P, N, (H + 2K) * headDim]. Returns [P, N, H * headDim] and the own cache
 * [P, K, 1, G, t, headDim] with the new tokens in it.
 */
export function attention(
  graph: Graph,
  config: ModelConfig,
  { rope, window }: LayerSpec,
  qkv: Value,
  turn: Turn,
  caches: { readonly shared: Cache; readonly own: Cache; readonly gains?: Value | undefined },
): { out: Value; own: Cache } {
  const { heads, kvHeads, headDim } = config;
  const { shared } = caches;
  const grouped = heads !== kvHeads;
  const scale = { float: 1 / Math.sqrt(config.queryScalar) };
  const reshape = (x: Value, shape: Value): Value => graph.op('Reshape', [x, shape]);
  const split = reshape(qkv, graph.int64(0, 0, -1, headDim));
  const byHead = graph.op('Transpose', [split], { perm: [0, 2, 1, 3] });
  const [qk, v] = splitIn(graph, byHead, graph.int64(heads + kvHeads, kvHeads), 1);
  const normed = caches.gains ? normHeads(graph, config, qk, caches.gains) : qk;
  const placed = rope ? rotated(graph, normed, turn, rope) : normed;
  const [q, k] = splitIn(graph, placed, graph.int64(heads, kvHeads), 1);
  const own = {
    key: graph.op('Concat', [caches.own.key, reshape(k, turn.ownShape)], { axis: 4 }),
    value: graph.op('Concat', [caches.own.value, reshape(v, turn.ownShape)], { axis: 4 }),
  };
  const queries = grouped ? reshape(q, turn.flatShape) : q;
  const toShared = graph.op(matmul, [queries, shared.key], { alpha: scale });
  const toOwn = graph.op(matmul, [reshape(q, turn.queryShape), own.key], { transB: 1, alpha: scale });
  const scores = graph.op('Concat', [reshape(toShared, turn.queryShape), toOwn], { axis: 5 });
  const attention = graph.op('Softmax', [graph.op('Add', [scores, turn.masks.get(window)!])], { axis: -1 });
  const [onShared, onOwn] = splitIn(graph, attention, turn.widths, 5);
  const fromShared = graph.op('MatMul', [reshape(onShared, turn.flatShape), shared.value]);
  const fromOwn = graph.op('MatMul', [onOwn, own.value]);
  const sum = graph.op('Add', [fromShared, reshape(fromOwn, turn.flatShape)]);
  const perHead = grouped ? reshape(sum, graph.int64(0, heads, -1, headDim)) : sum;
  const perToken = graph.op('Transpose', [perHead], { perm: [0, 2, 1, 3] });
  return { out: reshape(perToken, graph.int64(0, 0, -1)), own };
}

function rotated(graph: Graph, x: Value, { rotations, position }: Turn, rope: Rope): Value {
  const { cos, sin } = rotations.get(rope)!;
  return graph.op('com.microsoft:RotaryEmbedding', [x, position, cos, sin]);
}

function splitIn(graph: Graph, x: Value, widths: Value, axis: number): [Value, Value] {
  const parts: [Value, Value] = [graph.fresh('part'), graph.fresh('part')];
  graph.node('Split', [x, widths], parts, { axis });
  return parts;
}

/** Norms each head of [P, H + K, N, headDim] on its own, queries and keys with their own gains. */
function normHeads(graph: Graph, config: ModelConfig, x: Value, gains: Value): Value {
  const { headDim } = config;
  const ones = graph.constant(DataType.FLOAT, [headDim], new Float32Array(headDim).fill(1));
  return graph.op('Mul', [rmsNorm(graph, x, ones, config.rmsNormEps), gains]);
}
