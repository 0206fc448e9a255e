/**
 * The graph of the usual way to generate, as the bench's baseline: one token a run, caches in and out, logits out. The same
 * decoder nodes as a policy's graph, so that only the way of running differs.
 */
import type { ModelConfig } from '../../model/config.ts';
import { DataType, Graph, modelBytes } from '../../model/onnx/builder.ts';
import { declareWeights, decoder, linear } from '../../model/onnx/decoder.ts';
import { cacheNames } from '../../model/onnx/policy-graph.ts';
import { paddedHeadDim } from '../../model/onnx/weights.ts';

const { FLOAT, INT32, INT64 } = DataType;

/** Inputs `ids` [batch, seq], `last_position` [batch] and past caches; outputs `logits` [batch, vocab] and present caches. */
export function stepGraph(config: ModelConfig): Uint8Array {
  const graph = new Graph('step');
  const kv = (length: string) => ['batch', config.kvHeads, length, paddedHeadDim(config)];
  const ids = graph.input('ids', INT64, ['batch', 'seq']);
  const lastPosition = graph.input('last_position', INT32, ['batch']);
  const past = cacheNames(config, 'past').map((name) => graph.input(name, FLOAT, kv('past')));
  const weights = declareWeights(graph, config);
  const longest = graph.op('ReduceMax', [lastPosition], { keepdims: 0 });
  const { residual, added, caches } = decoder(graph, config, weights, {
    ids,
    lastPosition,
    totalLength: graph.op('Add', [longest, graph.scalarInt32(1)]),
    caches: Array.from({ length: config.layers }, (_, i) => ({ key: past[2 * i]!, value: past[2 * i + 1]! })),
  });
  const lastOf = (x: string) => graph.op('Gather', [x, graph.scalarInt64(-1)], { axis: 1 });
  const normed = graph.op(
    'com.microsoft:SkipSimplifiedLayerNormalization',
    [lastOf(residual), lastOf(added), weights.get('model.norm.weight')],
    { epsilon: { float: config.rmsNormEps } },
  );
  const head = config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
  const logits = linear(graph, normed, weights.get(head));
  graph.node('Identity', [logits], ['logits']);
  graph.output('logits', FLOAT, ['batch', config.vocabSize]);
  const present = cacheNames(config, 'present');
  caches.forEach(({ key, value }, i) => {
    graph.node('Identity', [key], [present[2 * i]!]);
    graph.node('Identity', [value], [present[2 * i + 1]!]);
  });
  for (const name of present) graph.output(name, FLOAT, kv('present'));
  return modelBytes(graph);
}
