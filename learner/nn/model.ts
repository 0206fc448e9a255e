/**
 * The learner's model definition: a decoder over packed sequences, with grouped-query attention and a gated MLP. The config's layers
 * alone decide what an architecture has.
 */
import { wrongInput } from '../../core/errors.ts';
import { type Patch, patchesIn, patchNumbers, patchWidth, type Vision } from '../../core/images/patches.ts';
import { PATCH_PROJECTION } from '../../model/checkpoint.ts';
import type { BlockNorms, LayerSpec } from '../../model/layers.ts';
import { causalAttention } from '../ops/causal-attention.ts';
import { gatedUnit } from '../ops/gated-unit.ts';
import { gatherRows } from '../ops/gather-rows.ts';
import { adaptedLinear, linear } from '../ops/linear.ts';
import { branchNorm, rmsNorm } from '../ops/rms-norm.ts';
import * as tf from '../tfjs.ts';
import { recomputed } from './backward.ts';
import type { Lora } from './lora.ts';
import type { PackedBatch } from './pack.ts';
import type { ParamSet } from './params.ts';

export interface ForwardOptions {
  /** Gradient checkpointing: keep only the blocks' inputs and compute the rest again in the backward pass; less memory, a third more time. */
  recompute?: boolean;
  /** Adapters on the projections; the gradient then flows to them and not to `params`. */
  adapter?: Lora | undefined;
}

interface Forward extends ForwardOptions {
  params: ParamSet;
  batch: PackedBatch;
}

interface Projection {
  /** The projections have biases. */
  readonly biased?: boolean;
  /** Added to the only projection. */
  readonly residual?: tf.Tensor2D | undefined;
}

/** Projections of h by several weights `<at>.<name>_proj`, adapters included. */
function project(
  forward: Forward,
  h: tf.Tensor2D,
  at: string,
  names: readonly string[],
  { biased = false, residual }: Projection = {},
): tf.Tensor2D[] {
  const { params, adapter } = forward;
  const weights = names.map((name) => `${at}.${name}_proj.weight`);
  const addends = {
    biases: biased ? names.map((name) => params.get(`${at}.${name}_proj.bias`)) : [],
    residuals: residual ? [residual] : [],
  };
  const frozen = weights.map((name) => params.get(name));
  const additions = weights.flatMap((name) => adapter?.addition(name) ?? []);
  if (!additions.length) return linear(h, frozen, addends);
  if (additions.length < names.length)
    return names.flatMap((name) => project(forward, h, at, [name], { biased }));
  return adaptedLinear(h, frozen, additions, addends);
}

/**
 * Adds a block to the residual stream x [tokens, hidden]. `run` gets the block's input, normed where the block says so, and the stream, which its
 * last product adds where no norm comes after it.
 */
function block(
  { params }: Forward,
  layer: string,
  { before, after }: BlockNorms,
  x: tf.Tensor2D,
  run: (input: tf.Tensor2D, residual?: tf.Tensor2D) => tf.Tensor2D,
): tf.Tensor2D {
  const { rmsNormEps } = params.config;
  const gain = (name: string): tf.Tensor => params.gain(`${layer}.${name}.weight`);
  const { normed, passed } = before ? branchNorm(x, gain(before), rmsNormEps) : { normed: x, passed: x };
  return after ? tf.add(passed, rmsNorm(run(normed), gain(after), rmsNormEps)) : run(normed, passed);
}

function attention(
  forward: Forward,
  { rope, window, qkvBias, qkNorm }: LayerSpec,
  at: string,
  h: tf.Tensor2D,
  residual?: tf.Tensor2D,
): tf.Tensor2D {
  const { params, batch } = forward;
  const { heads, kvHeads, headDim, rmsNormEps, queryScalar: scalar } = params.config;
  const [q, k, v] = project(forward, h, at, ['q', 'k', 'v'], { biased: qkvBias }) as [
    tf.Tensor2D,
    tf.Tensor2D,
    tf.Tensor2D,
  ];
  const normed = (t: tf.Tensor2D, name: string): tf.Tensor2D => {
    if (!qkNorm) return t;
    const gain = params.gain(`${at}.${name}_norm.weight`);
    if (qkNorm === 'whole') return rmsNorm(t, gain, rmsNormEps);
    return tf.reshape(rmsNorm(tf.reshape(t, [-1, headDim]), gain, rmsNormEps), t.shape);
  };
  const offsets = tf.tensor1d(batch.offsets, 'int32');
  const rotary = params.rotary(rope, batch.longest);
  const shape = { heads, kvHeads, longest: batch.longest, window, scalar };
  const mixed = causalAttention(normed(q, 'q'), normed(k, 'k'), v, offsets, rotary, shape);
  return project(forward, mixed, at, ['o'], { residual })[0]!;
}

function mlp(
  forward: Forward,
  { activation }: LayerSpec,
  at: string,
  h: tf.Tensor2D,
  residual?: tf.Tensor2D,
): tf.Tensor2D {
  const [gate, up] = project(forward, h, at, ['gate', 'up']);
  return project(forward, gatedUnit(activation, gate!, up!), at, ['down'], { residual })[0]!;
}

/** The tokens of a batch, patches included, and the patches by their rows. Throws `learner.blind` where the model does not see them. */
function seenIn({ ids, shown }: PackedBatch, vision: Vision | undefined) {
  if (!shown) return { ids, patches: new Map<number, Patch>() };
  if (!vision)
    throw wrongInput('learner.blind', 'A sequence shows an image, and the model does not see.', {
      expected: 'a model whose config.json has `vision`',
    });
  const patches = new Map(
    shown.flatMap((sequence) =>
      [...patchesIn(sequence.ids, vision)].map(([i, patch]) => [sequence.at + i, patch] as const),
    ),
  );
  return { ids: ids.map((id, row) => (patches.has(row) ? vision.token : id)), patches };
}

/** Embeddings of a batch's tokens [tokens, hidden]; those of patches have their projections added. */
function embeddings({ params, batch }: Forward): tf.Tensor2D {
  const { hiddenSize, scalesEmbeddings, vision } = params.config;
  const { ids, patches } = seenIn(batch, vision);
  const tokens = gatherRows(params.get('model.embed_tokens.weight') as tf.Tensor2D, ids);
  const scaled: tf.Tensor2D = scalesEmbeddings ? tf.mul(tokens, Math.sqrt(hiddenSize)) : tokens;
  if (!patches.size) return scaled;
  const shape: [number, number] = [patches.size, patchWidth(vision!)];
  const numbers = tf.tensor2d(patchNumbers([...patches.values()], vision!), shape);
  const [projected] = linear(numbers, [params.get(PATCH_PROJECTION)]);
  // Rows of text take one of zeros, which is behind the patches.
  const rowOf = new Map([...patches.keys()].map((row, p) => [row, p]));
  const rows = Int32Array.from(ids, (_, row) => rowOf.get(row) ?? patches.size);
  const withZeros = tf.concat([projected!, tf.zeros<tf.Rank.R2>([1, hiddenSize])], 0);
  return tf.add(scaled, gatherRows(withZeros, rows));
}

/** Hidden states [tokens, hidden] after the last block, before the final norm. */
function trunk(forward: Forward): tf.Tensor2D {
  const { params, batch, adapter, recompute = false } = forward;
  const { vocabSize, layers } = params.config;
  const unknown = batch.ids.find((id) => id < 0 || id >= vocabSize);
  if (unknown !== undefined)
    throw wrongInput('learner.token', `Token id ${unknown} is not in the vocabulary.`, {
      expected: `ids from 0 to ${vocabSize - 1}`,
    });
  let x = embeddings(forward);
  for (const [i, spec] of layers.entries()) {
    const layer = `model.layers.${i}`;
    // tf.tidy frees tensors that no gradient needs; the tape keeps the others.
    const whole = (input: tf.Tensor2D): tf.Tensor2D =>
      tf.tidy(() => {
        const attended = block(forward, layer, spec.norms.attention, input, (h, residual) =>
          attention(forward, spec, `${layer}.self_attn`, h, residual),
        );
        return block(forward, layer, spec.norms.mlp, attended, (h, residual) =>
          mlp(forward, spec, `${layer}.mlp`, h, residual),
        );
      });
    const trained = [...(adapter ?? params).tensors].filter(([name]) => name.startsWith(`${layer}.`));
    const output = recompute
      ? recomputed(
          whole,
          x,
          trained.map(([, tensor]) => tensor),
        )
      : whole(x);
    x.dispose();
    x = output;
  }
  return x;
}

/** Hidden states of some rows of the batch after the final norm: [rows, hidden]. */
export const statesAt = (
  params: ParamSet,
  batch: PackedBatch,
  rows: Int32Array,
  options: ForwardOptions = {},
): tf.Tensor2D =>
  tf.tidy(() => {
    const chosen = gatherRows(trunk({ params, batch, ...options }), rows);
    return rmsNorm(chosen, params.gain('model.norm.weight'), params.config.rmsNormEps);
  });

/** Hidden states of the positions that predict a scored token: [scored, hidden]. */
export const scoredStates = (
  params: ParamSet,
  batch: PackedBatch,
  options: ForwardOptions = {},
): tf.Tensor2D => statesAt(params, batch, batch.rows, options);

/** Hidden states of each sequence's last token, for scores and classes of whole sequences: [sequences, hidden]. */
export const lastStates = (params: ParamSet, batch: PackedBatch, options: ForwardOptions = {}): tf.Tensor2D =>
  statesAt(
    params,
    batch,
    batch.offsets.slice(1).map((end) => end - 1),
    options,
  );

/** The output projection [vocab, hidden]; where the embeddings are tied it is the embedding table. */
export const outputWeight = (params: ParamSet): tf.Tensor2D =>
  params.get(params.config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight') as tf.Tensor2D;
