/**
 * The one model definition: a Llama / Qwen2 / Qwen3 decoder over packed sequences, from rotary attention with grouped heads to the
 * gated MLP. The differences (biases on q, k, v; norms on the heads of q and k; tied embeddings) come from the config alone.
 */
import { wrongInput } from '../../core/errors.ts';
import { causalAttention } from '../ops/causal-attention.ts';
import { gatherRows } from '../ops/gather-rows.ts';
import { linear } from '../ops/linear.ts';
import { rmsNorm } from '../ops/rms-norm.ts';
import { swiGlu } from '../ops/swiglu.ts';
import * as tf from '../tfjs.ts';
import type { PackedBatch } from './pack.ts';
import type { ParamSet } from './params.ts';

/** Name of the output projection: the embedding table where they are tied. */
export const outputName = (params: ParamSet): string =>
  params.config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';

function attentionBlock(
  params: ParamSet,
  layer: string,
  x: tf.Tensor2D,
  offsets: tf.Tensor1D,
  rotary: tf.Tensor2D,
  longest: number,
): tf.Tensor2D {
  const { heads, kvHeads, headDim, rmsNormEps, qkvBias, qkNorm } = params.config;
  const named = (suffix: string) =>
    ['q', 'k', 'v'].map((p) => params.get(`${layer}.self_attn.${p}_proj.${suffix}`));
  const h = rmsNorm(x, params.get(`${layer}.input_layernorm.weight`), rmsNormEps);
  let [q, k, v] = linear(h, named('weight'), qkvBias ? named('bias') : []) as [
    tf.Tensor2D,
    tf.Tensor2D,
    tf.Tensor2D,
  ];
  if (qkNorm) {
    const normed = (t: tf.Tensor2D, name: string): tf.Tensor2D => {
      const perHead = rmsNorm(
        tf.reshape(t, [-1, headDim]),
        params.get(`${layer}.self_attn.${name}.weight`),
        rmsNormEps,
      );
      return tf.reshape(perHead, t.shape);
    };
    q = normed(q, 'q_norm');
    k = normed(k, 'k_norm');
  }
  const mixed = causalAttention(q, k, v, offsets, rotary, { heads, kvHeads, longest });
  return tf.add(x, linear(mixed, [params.get(`${layer}.self_attn.o_proj.weight`)])[0]!);
}

function mlpBlock(params: ParamSet, layer: string, x: tf.Tensor2D): tf.Tensor2D {
  const weight = (name: string) => params.get(`${layer}.mlp.${name}_proj.weight`);
  const h = rmsNorm(x, params.get(`${layer}.post_attention_layernorm.weight`), params.config.rmsNormEps);
  const [gate, up] = linear(h, [weight('gate'), weight('up')]);
  return tf.add(x, linear(swiGlu(gate!, up!), [weight('down')])[0]!);
}

/** Hidden states [tokens, hidden] after the last block, before the final norm. */
export function hiddenStates(params: ParamSet, batch: PackedBatch): tf.Tensor2D {
  const { vocabSize, layers } = params.config;
  const unknown = batch.ids.find((id) => id < 0 || id >= vocabSize);
  if (unknown !== undefined)
    throw wrongInput('learner.token', `Token id ${unknown} is not in the vocabulary.`, {
      expected: `ids from 0 to ${vocabSize - 1}`,
    });
  const rotary = params.rotary(batch.longest);
  const offsets = tf.tensor1d(batch.offsets, 'int32');
  let x = gatherRows(params.get('model.embed_tokens.weight') as tf.Tensor2D, batch.ids);
  for (let i = 0; i < layers; i++) {
    const layer = `model.layers.${i}`;
    // The tidy frees what no gradient needs; what one does need, the tape keeps.
    const input = x;
    x = tf.tidy(() =>
      mlpBlock(params, layer, attentionBlock(params, layer, input, offsets, rotary, batch.longest)),
    );
  }
  return x;
}

/** Hidden states of the positions that predict a scored token, after the final norm: [scored, hidden]. */
export function scoredStates(params: ParamSet, batch: PackedBatch): tf.Tensor2D {
  const rows = gatherRows(hiddenStates(params, batch), batch.rows);
  return rmsNorm(rows, params.get('model.norm.weight'), params.config.rmsNormEps);
}
