/** The transformer's layers as ONNX nodes, all but the attention itself, which its caller brings. */
import type { ModelConfig } from '../config.ts';
import { DataType, type Graph, type Value } from './builder.ts';
import { BLOCK } from './quantize.ts';
import { WEIGHTS_FILE, type WeightSlot, type WeightType, weightSlots } from './weights.ts';

/** The weights of a graph, by their names in the weight file. */
export interface Weights {
  value(name: string): Value;
  /** x [.., in] times a weight [out, in]. */
  linear(graph: Graph, x: Value, name: string): Value;
}

/** Declares all weights in the main graph; bodies of loops see them from there. */
export function declareWeights(graph: Graph, config: ModelConfig, type: WeightType): Weights {
  const slots = weightSlots(config, type);
  for (const { name, shape, span, blocks } of slots.values()) {
    if (!blocks) {
      graph.external(name, DataType.FLOAT, shape, { location: WEIGHTS_FILE, ...span });
      continue;
    }
    const [rows, columns] = shape as [number, number];
    const perRow = Math.ceil(columns / BLOCK);
    const numbers = [rows, perRow, (BLOCK * blocks.bits) / 8];
    graph.external(name, DataType.UINT8, numbers, { location: WEIGHTS_FILE, ...span });
    graph.external(`${name}.scales`, DataType.FLOAT, [rows * perRow], {
      location: WEIGHTS_FILE,
      ...blocks.scales,
    });
  }
  const slotOf = (name: string): WeightSlot => {
    const slot = slots.get(name);
    if (!slot) throw new Error(`internal: no weight ${name} in this architecture`);
    return slot;
  };
  return {
    value: (name) => slotOf(name).name,
    linear(where, x, name) {
      const { blocks, shape } = slotOf(name);
      if (!blocks) return where.op('com.microsoft:FusedMatMul', [x, name], { transB: 1 });
      const attributes = { N: shape[0]!, K: shape[1]!, bits: blocks.bits, block_size: BLOCK };
      return where.op('com.microsoft:MatMulNBits', [x, name, `${name}.scales`], attributes);
    },
  };
}

export const headWeight = (config: ModelConfig): string =>
  config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';

/** RMS norm over the last axis: x / sqrt(mean(x²) + eps) * gain. */
export const rmsNorm = (graph: Graph, x: Value, gain: Value, epsilon: number): Value =>
  graph.op('SimplifiedLayerNormalization', [x, gain], { axis: -1, epsilon: { float: epsilon } });

/** Norms the sum of x and what a block adds to it; gives both the normed sum and the sum. */
export function addAndNorm(
  graph: Graph,
  x: Value,
  added: Value,
  gain: Value,
  config: ModelConfig,
): { normed: Value; sum: Value } {
  const [normed, sum] = [graph.fresh('normed'), graph.fresh('residual')];
  graph.node('com.microsoft:SkipSimplifiedLayerNormalization', [x, added, gain], [normed, '', '', sum], {
    epsilon: { float: config.rmsNormEps },
  });
  return { normed, sum };
}

function mlp(graph: Graph, weights: Weights, layer: string, normed: Value): Value {
  const gate = weights.linear(graph, normed, `${layer}.mlp.gate_proj.weight`);
  const up = weights.linear(graph, normed, `${layer}.mlp.up_proj.weight`);
  // QuickGelu with alpha 1 is x * sigmoid(x), SiLU, in one node.
  const activated = graph.op('com.microsoft:QuickGelu', [gate], { alpha: { float: 1 } });
  return weights.linear(graph, graph.op('Mul', [activated, up]), `${layer}.mlp.down_proj.weight`);
}

/**
 * All layers on ids [batch, seq]: what the last block adds and the residual it adds to, [batch, seq, hidden] each (their
 * sum goes through the final norm). `attend` makes [batch, seq, heads * headDim] of a layer's projections
 * [batch, seq, (heads + 2 kvHeads) * headDim].
 */
export function decoder(
  graph: Graph,
  config: ModelConfig,
  weights: Weights,
  ids: Value,
  attend: (qkv: Value, layer: number) => Value,
): { residual: Value; added: Value } {
  let residual = graph.op('Gather', [weights.value('model.embed_tokens.weight'), ids]);
  let added: Value | undefined;
  for (let i = 0; i < config.layers; i++) {
    const layer = `model.layers.${i}`;
    const gain = weights.value(`${layer}.input_layernorm.weight`);
    const first = added
      ? addAndNorm(graph, residual, added, gain, config)
      : { normed: rmsNorm(graph, residual, gain, config.rmsNormEps), sum: residual };
    let qkv = weights.linear(graph, first.normed, `${layer}.self_attn.qkv_proj.weight`);
    if (config.qkvBias) qkv = graph.op('Add', [qkv, weights.value(`${layer}.self_attn.qkv_proj.bias`)]);
    const attended = weights.linear(graph, attend(qkv, i), `${layer}.self_attn.o_proj.weight`);
    const gainAfter = weights.value(`${layer}.post_attention_layernorm.weight`);
    const second = addAndNorm(graph, first.sum, attended, gainAfter, config);
    residual = second.sum;
    added = mlp(graph, weights, layer, second.normed);
  }
  return { residual, added: added! };
}
