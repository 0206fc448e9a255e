/** Samples one token from logits inside the graph, by inverting the cumulative distribution at a given uniform number. */
import { DataType, Graph, type Value } from './builder.ts';

const { FLOAT } = DataType;

export interface SamplerInputs {
  /** [picked, vocab], already divided by the temperature. */
  readonly logits: Value;
  /** [picked, 1] in (0, 1). */
  readonly uniform: Value;
  /** bool: take the most likely token instead. */
  readonly greedy: Value;
  /** bool: whether `bias` or truncation changes anything. */
  readonly restrict: Value;
  /** int64 [vocab]: the class of each token. */
  readonly classOf: Value;
  /** [states, classes]: what is added to the logits of a class, by a row's state. */
  readonly bias: Value;
  /** int64 [picked, 1]: a row's state. */
  readonly state: Value;
  /** bool: keep only the tokens that `topK` and `topP` leave. */
  readonly truncate: Value;
  /** int64 [1], at most vocab. */
  readonly topK: Value;
  /** float; above 1 keeps everything. */
  readonly topP: Value;
}

/** The sampled token (int64) and its log-probability (nats) under the distribution after bias and truncation, [picked, 1] each. */
export function sampler(
  graph: Graph,
  vocabSize: number,
  inputs: SamplerInputs,
): { token: Value; logprob: Value } {
  const probabilities = distribution(graph, vocabSize, inputs);
  const cumulative = graph.op('CumSum', [probabilities, graph.scalarInt64(1)]);
  const total = graph.op('Gather', [cumulative, graph.int64(vocabSize - 1)], { axis: 1 });
  // The threshold is scaled by the rounded total, so it is always reached, and first by a token of non-zero probability.
  const threshold = graph.op('Mul', [total, inputs.uniform]);
  const reached = graph.op('Cast', [graph.op('GreaterOrEqual', [cumulative, threshold])], { to: FLOAT });
  const choice = graph.op('Where', [inputs.greedy, probabilities, reached]);
  const token = graph.op('ArgMax', [choice], { axis: 1, keepdims: 1 });
  const logprob = graph.op('Log', [graph.op('GatherElements', [probabilities, token], { axis: 1 })]);
  return { token, logprob };
}

/** Probabilities [picked, vocab] of the tokens that bias and truncation leave. */
function distribution(graph: Graph, vocabSize: number, inputs: SamplerInputs): Value {
  const { logits, classOf, bias, state, restrict } = inputs;
  const yes = new Graph('restricted', graph);
  const ofState = yes.op('Gather', [bias, yes.op('Reshape', [state, yes.int64(-1)])], { axis: 0 });
  const biased = yes.op('Add', [logits, yes.op('Gather', [ofState, classOf], { axis: 1 })]);
  const kept = truncated(yes, vocabSize, biased, inputs);
  yes.output(yes.op('Softmax', [kept], { axis: -1 }), FLOAT, ['picked', vocabSize]);
  const no = new Graph('free', graph);
  no.output(no.op('Softmax', [logits], { axis: -1 }), FLOAT, ['picked', vocabSize]);
  return graph.op('If', [restrict], { then_branch: yes.build(), else_branch: no.build() });
}

/** Sets logits outside top-k, and then outside top-p of the rest, to minus infinity. Tokens tied with the last kept one are kept. */
function truncated(
  graph: Graph,
  vocabSize: number,
  logits: Value,
  { truncate, topK, topP }: SamplerInputs,
): Value {
  const yes = new Graph('truncate', graph);
  const [values, indices] = [yes.fresh('values'), yes.fresh('indices')];
  yes.node('TopK', [logits, topK], [values, indices], { axis: 1, sorted: 1 });
  // `before` is the mass of all more likely tokens: it is 0 for the first, which is therefore always kept.
  const mass = yes.op('Softmax', [values], { axis: -1 });
  const before = yes.op('CumSum', [mass, yes.scalarInt64(1)], { exclusive: 1 });
  const inside = yes.op('Less', [before, topP]);
  const insideValues = yes.op('Where', [inside, values, yes.scalarFloat(Number.POSITIVE_INFINITY)]);
  const least = yes.op('ReduceMin', [insideValues, yes.int64(1)], { keepdims: 1 });
  const isKept = yes.op('GreaterOrEqual', [logits, least]);
  const cut = yes.op('Where', [isKept, logits, yes.scalarFloat(Number.NEGATIVE_INFINITY)]);
  yes.output(cut, FLOAT, ['picked', vocabSize]);
  const no = new Graph('keep', graph);
  no.output(no.op('Identity', [logits]), FLOAT, ['picked', vocabSize]);
  return graph.op('If', [truncate], { then_branch: yes.build(), else_branch: no.build() });
}
