/** The checkpoint as exporters write it, with the names that transformers.js looks for; its weights are in the file. */
import type { ModelConfig } from '../../../model/config.ts';
import { DataType, Graph, modelBytes } from '../../../model/onnx/builder.ts';
import { addAndNorm, decoder, headWeight } from '../../../model/onnx/decoder.ts';
import { declareWeights } from '../../../model/onnx/graph-weights.ts';
import type { WeightType } from '../../../model/onnx/weights.ts';
import { ropeTables } from '../../../model/rope.ts';

const { FLOAT, INT32, INT64 } = DataType;

/** Inputs `input_ids`, `attention_mask` [batch, seq] and past caches; outputs `logits` [batch, seq, vocab] and present caches. */
export function exportedGraph(config: ModelConfig, type: WeightType): Uint8Array {
  const graph = new Graph('exported');
  // transformers.js makes the empty caches of the first run by the name of this dimension.
  const kv = (length: string) => ['batch_size', config.kvHeads, length, config.headDim];
  const ids = graph.input('input_ids', INT64, ['batch', 'seq']);
  const mask = graph.input('attention_mask', INT64, ['batch', 'total']);
  const names = (kind: string, layer: number) => [`${kind}.${layer}.key`, `${kind}.${layer}.value`] as const;
  const weights = declareWeights(graph, config, type);
  const lengths = graph.op('ReduceSum', [mask, graph.int64(1)], { keepdims: 0 });
  const last = graph.op('Cast', [graph.op('Sub', [lengths, graph.scalarInt64(1)])], { to: INT32 });
  const total = graph.op('Gather', [graph.op('Shape', [mask]), graph.scalarInt64(1)]);
  const totalLength = graph.op('Cast', [total], { to: INT32 });
  const rope = ropeTables(config.layers[0]!.rope, config.headDim, config.maxPositions);
  const table = (values: Float32Array) =>
    graph.constant(FLOAT, [config.maxPositions, config.headDim / 2], values);
  const [cos, sin] = [table(rope.cos), table(rope.sin)];
  const outputs: string[] = [];
  const { residual, added } = decoder(graph, config, weights, ids, (qkv, layer) => {
    const past = names('past_key_values', layer).map((name) => graph.input(name, FLOAT, kv('past')));
    const present = names('present', layer);
    outputs.push(...present);
    const out = graph.fresh('attention');
    graph.node(
      'com.microsoft:GroupQueryAttention',
      [qkv, '', '', ...past, last, totalLength, cos, sin],
      [out, ...present],
      { num_heads: config.heads, kv_num_heads: config.kvHeads, do_rotary: 1 },
    );
    return out;
  });
  const { normed } = addAndNorm(graph, residual, added, weights.value('model.norm.weight'), config);
  graph.node('Identity', [weights.linear(graph, { value: normed }, headWeight(config))], ['logits']);
  graph.output('logits', FLOAT, ['batch', 'seq', config.vocabSize]);
  for (const name of outputs) graph.output(name, FLOAT, kv('total'));
  return modelBytes(graph);
}
