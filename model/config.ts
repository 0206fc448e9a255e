/**
 * Checks a checkpoint's config.json and reduces it to the numbers that a decoder needs. This is not a general Hugging Face config
 * reader: a setting that would change the arithmetic and is not implemented here is refused by name.
 */
import * as v from 'valibot';
import { wrongInput } from '../core/errors.ts';
import { finite } from '../core/schema/numbers.ts';

export type Architecture = 'llama' | 'qwen2' | 'qwen3';

/** How rotary frequencies are stretched beyond the trained context; absent means not at all. */
export type RopeScaling =
  | { readonly type: 'linear'; readonly factor: number }
  | {
      readonly type: 'llama3';
      readonly factor: number;
      readonly lowFreqFactor: number;
      readonly highFreqFactor: number;
      readonly originalMaxPositions: number;
    }
  | {
      readonly type: 'yarn';
      readonly factor: number;
      readonly betaFast: number;
      readonly betaSlow: number;
      /** Multiplies both cos and sin. */
      readonly attentionFactor: number;
      readonly originalMaxPositions: number;
    };

export interface ModelConfig {
  readonly architecture: Architecture;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly rmsNormEps: number;
  readonly ropeTheta: number;
  readonly ropeScaling: RopeScaling | null;
  /** Longest sequence, prompt and completion together. */
  readonly maxPositions: number;
  /** The output projection is the embedding table; no lm_head tensor exists. */
  readonly tiedEmbeddings: boolean;
  /** Biases on the q, k and v projections (Qwen2). */
  readonly qkvBias: boolean;
  /** RMS norm over each head of q and k before the rotation (Qwen3). */
  readonly qkNorm: boolean;
  readonly bosId: number | null;
  readonly eosIds: readonly number[];
}

/** A whole number from 1. Every size has a bound, well above the largest published model's, because later code allocates memory by it. */
const size = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(most));
const MOST = {
  vocabulary: 2 ** 21,
  width: 2 ** 17,
  inner: 2 ** 19,
  layers: 1024,
  heads: 1024,
  headDim: 2 ** 12,
  positions: 2 ** 24,
  /** Bound of the rotary base and of the scaling factors. */
  rotary: 1e12,
  endTokens: 256,
} as const;
const positive = v.pipe(v.number(), v.gtValue(0), v.maxValue(MOST.rotary));
const tokenId = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST.vocabulary));

const rope = v.looseObject({
  rope_type: v.optional(v.string()),
  type: v.optional(v.string()),
  rope_theta: v.optional(positive),
  partial_rotary_factor: v.optional(finite),
});

const hfConfig = v.looseObject({
  model_type: v.string(),
  vocab_size: size(MOST.vocabulary),
  hidden_size: size(MOST.width),
  intermediate_size: size(MOST.inner),
  num_hidden_layers: size(MOST.layers),
  num_attention_heads: size(MOST.heads),
  num_key_value_heads: v.nullish(size(MOST.heads)),
  head_dim: v.nullish(size(MOST.headDim)),
  rms_norm_eps: v.optional(v.pipe(positive, v.maxValue(1)), 1e-6),
  rope_theta: v.optional(positive),
  rope_scaling: v.nullish(rope),
  /** The field in which transformers 5 keeps theta and scaling together. */
  rope_parameters: v.nullish(rope),
  max_position_embeddings: size(MOST.positions),
  tie_word_embeddings: v.optional(v.boolean(), false),
  hidden_act: v.optional(v.string(), 'silu'),
  attention_bias: v.optional(v.boolean(), false),
  mlp_bias: v.optional(v.boolean(), false),
  use_sliding_window: v.optional(v.boolean(), false),
  partial_rotary_factor: v.optional(finite, 1),
  bos_token_id: v.nullish(tokenId),
  eos_token_id: v.nullish(v.union([tokenId, v.pipe(v.array(tokenId), v.maxLength(MOST.endTokens))])),
});

const factor = v.pipe(v.number(), v.minValue(1), v.maxValue(MOST.rotary));
const linearScaling = v.object({ factor });
const llama3Scaling = v.object({
  factor,
  low_freq_factor: positive,
  high_freq_factor: positive,
  original_max_position_embeddings: size(MOST.positions),
});
const yarnScaling = v.object({
  factor,
  beta_fast: v.nullish(positive),
  beta_slow: v.nullish(positive),
  attention_factor: v.nullish(positive),
  mscale: v.nullish(finite),
  mscale_all_dim: v.nullish(finite),
  truncate: v.optional(v.boolean(), true),
  original_max_position_embeddings: v.nullish(size(MOST.positions)),
});

function check<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  where: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const issue = result.issues[0];
  const path = v.getDotPath(issue);
  throw wrongInput('config.invalid', `${where}${path ? `, ${path}` : ''}: ${issue.message}.`, {
    expected: 'a config.json of a Llama, Qwen2 or Qwen3 checkpoint',
  });
}

const unsupported = (what: string, expected: string) =>
  wrongInput('config.unsupported', what, { expected, next: 'Use a checkpoint without it.' });

function parseScaling(json: v.InferOutput<typeof rope>, maxPositions: number): RopeScaling | null {
  const type = json.rope_type ?? json.type ?? 'default';
  switch (type) {
    case 'default':
      return null;
    case 'linear':
      return { type, factor: check(linearScaling, json, 'rope_scaling').factor };
    case 'llama3': {
      const s = check(llama3Scaling, json, 'rope_scaling');
      return {
        type,
        factor: s.factor,
        lowFreqFactor: s.low_freq_factor,
        highFreqFactor: s.high_freq_factor,
        originalMaxPositions: s.original_max_position_embeddings,
      };
    }
    case 'yarn': {
      const s = check(yarnScaling, json, 'rope_scaling');
      if (!s.truncate) throw unsupported('rope_scaling.truncate is false.', 'truncated YaRN bounds');
      if (s.mscale || s.mscale_all_dim)
        throw unsupported('rope_scaling.mscale is set.', 'YaRN with attention_factor or its default');
      return {
        type,
        factor: s.factor,
        betaFast: s.beta_fast ?? 32,
        betaSlow: s.beta_slow ?? 1,
        attentionFactor: s.attention_factor ?? (s.factor <= 1 ? 1 : 0.1 * Math.log(s.factor) + 1),
        originalMaxPositions: s.original_max_position_embeddings ?? maxPositions,
      };
    }
    default:
      throw unsupported(
        `rope_scaling of type ${JSON.stringify(type)} is not implemented.`,
        '"default", "linear", "llama3" or "yarn"',
      );
  }
}

/**
 * Reads a Hugging Face config.json (already parsed).
 *
 * @throws RollmeshError `config.invalid` for a missing or malformed field, `config.unsupported` for an architecture,
 * activation, bias, window or rope scaling that the engines here do not compute.
 */
export function parseConfig(json: unknown): ModelConfig {
  const c = check(hfConfig, json, 'config.json');
  const architecture = c.model_type;
  if (architecture !== 'llama' && architecture !== 'qwen2' && architecture !== 'qwen3')
    throw unsupported(
      `model_type ${JSON.stringify(architecture)} is not implemented.`,
      '"llama", "qwen2" or "qwen3"',
    );
  if (c.hidden_act !== 'silu') throw unsupported(`hidden_act is ${c.hidden_act}.`, '"silu"');
  if (c.attention_bias) throw unsupported('attention_bias is true.', 'no bias on the output projection');
  if (c.mlp_bias) throw unsupported('mlp_bias is true.', 'no biases in the MLP');
  if (c.use_sliding_window) throw unsupported('use_sliding_window is true.', 'full attention');
  const scaling = c.rope_scaling ?? c.rope_parameters ?? {};
  if (c.partial_rotary_factor !== 1 || (scaling.partial_rotary_factor ?? 1) !== 1)
    throw unsupported('partial_rotary_factor is not 1.', 'rotation of whole heads');
  const heads = c.num_attention_heads;
  const kvHeads = c.num_key_value_heads ?? heads;
  const headDim = c.head_dim ?? (architecture === 'qwen3' ? 128 : c.hidden_size / heads);
  if (!Number.isInteger(headDim) || headDim % 2 !== 0)
    throw wrongInput('config.invalid', `A head is ${headDim} wide.`, { expected: 'an even head width' });
  if (heads % kvHeads !== 0)
    throw wrongInput('config.invalid', `${heads} heads cannot share ${kvHeads} key-value heads.`, {
      expected: 'num_attention_heads to be a multiple of num_key_value_heads',
    });
  const eos = c.eos_token_id ?? [];
  return {
    architecture,
    vocabSize: c.vocab_size,
    hiddenSize: c.hidden_size,
    intermediateSize: c.intermediate_size,
    layers: c.num_hidden_layers,
    heads,
    kvHeads,
    headDim,
    rmsNormEps: c.rms_norm_eps,
    ropeTheta: c.rope_theta ?? scaling.rope_theta ?? c.rope_parameters?.rope_theta ?? 10000,
    ropeScaling: parseScaling(scaling, c.max_position_embeddings),
    maxPositions: c.max_position_embeddings,
    tiedEmbeddings: c.tie_word_embeddings,
    qkvBias: architecture === 'qwen2',
    qkNorm: architecture === 'qwen3',
    bosId: c.bos_token_id ?? null,
    eosIds: typeof eos === 'number' ? [eos] : eos,
  };
}
