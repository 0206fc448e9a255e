/**
 * A graph of only the matrix products of a turn, repeated as often as asked: it shows what generation would cost if everything else
 * were free, and so how much is left to gain.
 */
import type { ModelConfig } from '../../../model/config.ts';
import { DataType, Graph, modelBytes } from '../../../model/onnx/builder.ts';
import { headWeight } from '../../../model/onnx/decoder.ts';
import { declareWeights } from '../../../model/onnx/graph-weights.ts';
import type { WeightType } from '../../../model/onnx/weights.ts';

const { FLOAT, INT64, BOOL } = DataType;

/** Inputs `hidden`, `attended`, `gated` [rows, 1, width] of the products, and `turns`; its output says nothing. */
export function productsGraph(config: ModelConfig, type: WeightType): Uint8Array {
  const graph = new Graph('products');
  const input = (name: string, width: number) => graph.input(name, FLOAT, ['rows', 1, width]);
  const hidden = input('hidden', config.hiddenSize);
  const attended = input('attended', config.heads * config.headDim);
  const gated = input('gated', config.intermediateSize);
  const turns = graph.input('turns', INT64, []);
  const weights = declareWeights(graph, config, type);
  const body = new Graph('turn', graph);
  body.input('turn', INT64, []);
  const going = body.input('going', BOOL, []);
  const carried = body.input('carried', FLOAT, []);
  for (let layer = 0; layer < config.layers.length; layer++) {
    const at = `model.layers.${layer}`;
    const normed = weights.operand(body, hidden, config.hiddenSize, 'normed');
    weights.linear(body, normed, `${at}.self_attn.qkv_proj.weight`);
    const heads = weights.operand(body, attended, config.heads * config.headDim, 'attended');
    weights.linear(body, heads, `${at}.self_attn.o_proj.weight`);
    weights.linear(body, normed, `${at}.mlp.gate_proj.weight`);
    weights.linear(body, normed, `${at}.mlp.up_proj.weight`);
    const last = weights.operand(body, gated, config.intermediateSize, 'gated');
    weights.linear(body, last, `${at}.mlp.down_proj.weight`);
  }
  weights.linear(body, { value: hidden }, headWeight(config));
  body.output(body.op('Identity', [going]), BOOL, []);
  body.output(body.op('Identity', [carried]), FLOAT, []);
  const forever = graph.constant(BOOL, [], Uint8Array.of(1));
  graph.node('Loop', [turns, forever, graph.scalarFloat(0)], ['done'], { body: body.build() });
  graph.output('done', FLOAT, []);
  return modelBytes(graph);
}
