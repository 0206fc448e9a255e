/** The transformer's layers as ONNX nodes, except the attention itself, which the caller passes in. */
import { PATCH_PROJECTION } from '../checkpoint.ts';
import type { ModelConfig } from '../config.ts';
import type { BlockNorms, LayerSpec } from '../layers.ts';
import { DataType, type Graph, type Value } from './builder.ts';
import type { Operand, Weights } from './graph-weights.ts';

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

/** The residual stream in two parts, whose sum the next block reads: what it was before the last block, and what that block gave. */
interface Stream {
  readonly residual: Value;
  readonly added?: Value;
}

/** Adds a block to the stream: its input, normed where the block says so, goes through `run`, and so does what `run` gives. */
function block(
  graph: Graph,
  config: ModelConfig,
  weights: Weights,
  { residual, added }: Stream,
  { before, after }: BlockNorms,
  run: (input: Operand) => Value,
): Required<Stream> {
  const enter = (): { normed: Value; sum: Value } => {
    if (!before) {
      const sum = added ? graph.op('Add', [residual, added]) : residual;
      return { normed: sum, sum };
    }
    const gain = weights.gain(before);
    return added
      ? addAndNorm(graph, residual, added, gain, config)
      : { normed: rmsNorm(graph, residual, gain, config.rmsNormEps), sum: residual };
  };
  const { normed, sum } = enter();
  const out = run(weights.operand(graph, normed, config.hiddenSize, before ? 'normed' : 'stream'));
  return {
    residual: sum,
    added: after ? rmsNorm(graph, out, weights.norm(after), config.rmsNormEps) : out,
  };
}

function mlp(
  graph: Graph,
  config: ModelConfig,
  weights: Weights,
  { activation }: LayerSpec,
  layer: string,
  x: Operand,
): Value {
  const gate = weights.linear(graph, x, `${layer}.mlp.gate_proj.weight`);
  const up = weights.linear(graph, x, `${layer}.mlp.up_proj.weight`);
  // QuickGelu with alpha 1 is x * sigmoid(x), SiLU, in one node; FastGelu is GELU by tanh.
  const activated =
    activation === 'silu'
      ? graph.op('com.microsoft:QuickGelu', [gate], { alpha: { float: 1 } })
      : graph.op('com.microsoft:FastGelu', [gate]);
  const product = graph.op('Mul', [activated, up]);
  const gated = weights.operand(graph, product, config.intermediateSize, 'gated');
  return weights.linear(graph, gated, `${layer}.mlp.down_proj.weight`);
}

/** Norms all queries of [.., (heads + 2 kvHeads) * headDim] as one row, and all keys. */
function normWhole(graph: Graph, config: ModelConfig, weights: Weights, layer: string, qkv: Value): Value {
  const { heads, kvHeads, headDim, rmsNormEps } = config;
  const parts = [graph.fresh('q'), graph.fresh('k'), graph.fresh('v')] as const;
  const widths = graph.int64(heads * headDim, kvHeads * headDim, kvHeads * headDim);
  graph.node('Split', [qkv, widths], parts, { axis: -1 });
  const normed = (x: Value, name: string): Value =>
    rmsNorm(graph, x, weights.norm(`${layer}.self_attn.${name}_norm.weight`), rmsNormEps);
  return graph.op('Concat', [normed(parts[0], 'q'), normed(parts[1], 'k'), parts[2]], { axis: -1 });
}

/**
 * The embeddings [batch, seq, hidden] of ids [batch, seq]. Where the model sees, `patches` is a table whose first row is zeros and whose others are what
 * patches of images are projected to; the id vocabSize + k stands for patch k, in row k + 1.
 */
function embeddings(graph: Graph, config: ModelConfig, weights: Weights, ids: Value, patches?: Value): Value {
  const { hiddenSize, vocabSize, scalesEmbeddings, vision } = config;
  const ofTokens = (tokens: Value): Value => {
    const embedded = graph.op('Gather', [weights.value('model.embed_tokens.weight'), tokens]);
    return scalesEmbeddings
      ? graph.op('Mul', [embedded, graph.scalarFloat(Math.sqrt(hiddenSize))])
      : embedded;
  };
  if (!vision || !patches) return ofTokens(ids);
  const last = graph.scalarInt64(vocabSize - 1);
  const isPatch = graph.op('Greater', [ids, last]);
  const tokens = graph.op('Where', [isPatch, graph.scalarInt64(vision.token), ids]);
  const row = graph.op('Max', [graph.op('Sub', [ids, last]), graph.scalarInt64(0)]);
  return graph.op('Add', [ofTokens(tokens), graph.op('Gather', [patches, row])]);
}

/** The table that `embeddings` reads for patches [seen + 1, hidden], of their numbers `patches` [seen, patchWidth]. */
export function projectedPatches(graph: Graph, config: ModelConfig, weights: Weights, patches: Value): Value {
  const projected = weights.linear(graph, { value: patches }, PATCH_PROJECTION);
  const { hiddenSize } = config;
  const zeros = graph.constant(DataType.FLOAT, [1, hiddenSize], new Float32Array(hiddenSize));
  return graph.op('Concat', [zeros, projected], { axis: 0 });
}

/**
 * Applies all layers to ids [batch, seq]. Returns the last block's output and the residual that it is added to, [batch, seq, hidden]
 * each (their sum goes through the final norm). `attend` turns a layer's projections [batch, seq, (heads + 2 kvHeads) * headDim] into
 * [batch, seq, heads * headDim]. `patches`: as `embeddings` reads them.
 */
export function decoder(
  graph: Graph,
  config: ModelConfig,
  weights: Weights,
  ids: Value,
  attend: (qkv: Value, layer: number) => Value,
  patches?: Value,
): Required<Stream> {
  let stream: Stream = { residual: embeddings(graph, config, weights, ids, patches) };
  for (const [i, spec] of config.layers.entries()) {
    const { qkvBias, qkNorm, norms } = spec;
    const layer = `model.layers.${i}`;
    const named = (name: string | null): string | null => name && `${layer}.${name}.weight`;
    const ofLayer = ({ before, after }: BlockNorms): BlockNorms => ({
      before: named(before),
      after: named(after),
    });
    const attended = block(graph, config, weights, stream, ofLayer(norms.attention), (x) => {
      let qkv = weights.linear(graph, x, `${layer}.self_attn.qkv_proj.weight`);
      if (qkvBias) qkv = graph.op('Add', [qkv, weights.value(`${layer}.self_attn.qkv_proj.bias`)]);
      if (qkNorm === 'whole') qkv = normWhole(graph, config, weights, layer, qkv);
      const heads = weights.operand(graph, attend(qkv, i), config.heads * config.headDim, 'attended');
      return weights.linear(graph, heads, `${layer}.self_attn.o_proj.weight`);
    });
    stream = block(graph, config, weights, attended, ofLayer(norms.mlp), (x) =>
      mlp(graph, config, weights, spec, layer, x),
    );
  }
  return stream as Required<Stream>;
}
