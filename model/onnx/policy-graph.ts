/**
 * The one graph of a policy: a Loop whose body runs the decoder on the tokens at hand and samples the next ones. Each weight
 * is read by exactly one node, so that the runtime keeps it once. The same graph
 *   - fills a cache: one turn over a batch of prompts, the caches fetched;
 *   - generates: as many turns as tokens, from a cache whose prompts are shared by their samples (`rows`);
 *   - scores: one turn over whole sequences, the scores of `targets` fetched.
 * Idea: ONNX `Loop` with sampling inside, inverse-CDF sampling from given uniforms.
 */
import type { ModelConfig } from '../config.ts';
import { DataType, Graph, modelBytes, type Value } from './builder.ts';
import { type Cache, declareWeights, decoder, linear } from './decoder.ts';
import { sampler } from './sampler.ts';
import { paddedHeadDim } from './weights.ts';

const { FLOAT, INT32, INT64, BOOL } = DataType;

export const cacheNames = (config: ModelConfig, kind: 'past' | 'present'): string[] =>
  Array.from({ length: config.layers }, (_, i) => [`${kind}_${i}_key`, `${kind}_${i}_value`]).flat();

/** The .onnx file of a config; its weights are in a file beside it (`packWeights`). */
export function policyGraph(config: ModelConfig): Uint8Array {
  const graph = new Graph('policy');
  const kv = (length: string) => [config.kvHeads, length, paddedHeadDim(config)];
  const ids = graph.input('ids', INT64, ['batch', 'seq']);
  const lastPosition = graph.input('last_position', INT32, ['batch']);
  const turns = graph.input('turns', INT64, []);
  const rows = graph.input('rows', INT64, ['batch']);
  const positions = graph.input('positions', INT64, ['picked']);
  const uniforms = graph.input('uniforms', FLOAT, ['turns', 'picked', 1]);
  const inverseTemperature = graph.input('inverse_temperature', FLOAT, []);
  const greedy = graph.input('greedy', BOOL, []);
  const truncate = graph.input('truncate', BOOL, []);
  const topK = graph.input('top_k', INT64, [1]);
  const topP = graph.input('top_p', FLOAT, []);
  const goesOn = graph.input('goes_on', FLOAT, [config.vocabSize]);
  const alive = graph.input('alive', FLOAT, ['picked', 1]);
  const targets = graph.input('targets', INT64, ['picked', 1]);
  const past = cacheNames(config, 'past').map((name) => graph.input(name, FLOAT, ['prompts', ...kv('past')]));
  const weights = declareWeights(graph, config);
  // Temperature goes into the last norm's gain, once, instead of into the logits, each turn.
  const gain = graph.op('Mul', [weights.get('model.norm.weight'), inverseTemperature]);
  const shared = past.map((value) => graph.op('Gather', [value, rows], { axis: 0 }));

  const body = new Graph('turn', graph);
  const turn = body.input('turn', INT64, []);
  body.input('going', BOOL, []);
  const carried = {
    ids: body.input('turn_ids', INT64, ['batch', 'turn_seq']),
    last: body.input('turn_last', INT32, ['batch']),
    alive: body.input('turn_alive', FLOAT, ['picked', 1]),
  };
  body.input('turn_logits', FLOAT, ['earlier', 'earlier_vocab']);
  const caches: Cache[] = Array.from({ length: config.layers }, (_, i) => ({
    key: body.input(`turn_${i}_key`, FLOAT, ['batch', ...kv('turn_past')]),
    value: body.input(`turn_${i}_value`, FLOAT, ['batch', ...kv('turn_past')]),
  }));
  const longest = body.op('ReduceMax', [carried.last], { keepdims: 0 });
  const totalLength = body.op('Add', [longest, body.scalarInt32(1)]);
  const out = decoder(body, config, weights, {
    ids: carried.ids,
    lastPosition: carried.last,
    totalLength,
    caches,
  });
  const logits = head(body, config, out, { gain, positions, weight: weights.get(headName(config)) });
  const uniform = body.op('Gather', [uniforms, turn], { axis: 0 });
  const drawn = sampler(body, config.vocabSize, { logits, uniform, greedy, truncate, topK, topP });
  const stillAlive = body.op('Mul', [carried.alive, body.op('Gather', [goesOn, drawn.token], { axis: 0 })]);
  const going = body.op('Cast', [body.op('ReduceMax', [stillAlive], { keepdims: 0 })], { to: BOOL });
  body.output(going, BOOL, []);
  body.output(drawn.token, INT64, ['batch', 1]);
  body.output(body.op('Add', [carried.last, body.scalarInt32(1)]), INT32, ['batch']);
  body.output(stillAlive, FLOAT, ['picked', 1]);
  body.output(logits, FLOAT, ['picked', config.vocabSize]);
  for (const { key, value } of out.caches) {
    body.output(key, FLOAT, ['batch', ...kv('turn_present')]);
    body.output(value, FLOAT, ['batch', ...kv('turn_present')]);
  }
  body.output(body.op('Identity', [drawn.token]), INT64, ['picked', 1]);
  body.output(drawn.logprob, FLOAT, ['picked', 1]);

  const present = cacheNames(config, 'present');
  const noLogits = graph.constant(FLOAT, [0, 0], new Float32Array(0));
  const lastLogits = graph.fresh('logits');
  graph.node(
    'Loop',
    [turns, graph.constant(BOOL, [], Uint8Array.of(1)), ids, lastPosition, alive, noLogits, ...shared],
    ['unused_ids', 'unused_last', 'unused_alive', lastLogits, ...present, 'tokens', 'logprobs'],
    { body: body.build() },
  );
  const scores = score(graph, lastLogits, targets);
  graph.output('tokens', INT64, ['turns', 'picked', 1]);
  graph.output('logprobs', FLOAT, ['turns', 'picked', 1]);
  graph.output(scores.logprob, FLOAT, ['picked', 1]);
  graph.output(scores.entropy, FLOAT, ['picked', 1]);
  for (const name of present) graph.output(name, FLOAT, ['batch', ...kv('present')]);
  return modelBytes(graph);
}

const headName = (config: ModelConfig): string =>
  config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';

/** Logits [picked, vocab] of the picked tokens of [batch * seq]. */
function head(
  graph: Graph,
  config: ModelConfig,
  { residual, added }: { residual: Value; added: Value },
  inputs: { gain: Value; positions: Value; weight: Value },
): Value {
  const pick = (x: Value): Value => {
    const flat = graph.op('Reshape', [x, graph.int64(-1, config.hiddenSize)]);
    return graph.op('Gather', [flat, inputs.positions], { axis: 0 });
  };
  const normed = graph.op(
    'com.microsoft:SkipSimplifiedLayerNormalization',
    [pick(residual), pick(added), inputs.gain],
    { epsilon: { float: config.rmsNormEps } },
  );
  return linear(graph, normed, inputs.weight);
}

/** Log-probabilities of `targets` and entropies (nats), [picked, 1] each. */
function score(graph: Graph, logits: Value, targets: Value): { logprob: Value; entropy: Value } {
  const logprobs = graph.op('LogSoftmax', [logits], { axis: -1 });
  graph.node('GatherElements', [logprobs, targets], ['target_logprobs'], { axis: 1 });
  const terms = graph.op('Mul', [graph.op('Exp', [logprobs]), logprobs]);
  graph.node('Neg', [graph.op('ReduceSum', [terms, graph.int64(1)])], ['entropy']);
  return { logprob: 'target_logprobs', entropy: 'entropy' };
}
