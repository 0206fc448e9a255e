/** The transformer's layers as ONNX nodes: embeddings to the last residual sum, with a key-value cache read and grown. */
import type { ModelConfig } from '../config.ts';
import { ropeTables } from '../rope.ts';
import { DataType, type Graph, type Value } from './builder.ts';
import { headNormEps, paddedHeadDim, WEIGHTS_FILE, weightSlots } from './weights.ts';

/** Weights and tables, declared once in the main graph and seen from its loop. */
export interface DecoderWeights {
  readonly get: (name: string) => Value;
  /** [maxPositions, padded headDim / 2] */
  readonly cos: Value;
  readonly sin: Value;
}

export interface Cache {
  /** [batch, kvHeads, past, padded headDim] */
  readonly key: Value;
  readonly value: Value;
}

export interface DecoderInputs {
  /** int64 [batch, seq] */
  readonly ids: Value;
  /** int32 [batch]: index of each row's last token, cache included. */
  readonly lastPosition: Value;
  /** int32 scalar: the longest row, cache included. */
  readonly totalLength: Value;
  readonly caches: readonly Cache[];
}

export function declareWeights(graph: Graph, config: ModelConfig): DecoderWeights {
  const slots = weightSlots(config);
  for (const { name, shape, offset, length } of slots.values())
    graph.external(name, DataType.FLOAT, shape, { location: WEIGHTS_FILE, offset, length });
  const { cos, sin } = ropeTables(config, config.maxPositions);
  const table = (values: Float32Array) => {
    const width = paddedHeadDim(config) / 2;
    const data = new Float32Array(config.maxPositions * width);
    for (let i = 0; i < values.length; i++)
      data[Math.floor(i / (config.headDim / 2)) * width + (i % (config.headDim / 2))] = values[i]!;
    return graph.constant(DataType.FLOAT, [config.maxPositions, width], data);
  };
  const get = (name: string): Value => {
    const slot = slots.get(name);
    if (!slot) throw new Error(`internal: no weight ${name} in this architecture`);
    return slot.name;
  };
  return { get, cos: table(cos), sin: table(sin) };
}

/** x [.., in] times a weight stored as [out, in]. */
export const linear = (graph: Graph, x: Value, weight: Value): Value =>
  graph.op('com.microsoft:FusedMatMul', [x, weight], { transB: 1 });

/** RMS norm over the last axis: x / sqrt(mean(x²) + eps) * gain. */
export const rmsNorm = (graph: Graph, x: Value, gain: Value, epsilon: number): Value =>
  graph.op('SimplifiedLayerNormalization', [x, gain], { axis: -1, epsilon: { float: epsilon } });

/** Norms the sum of x and what a block adds to it; gives both the normed sum and the sum. */
function addAndNorm(graph: Graph, x: Value, added: Value, gain: Value, config: ModelConfig) {
  const normed = graph.fresh('normed');
  const sum = graph.fresh('residual');
  graph.node('com.microsoft:SkipSimplifiedLayerNormalization', [x, added, gain], [normed, '', '', sum], {
    epsilon: { float: config.rmsNormEps },
  });
  return { normed, sum };
}

/** Norms each head of [batch, seq, heads * headDim] on its own. */
function normHeads(graph: Graph, x: Value, heads: number, gain: Value, config: ModelConfig): Value {
  const headDim = paddedHeadDim(config);
  const split = graph.op('Reshape', [x, graph.int64(0, 0, heads, headDim)]);
  const normed = rmsNorm(graph, split, gain, headNormEps(config));
  return graph.op('Reshape', [normed, graph.int64(0, 0, heads * headDim)]);
}

function attention(
  graph: Graph,
  config: ModelConfig,
  weights: DecoderWeights,
  layer: string,
  normed: Value,
  inputs: DecoderInputs,
  cache: Cache,
): { out: Value; cache: Cache } {
  const { heads, kvHeads } = config;
  const headDim = paddedHeadDim(config);
  let qkv = linear(graph, normed, weights.get(`${layer}.self_attn.qkv_proj.weight`));
  if (config.qkvBias) qkv = graph.op('Add', [qkv, weights.get(`${layer}.self_attn.qkv_proj.bias`)]);
  let query = [qkv, '', ''];
  if (config.qkNorm) {
    const [q, k, v] = [graph.fresh('q'), graph.fresh('k'), graph.fresh('v')];
    const widths = graph.int64(heads * headDim, kvHeads * headDim, kvHeads * headDim);
    graph.node('Split', [qkv, widths], [q, k, v], { axis: -1 });
    query = [
      normHeads(graph, q, heads, weights.get(`${layer}.self_attn.q_norm.weight`), config),
      normHeads(graph, k, kvHeads, weights.get(`${layer}.self_attn.k_norm.weight`), config),
      v,
    ];
  }
  const out = graph.fresh('attention');
  const grown = { key: graph.fresh('key'), value: graph.fresh('value') };
  graph.node(
    'com.microsoft:GroupQueryAttention',
    [...query, cache.key, cache.value, inputs.lastPosition, inputs.totalLength, weights.cos, weights.sin],
    [out, grown.key, grown.value],
    {
      num_heads: heads,
      kv_num_heads: kvHeads,
      do_rotary: 1,
      scale: { float: 1 / Math.sqrt(config.headDim) },
    },
  );
  return { out: linear(graph, out, weights.get(`${layer}.self_attn.o_proj.weight`)), cache: grown };
}

function mlp(graph: Graph, weights: DecoderWeights, layer: string, normed: Value): Value {
  const gate = linear(graph, normed, weights.get(`${layer}.mlp.gate_proj.weight`));
  const up = linear(graph, normed, weights.get(`${layer}.mlp.up_proj.weight`));
  // QuickGelu with alpha 1 is x * sigmoid(x), SiLU, in one node.
  const activated = graph.op('com.microsoft:QuickGelu', [gate], { alpha: { float: 1 } });
  return linear(graph, graph.op('Mul', [activated, up]), weights.get(`${layer}.mlp.down_proj.weight`));
}

/**
 * All layers on `ids`: what the last block adds and the residual it adds to, [batch, seq, hidden] each (their sum goes
 * through the final norm), and the grown caches.
 */
export function decoder(
  graph: Graph,
  config: ModelConfig,
  weights: DecoderWeights,
  inputs: DecoderInputs,
): { residual: Value; added: Value; caches: Cache[] } {
  const caches: Cache[] = [];
  let residual = graph.op('Gather', [weights.get('model.embed_tokens.weight'), inputs.ids]);
  let added: Value | undefined;
  for (let i = 0; i < config.layers; i++) {
    const layer = `model.layers.${i}`;
    const gain = weights.get(`${layer}.input_layernorm.weight`);
    const first = added
      ? addAndNorm(graph, residual, added, gain, config)
      : { normed: rmsNorm(graph, residual, gain, config.rmsNormEps), sum: residual };
    const attended = attention(graph, config, weights, layer, first.normed, inputs, inputs.caches[i]!);
    caches.push(attended.cache);
    const second = addAndNorm(
      graph,
      first.sum,
      attended.out,
      weights.get(`${layer}.post_attention_layernorm.weight`),
      config,
    );
    residual = second.sum;
    added = mlp(graph, weights, layer, second.normed);
  }
  return { residual, added: added!, caches };
}
