/** The transformer's layers as ONNX nodes, all but the attention itself, which its caller brings. */
import type { ModelConfig } from '../config.ts';
import { DataType, type Graph, type Value } from './builder.ts';
import { WEIGHTS_FILE, weightSlots } from './weights.ts';

/** A weight's value by its name in the weight file. */
export type Weights = (name: string) => Value;

/** Declares all weights in the main graph; bodies of loops see them from there. */
export function declareWeights(graph: Graph, config: ModelConfig): Weights {
  const slots = weightSlots(config);
  for (const { name, shape, offset, length } of slots.values())
    graph.external(name, DataType.FLOAT, shape, { location: WEIGHTS_FILE, offset, length });
  return (name) => {
    if (!slots.has(name)) throw new Error(`internal: no weight ${name} in this architecture`);
    return name;
  };
}

export const headWeight = (config: ModelConfig): string =>
  config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';

/** x [.., in] times a weight stored as [out, in]. */
export const linear = (graph: Graph, x: Value, weight: Value): Value =>
  graph.op('com.microsoft:FusedMatMul', [x, weight], { transB: 1 });

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
  const gate = linear(graph, normed, weights(`${layer}.mlp.gate_proj.weight`));
  const up = linear(graph, normed, weights(`${layer}.mlp.up_proj.weight`));
  // QuickGelu with alpha 1 is x * sigmoid(x), SiLU, in one node.
  const activated = graph.op('com.microsoft:QuickGelu', [gate], { alpha: { float: 1 } });
  return linear(graph, graph.op('Mul', [activated, up]), weights(`${layer}.mlp.down_proj.weight`));
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
  let residual = graph.op('Gather', [weights('model.embed_tokens.weight'), ids]);
  let added: Value | undefined;
  for (let i = 0; i < config.layers; i++) {
    const layer = `model.layers.${i}`;
    const gain = weights(`${layer}.input_layernorm.weight`);
    const first = added
      ? addAndNorm(graph, residual, added, gain, config)
      : { normed: rmsNorm(graph, residual, gain, config.rmsNormEps), sum: residual };
    let qkv = linear(graph, first.normed, weights(`${layer}.self_attn.qkv_proj.weight`));
    if (config.qkvBias) qkv = graph.op('Add', [qkv, weights(`${layer}.self_attn.qkv_proj.bias`)]);
    const attended = linear(graph, attend(qkv, i), weights(`${layer}.self_attn.o_proj.weight`));
    const gainAfter = weights(`${layer}.post_attention_layernorm.weight`);
    const second = addAndNorm(graph, first.sum, attended, gainAfter, config);
    residual = second.sum;
    added = mlp(graph, weights, layer, second.normed);
  }
  return { residual, added: added! };
}
