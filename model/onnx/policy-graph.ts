/**
 * The single graph of a policy: a Loop whose body runs the decoder on the current tokens and samples the next ones. Each weight
 * is read by exactly one node, so that the runtime keeps it once. The same graph
 *   - fills a cache: one turn over a batch of prompts, the caches fetched;
 *   - generates: as many turns as tokens, from a cache whose prompts are shared by their samples;
 *   - scores: one turn over whole sequences, the scores of `targets` fetched.
 * Axes as in attention.ts. A row is one sample of one prompt, row = prompt * G + sample.
 */

import { patchWidth } from '../../core/images/patches.ts';
import { LONGEST_CONTEXT } from '../../core/policy/policy.ts';
import type { ModelConfig } from '../config.ts';
import type { HeadWeights } from '../head.ts';
import { ropesOf } from '../layers.ts';
import { attention, type Cache, headGains, rotation, sharedCache, type Turn, windowed } from './attention.ts';
import { DataType, type Dimension, Graph, modelBytes, type Value } from './builder.ts';
import { decoder, headWeight, projectedPatches } from './decoder.ts';
import { declareWeights } from './graph-weights.ts';
import { sampler } from './sampler.ts';
import type { WeightType } from './weights.ts';

const { FLOAT, INT64, BOOL } = DataType;

/** Longest sequence that a graph can serve, tokens: the model's maximum, limited by the size of the rotation tables. */
export const contextLength = (config: ModelConfig): number => Math.min(config.maxPositions, LONGEST_CONTEXT);

/** Names of the caches' tensors, key and value of each layer in turn. */
export const cacheNames = (config: ModelConfig, kind: 'past' | 'present'): string[] =>
  config.layers.flatMap((_, i) => [`${kind}_${i}_key`, `${kind}_${i}_value`]);

const pairs = (values: readonly Value[]): Cache[] =>
  Array.from({ length: values.length / 2 }, (_, i) => ({ key: values[2 * i]!, value: values[2 * i + 1]! }));

/** Declares the inputs of the main graph, by the names under which they are fed. */
function declareInputs(graph: Graph, config: ModelConfig) {
  const { kvHeads, headDim, vision } = config;
  const input = (name: string, type: DataType, dims: readonly Dimension[]) => graph.input(name, type, dims);
  return {
    /** New tokens of each row, and their positions. A number from vocabSize on stands for a patch of an image, the first of `patches` and so on. */
    ids: input('ids', INT64, ['P', 'N']),
    position: input('position', INT64, ['P', 'N']),
    ownShape: input('own_shape', INT64, [6]),
    queryShape: input('query_shape', INT64, [6]),
    flatShape: input('flat_shape', INT64, [4]),
    mask: input('mask', FLOAT, ['masks', 1, 1, 1, 'queries', 'columns']),
    /** A column of zeros: each turn adds one own position, which every query may attend to. */
    nextMask: input('next_mask', FLOAT, ['masks', 1, 1, 1, 'queries', 1]),
    widths: input('widths', INT64, [2]),
    /** Largest number of turns; a row takes as many unless it stops. */
    turns: input('turns', INT64, []),
    /** Indices of those of the P * N new tokens that are continued or scored. */
    picks: input('picks', INT64, ['picked']),
    /** int64 [2]: the shape in which the sampled tokens become the next turn's ids. */
    nextShape: input('next_shape', INT64, [2]),
    uniforms: input('uniforms', FLOAT, ['turns', 'picked', 1]),
    inverseTemperature: input('inverse_temperature', FLOAT, []),
    greedy: input('greedy', BOOL, []),
    truncate: input('truncate', BOOL, []),
    topK: input('top_k', INT64, [1]),
    topP: input('top_p', FLOAT, []),
    /** The automaton of allowed tokens (`Automaton` in infer/automaton.ts), and the rows' states at the start. */
    restrict: input('restrict', BOOL, []),
    classOf: input('class_of', INT64, [config.vocabSize]),
    bias: input('bias', FLOAT, ['states', 'classes']),
    next: input('next', INT64, ['states', 'classes']),
    goesOn: input('goes_on', FLOAT, ['states', 'classes']),
    state: input('state', INT64, ['picked', 1]),
    /** 1 for real rows, 0 for rows that only fill the batch. */
    alive: input('alive', FLOAT, ['picked', 1]),
    targets: input('targets', INT64, ['picked', 1]),
    /** The numbers of patches of images; only models that see have this input. */
    patches: vision && input('patches', FLOAT, ['seen', patchWidth(vision)]),
    past: cacheNames(config, 'past').map((name) => input(name, FLOAT, ['P', kvHeads, 'T', headDim])),
  };
}

/**
 * The .onnx file of a config. Its weights are in a file beside it, made by `packWeights` with the same type; those of a head on the hidden states, whose
 * outputs after the picked tokens are `last_heads`, are in the graph.
 */
export function policyGraph(
  config: ModelConfig,
  type: WeightType = 'float32',
  headWeights?: HeadWeights,
): Uint8Array {
  const { kvHeads, headDim, layers, vocabSize } = config;
  const graph = new Graph('policy');
  const inputs = declareInputs(graph, config);
  const weights = declareWeights(graph, config, type);
  const rotations = new Map(
    ropesOf(config.layers).map((rope) => [rope, rotation(graph, rope, headDim, contextLength(config))]),
  );
  // The inverse temperature is multiplied into the last norm's gain once, instead of into the logits in each turn.
  const gain = graph.op('Mul', [weights.norm('model.norm.weight'), inputs.inverseTemperature]);
  const shared = pairs(inputs.past).map((cache) => sharedCache(graph, cache));
  const patches = inputs.patches && projectedPatches(graph, config, weights, inputs.patches);
  const gains = config.layers.map(({ qkNorm }, i) =>
    qkNorm === 'heads' ? headGains(graph, config, weights, i) : undefined,
  );

  const body = new Graph('turn', graph);
  const own = (length: string) => ['P', kvHeads, 1, 'G', length, headDim];
  const turn = body.input('turn', INT64, []);
  body.input('going', BOOL, []);
  const carried = {
    ids: body.input('turn_ids', INT64, ['P', 'turn_N']),
    position: body.input('turn_position', INT64, ['P', 'turn_N']),
    mask: body.input('turn_mask', FLOAT, ['masks', 1, 1, 1, 'queries', 'turn_columns']),
    widths: body.input('turn_widths', INT64, [2]),
    alive: body.input('turn_alive', FLOAT, ['picked', 1]),
    state: body.input('turn_state', INT64, ['picked', 1]),
  };
  body.input('turn_logits', FLOAT, ['earlier', 'earlier_vocab']);
  if (headWeights) body.input('turn_heads', FLOAT, ['earlier', 'earlier_outputs']);
  const caches = pairs(cacheNames(config, 'past').map((name) => body.input(`turn_${name}`, FLOAT, own('t'))));
  const common: Turn = {
    ownShape: inputs.ownShape,
    queryShape: inputs.queryShape,
    flatShape: inputs.flatShape,
    position: carried.position,
    rotations,
    masks: new Map(
      [...new Set(config.layers.map(({ window }) => window))].map((window) => [
        window,
        window === null
          ? carried.mask
          : windowed(body, carried.mask, window, {
              ...{ position: carried.position, firstPosition: inputs.position },
              ...{ widths: carried.widths, queryShape: inputs.queryShape },
            }),
      ]),
    ),
    widths: carried.widths,
  };
  const grown: Cache[] = [];
  const attend = (qkv: Value, i: number): Value => {
    const stores = { shared: shared[i]!, own: caches[i]!, gains: gains[i] };
    const attended = attention(body, config, config.layers[i]!, qkv, common, stores);
    grown.push(attended.own);
    return attended.out;
  };
  const { residual, added } = decoder(body, config, weights, carried.ids, attend, patches);
  const states = pickedStates(body, config, [residual, added, gain], inputs.picks);
  const logits = weights.linear(body, { value: states }, headWeight(config));
  const uniform = body.op('Gather', [inputs.uniforms, turn], { axis: 0 });
  const { token, logprob } = sampler(body, vocabSize, { ...inputs, logits, uniform, state: carried.state });
  // int64 [picked, 2]: where a row's transition stands in the tables.
  const ofToken = body.op('Gather', [inputs.classOf, token]);
  const transition = body.op('Concat', [carried.state, ofToken], { axis: 1 });
  const goesOn = body.op('Reshape', [body.op('GatherND', [inputs.goesOn, transition]), body.int64(-1, 1)]);
  const alive = body.op('Mul', [carried.alive, goesOn]);
  body.output(body.op('Cast', [body.op('ReduceMax', [alive], { keepdims: 0 })], { to: BOOL }), BOOL, []);
  body.output(body.op('Reshape', [token, inputs.nextShape]), INT64, ['next_P', 'next_N']);
  const nextPosition = body.op('Add', [carried.position, body.scalarInt64(1)]);
  body.output(nextPosition, INT64, ['P', 'turn_N']);
  const nextMask = body.op('Concat', [carried.mask, inputs.nextMask], { axis: 5 });
  body.output(nextMask, FLOAT, ['masks', 1, 1, 1, 'queries', 'next_columns']);
  body.output(body.op('Add', [carried.widths, body.int64(0, 1)]), INT64, [2]);
  body.output(alive, FLOAT, ['picked', 1]);
  const nextState = body.op('Reshape', [body.op('GatherND', [inputs.next, transition]), body.int64(-1, 1)]);
  body.output(nextState, INT64, ['picked', 1]);
  body.output(logits, FLOAT, ['picked', vocabSize]);
  if (headWeights)
    body.output(headOutputs(graph, body, config, states, headWeights), FLOAT, [
      'picked',
      headWeights.outputs,
    ]);
  for (const value of grown.flatMap(({ key, value }) => [key, value]))
    body.output(value, FLOAT, own('next_t'));
  body.output(body.op('Identity', [token]), INT64, ['picked', 1]);
  body.output(logprob, FLOAT, ['picked', 1]);

  const present = cacheNames(config, 'present');
  const carriedOver = [
    'last_ids',
    'last_position',
    'last_mask',
    'last_widths',
    'last_alive',
    'last_state',
    'last_logits',
    ...(headWeights ? ['last_heads'] : []),
  ];
  const emptyCaches = new Array<Value>(2 * layers.length).fill(emptyCache(graph, config, inputs.ownShape));
  graph.node(
    'Loop',
    [
      inputs.turns,
      graph.constant(BOOL, [], Uint8Array.of(1)),
      inputs.ids,
      inputs.position,
      inputs.mask,
      inputs.widths,
      inputs.alive,
      inputs.state,
      ...(headWeights ? ['logits', 'heads'] : ['logits']).map(() =>
        graph.constant(FLOAT, [0, 0], new Float32Array(0)),
      ),
      ...emptyCaches,
    ],
    // Carried values need names even where no node reads them; the runtime fails otherwise.
    [...carriedOver, ...present, 'tokens', 'logprobs'],
    { body: body.build() },
  );
  score(graph, 'last_logits', inputs.targets);
  graph.output('last_logits', FLOAT, ['picked', vocabSize]);
  if (headWeights) graph.output('last_heads', FLOAT, ['picked', headWeights.outputs]);
  graph.output('tokens', INT64, ['turns', 'picked', 1]);
  graph.output('logprobs', FLOAT, ['turns', 'picked', 1]);
  graph.output('target_logprobs', FLOAT, ['picked', 1]);
  graph.output('entropy', FLOAT, ['picked', 1]);
  for (const name of present) graph.output(name, FLOAT, own('made'));
  return modelBytes(graph);
}

/** An empty own cache, [P, K, 1, G, 0, headDim]. */
function emptyCache(graph: Graph, config: ModelConfig, ownShape: Value): Value {
  const rows = graph.op('Slice', [ownShape, graph.int64(0), graph.int64(4)]);
  const dims = graph.op('Concat', [rows, graph.int64(0, config.headDim)], { axis: 0 });
  return graph.op('ConstantOfShape', [dims]);
}

/** The normed hidden states [picked, hidden] of the picked tokens of residual + added [P, N, hidden]. */
function pickedStates(
  graph: Graph,
  config: ModelConfig,
  [residual, added, gain]: readonly [Value, Value, Value],
  picks: Value,
): Value {
  const normed = graph.op('com.microsoft:SkipSimplifiedLayerNormalization', [residual, added, gain], {
    epsilon: { float: config.rmsNormEps },
  });
  const flat = graph.op('Reshape', [normed, graph.int64(-1, config.hiddenSize)]);
  return graph.op('Gather', [flat, picks], { axis: 0 });
}

/** The outputs [picked, outputs] of a head on the states of the picked tokens; its weights are constants of the main graph. */
function headOutputs(
  graph: Graph,
  body: Graph,
  { hiddenSize }: ModelConfig,
  states: Value,
  { outputs, weight, bias }: HeadWeights,
): Value {
  const product = body.op(
    'com.microsoft:FusedMatMul',
    [states, graph.constant(FLOAT, [outputs, hiddenSize], weight)],
    {
      transB: 1,
    },
  );
  return body.op('Add', [product, graph.constant(FLOAT, [outputs], bias)]);
}

/** Adds the outputs `target_logprobs` and `entropy` (nats), [picked, 1] each. */
function score(graph: Graph, logits: Value, targets: Value): void {
  const logprobs = graph.op('LogSoftmax', [logits], { axis: -1 });
  graph.node('GatherElements', [logprobs, targets], ['target_logprobs'], { axis: 1 });
  const terms = graph.op('Mul', [graph.op('Exp', [logprobs]), logprobs]);
  graph.node('Neg', [graph.op('ReduceSum', [terms, graph.int64(1)])], ['entropy']);
}
