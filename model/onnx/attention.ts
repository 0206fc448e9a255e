/**
 * Attention with two caches: `shared`, which a prompt's samples have in common and which is held once a prompt, and `own`,
 * what each row has added since. Written out as small nodes: the runtime's own attention node knows one cache a row and
 * copies all of it each turn, which costs more than the rest of a small model.
 *
 * Axes: G samples of each of P prompts, S new tokens a row, H heads, K of them with keys and values of their own,
 * R = H / K * S queries that look at one of those, T shared and t own positions.
 */
import type { ModelConfig } from '../config.ts';
import { ropeTables } from '../rope.ts';
import { DataType, type Graph, type Value } from './builder.ts';
import { rmsNorm, type Weights } from './decoder.ts';

const matmul = 'com.microsoft:FusedMatMul';

export interface Cache {
  readonly key: Value;
  readonly value: Value;
}

/** What all layers' attention has in common in one turn. */
export interface Turn {
  /** int64 [5]: G, P, S, H + 2K, headDim. */
  readonly headShape: Value;
  /** Of each new token's position, [G, P, H + K, S, headDim]: repeated for all heads, since the runtime multiplies equal shapes several times faster. */
  readonly rotation: { readonly cos: Value; readonly sin: Value };
  /** Added to the scores: 0 where a query may look, else minus infinity; broadcasts to [G, P, K, R, T + t]. */
  readonly mask: Value;
  /** int64 [2]: T, t (new tokens included). */
  readonly widths: Value;
  /** int64 [3]: G * P, S, H * headDim. */
  readonly outShape: Value;
}

/** Rotation tables [positions, headDim] for `x * cos + swapHalves(x) * sin`. */
export function rotationTables(
  graph: Graph,
  config: ModelConfig,
  positions: number,
): { cos: Value; sin: Value } {
  const half = config.headDim / 2;
  const { cos, sin } = ropeTables(config, positions);
  const doubled = (table: Float32Array, signOfFirst: number): Value => {
    const out = new Float32Array(2 * table.length);
    for (let i = 0; i < table.length; i++) {
      const at = 2 * half * Math.floor(i / half) + (i % half);
      out[at] = signOfFirst * table[i]!;
      out[at + half] = table[i]!;
    }
    return graph.constant(DataType.FLOAT, [positions, config.headDim], out);
  };
  return { cos: doubled(cos, 1), sin: doubled(sin, -1) };
}

/** Gains of the norms of query and key heads, [H + K, 1, headDim]; for the main graph, since they never change. */
export function headGains(graph: Graph, config: ModelConfig, weights: Weights, layer: number): Value {
  const repeated = (name: string, heads: number): Value =>
    graph.op('Expand', [
      weights.value(`model.layers.${layer}.self_attn.${name}_norm.weight`),
      graph.int64(heads, 1, config.headDim),
    ]);
  return graph.op('Concat', [repeated('q', config.heads), repeated('k', config.kvHeads)], { axis: 0 });
}

/** A shared cache [P, K, T, headDim] as `attention` reads it; for the main graph. Keys become columns. */
export function sharedCache(graph: Graph, { key, value }: Cache): Cache {
  const oneForAllQueries = (x: Value): Value => graph.op('Unsqueeze', [x, graph.int64(2)]);
  return {
    key: oneForAllQueries(graph.op('Transpose', [key], { perm: [0, 1, 3, 2] })),
    value: oneForAllQueries(value),
  };
}

/**
 * From projections [G * P, S, (H + 2K) * headDim] to [G * P, S, H * headDim], and the own cache [G, P, K, t, headDim] with
 * the new tokens in it.
 */
export function attention(
  graph: Graph,
  config: ModelConfig,
  qkv: Value,
  turn: Turn,
  caches: { readonly shared: Cache; readonly own: Cache; readonly gains?: Value | undefined },
): { out: Value; own: Cache } {
  const { heads, kvHeads, headDim } = config;
  const { shared } = caches;
  const scale = { float: 1 / Math.sqrt(headDim) };
  const split = graph.op('Reshape', [qkv, turn.headShape]);
  const byHead = graph.op('Transpose', [split], { perm: [0, 1, 3, 2, 4] });
  const [qk, v] = splitIn(graph, byHead, graph.int64(heads + kvHeads, kvHeads), 2);
  const [q, k] = splitIn(
    graph,
    rotate(graph, config, qk, turn, caches.gains),
    graph.int64(heads, kvHeads),
    2,
  );
  const own = {
    key: graph.op('Concat', [caches.own.key, k], { axis: 3 }),
    value: graph.op('Concat', [caches.own.value, v], { axis: 3 }),
  };
  const queries = graph.op('Reshape', [q, graph.int64(0, 0, kvHeads, -1, headDim)]);
  // transBatchA takes G as the rows of the product, so that one product serves all samples of a prompt: [P, K, R, G, T].
  const toShared = graph.op(matmul, [queries, shared.key], { transBatchA: 1, alpha: scale });
  const toOwn = graph.op(matmul, [queries, own.key], { transB: 1, alpha: scale });
  const scores = graph.op('Concat', [samplesFirst(graph, toShared), toOwn], { axis: 4 });
  const attention = graph.op('Softmax', [graph.op('Add', [scores, turn.mask])], { axis: -1 });
  const [onShared, onOwn] = splitIn(graph, attention, turn.widths, 4);
  const fromShared = graph.op(matmul, [onShared, shared.value], { transBatchA: 1 });
  const fromOwn = graph.op('MatMul', [onOwn, own.value]);
  const sum = graph.op('Add', [samplesFirst(graph, fromShared), fromOwn]);
  const perHead = graph.op('Reshape', [sum, graph.int64(0, 0, heads, -1, headDim)]);
  const perToken = graph.op('Transpose', [perHead], { perm: [0, 1, 3, 2, 4] });
  return { out: graph.op('Reshape', [perToken, turn.outShape]), own };
}

function splitIn(graph: Graph, x: Value, widths: Value, axis: number): [Value, Value] {
  const parts: [Value, Value] = [graph.fresh('part'), graph.fresh('part')];
  graph.node('Split', [x, widths], parts, { axis });
  return parts;
}

/** [P, K, R, G, n] -> [G, P, K, R, n] */
const samplesFirst = (graph: Graph, x: Value): Value => graph.op('Transpose', [x], { perm: [3, 0, 1, 2, 4] });

/** Norms (with `gains`) and rotates heads [G, P, H + K, S, headDim]. */
function rotate(
  graph: Graph,
  config: ModelConfig,
  x: Value,
  { rotation }: Turn,
  gains: Value | undefined,
): Value {
  const { headDim } = config;
  const heads = gains ? normHeads(graph, config, x, gains) : x;
  const halves = graph.op('Reshape', [heads, graph.int64(0, 0, 0, -1, 2, headDim / 2)]);
  const swapped = graph.op('Reshape', [
    graph.op('Gather', [halves, graph.int64(1, 0)], { axis: 4 }),
    graph.int64(0, 0, 0, -1, headDim),
  ]);
  return graph.op('Add', [graph.op('Mul', [heads, rotation.cos]), graph.op('Mul', [swapped, rotation.sin])]);
}

/** Norms each head of [G, P, H + K, S, headDim] on its own, queries and keys with their own gains. */
function normHeads(graph: Graph, config: ModelConfig, x: Value, gains: Value): Value {
  const { headDim } = config;
  const ones = graph.constant(DataType.FLOAT, [headDim], new Float32Array(headDim).fill(1));
  return graph.op('Mul', [rmsNorm(graph, x, ones, config.rmsNormEps), gains]);
}
