/** One draw from logits inside the graph: the inverse of the cumulative distribution at a given uniform number. */
import { DataType, Graph, type Value } from './builder.ts';

const { FLOAT } = DataType;

export interface SamplerInputs {
  /** [picked, vocab], already divided by the temperature. */
  readonly logits: Value;
  /** [picked, 1] in (0, 1). */
  readonly uniform: Value;
  /** bool: take the most likely token instead. */
  readonly greedy: Value;
  /** bool: keep only the tokens that `topK` and `topP` leave. */
  readonly truncate: Value;
  /** int64 [1], at most vocab. */
  readonly topK: Value;
  /** float; above 1 keeps everything. */
  readonly topP: Value;
}

/** Token (int64) and its log-probability (nats) under the distribution after truncation, [picked, 1] each. */
export function sampler(
  graph: Graph,
  vocabSize: number,
  inputs: SamplerInputs,
): { token: Value; logprob: Value } {
  const kept = truncated(graph, vocabSize, inputs);
  const probabilities = graph.op('Softmax', [kept], { axis: -1 });
  const cumulative = graph.op('CumSum', [probabilities, graph.scalarInt64(1)]);
  const total = graph.op('Gather', [cumulative, graph.int64(vocabSize - 1)], { axis: 1 });
  // Scaled by the rounded total, the threshold is always reached, and first by a token of non-zero probability.
  const threshold = graph.op('Mul', [total, inputs.uniform]);
  const reached = graph.op('Cast', [graph.op('GreaterOrEqual', [cumulative, threshold])], { to: FLOAT });
  const choice = graph.op('Where', [inputs.greedy, probabilities, reached]);
  const token = graph.op('ArgMax', [choice], { axis: 1, keepdims: 1 });
  const logprob = graph.op('Log', [graph.op('GatherElements', [probabilities, token], { axis: 1 })]);
  return { token, logprob };
}

/** Logits with those outside top-k, then top-p of what is left, at minus infinity. Tokens tied with the last kept one stay. */
function truncated(graph: Graph, vocabSize: number, { logits, truncate, topK, topP }: SamplerInputs): Value {
  const yes = new Graph('truncate', graph);
  const [values, indices] = [yes.fresh('values'), yes.fresh('indices')];
  yes.node('TopK', [logits, topK], [values, indices], { axis: 1, sorted: 1 });
  // The mass of all more likely tokens: 0 for the first, which is therefore always kept.
  const before = yes.op('CumSum', [yes.op('Softmax', [values], { axis: -1 }), yes.scalarInt64(1)], {
    exclusive: 1,
  });
  const inside = yes.op('Less', [before, topP]);
  const insideValues = yes.op('Where', [inside, values, yes.scalarFloat(Number.POSITIVE_INFINITY)]);
  const least = yes.op('ReduceMin', [insideValues, yes.int64(1)], { keepdims: 1 });
  const cut = yes.op('Where', [
    yes.op('GreaterOrEqual', [logits, least]),
    logits,
    yes.scalarFloat(Number.NEGATIVE_INFINITY),
  ]);
  yes.output(cut, FLOAT, ['picked', vocabSize]);
  const no = new Graph('keep', graph);
  no.output(no.op('Identity', [logits]), FLOAT, ['picked', vocabSize]);
  return graph.op('If', [truncate], { then_branch: yes.build(), else_branch: no.build() });
}
