/**
 * The graph of the usual way to generate, as the bench's baseline: one token a run, caches in and out, logits out. The same
 * decoder nodes as a policy's graph, so that only the way of running differs.
 */
import type { ModelConfig } from '../../../model/config.ts';
import { DataType, Graph, modelBytes } from '../../../model/onnx/builder.ts';
import { addAndNorm, decoder, headWeight } from '../../../model/onnx/decoder.ts';
import { declareWeights } from '../../../model/onnx/graph-weights.ts';
import { cacheNames } from '../../../model/onnx/policy-graph.ts';
import { ropeTables } from '../../../model/rope.ts';

const { FLOAT, INT32, INT64 } = DataType;

/**
 * Inputs `ids` [batch, seq], `last_position` [batch] and past caches; outputs `logits` [batch, vocab] and present caches.
 * The runtime's own attention node; for models without norms on heads.
 */
export function stepGraph(config: ModelConfig): Uint8Array {
  const graph = new Graph('step');
  const kv = (length: string) => ['batch', config.kvHeads, length, config.headDim];
  const ids = graph.input('ids', INT64, ['batch', 'seq']);
  const lastPosition = graph.input('last_position', INT32, ['batch']);
  const past = cacheNames(config, 'past').map((name) => graph.input(name, FLOAT, kv('past')));
  const present = cacheNames(config, 'present');
  const weights = declareWeights(graph, config, 'float32');
  const longest = graph.op('ReduceMax', [lastPosition], { keepdims: 0 });
  const total = graph.op('Add', [longest, graph.scalarInt32(1)]);
  const rope = ropeTables(config.layers[0]!.rope, config.headDim, config.maxPositions);
  const table = (values: Float32Array) =>
    graph.constant(FLOAT, [config.maxPositions, config.headDim / 2], values);
  const [cos, sin] = [table(rope.cos), table(rope.sin)];
  const { residual, added } = decoder(graph, config, weights, ids, (qkv, layer) => {
    const out = graph.fresh('attention');
    const [key, value] = [2 * layer, 2 * layer + 1];
    graph.node(
      'com.microsoft:GroupQueryAttention',
      [qkv, '', '', past[key]!, past[value]!, lastPosition, total, cos, sin],
      [out, present[key]!, present[value]!],
      { num_heads: config.heads, kv_num_heads: config.kvHeads, do_rotary: 1 },
    );
    return out;
  });
  const lastOf = (x: string) => graph.op('Gather', [x, graph.scalarInt64(-1)], { axis: 1 });
  const gain = weights.value('model.norm.weight');
  const { normed } = addAndNorm(graph, lastOf(residual), lastOf(added), gain, config);
  const logits = weights.linear(graph, { value: normed }, headWeight(config));
  graph.node('Identity', [logits], ['logits']);
  graph.output('logits', FLOAT, ['batch', config.vocabSize]);
  for (const name of present) graph.output(name, FLOAT, kv('present'));
  return modelBytes(graph);
}
