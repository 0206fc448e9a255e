/** The transformer's layers as ONNX nodes, except the attention itself, which the caller passes in. */
import type { ModelConfig } from '../config.ts';
import type { Graph, Value } from './builder.ts';
import type { Weights } from './graph-weights.ts';

export const headWeight = (config: ModelConfig): string =>
  config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';

/** RMS norm over the last axis: x / sqrt(mean(x²) + eps) * gain. */
export const rmsNorm = (graph: Graph, x: Value, gain: Value, epsilon: number): Value =>
  graph.op('SimplifiedLayerNormalization', [x, gain], { axis: -1, epsilon: { float: epsilon } });

/** Adds a block's output to the residual x and applies RMS norm; returns both the normed sum and the sum. */
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

function mlp(graph: Graph, config: ModelConfig, weights: Weights, layer: string, normed: Value): Value {
  const x = weights.operand(graph, normed, config.hiddenSize, 'normed');
  const gate = weights.linear(graph, x, `${layer}.mlp.gate_proj.weight`);
  const up = weights.linear(graph, x, `${layer}.mlp.up_proj.weight`);
  // QuickGelu with alpha 1 is x * sigmoid(x), SiLU, in one node.
  const activated = graph.op('com.microsoft:QuickGelu', [gate], { alpha: { float: 1 } });
  const product = graph.op('Mul', [activated, up]);
  const gated = weights.operand(graph, product, config.intermediateSize, 'gated');
  return weights.linear(graph, gated, `${layer}.mlp.down_proj.weight`);
}

/**
 * Applies all layers to ids [batch, seq]. Returns the last block's output and the residual that it is added to, [batch, seq, hidden]
 * each (their sum goes through the final norm). `attend` turns a layer's projections [batch, seq, (heads + 2 kvHeads) * headDim] into
 * [batch, seq, heads * headDim].
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
  for (const [i, { qkvBias }] of config.layers.entries()) {
    const layer = `model.layers.${i}`;
    const gain = weights.gain(`${layer}.input_layernorm.weight`);
    const first = added
      ? addAndNorm(graph, residual, added, gain, config)
      : { normed: rmsNorm(graph, residual, gain, config.rmsNormEps), sum: residual };
    const normed = weights.operand(graph, first.normed, config.hiddenSize, 'normed');
    let qkv = weights.linear(graph, normed, `${layer}.self_attn.qkv_proj.weight`);
    if (qkvBias) qkv = graph.op('Add', [qkv, weights.value(`${layer}.self_attn.qkv_proj.bias`)]);
    const heads = weights.operand(graph, attend(qkv, i), config.heads * config.headDim, 'attended');
    const attended = weights.linear(graph, heads, `${layer}.self_attn.o_proj.weight`);
    const gainAfter = weights.gain(`${layer}.post_attention_layernorm.weight`);
    const second = addAndNorm(graph, first.sum, attended, gainAfter, config);
    residual = second.sum;
    added = mlp(graph, config, weights, layer, second.normed);
  }
  return { residual, added: added! };
}
