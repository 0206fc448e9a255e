/** The fields of a checkpoint's config.json that are read, with their bounds. */
import * as v from 'valibot';
import { wrongInput } from '../core/errors.ts';
import { LONGEST_SIDE } from '../core/images/image.ts';
import { PATCH } from '../core/images/patches.ts';
import { finite } from '../core/schema/numbers.ts';
import type { RopeScaling } from './layers.ts';

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

const ropeOfLayers = v.looseObject({
  rope_type: v.optional(v.string()),
  type: v.optional(v.string()),
  rope_theta: v.optional(positive),
  partial_rotary_factor: v.optional(finite),
});
type HfRope = v.InferOutput<typeof ropeOfLayers>;
const rope = v.looseObject({
  ...ropeOfLayers.entries,
  full_attention: v.optional(ropeOfLayers),
  sliding_attention: v.optional(ropeOfLayers),
});

const hfConfig = v.looseObject({
  vocab_size: size(MOST.vocabulary),
  hidden_size: size(MOST.width),
  intermediate_size: size(MOST.inner),
  num_hidden_layers: size(MOST.layers),
  num_attention_heads: size(MOST.heads),
  num_key_value_heads: v.nullish(size(MOST.heads)),
  head_dim: v.nullish(size(MOST.headDim)),
  rms_norm_eps: v.optional(v.pipe(positive, v.maxValue(1))),
  rope_theta: v.optional(positive),
  rope_scaling: v.nullish(rope),
  /** The field in which transformers 5 keeps theta and scaling together, by kind of layer where kinds differ. */
  rope_parameters: v.nullish(rope),
  max_position_embeddings: size(MOST.positions),
  tie_word_embeddings: v.optional(v.boolean()),
  hidden_act: v.nullish(v.string()),
  /** Gemma's name for it. */
  hidden_activation: v.nullish(v.string()),
  attention_bias: v.optional(v.boolean(), false),
  mlp_bias: v.optional(v.boolean(), false),
  use_sliding_window: v.optional(v.boolean(), false),
  partial_rotary_factor: v.optional(finite, 1),
  layer_types: v.nullish(v.array(v.string())),
  sliding_window: v.nullish(size(MOST.positions)),
  sliding_window_pattern: v.nullish(size(MOST.layers)),
  rope_local_base_freq: v.optional(positive),
  query_pre_attn_scalar: v.optional(positive),
  attn_logit_softcapping: v.nullish(finite),
  final_logit_softcapping: v.nullish(finite),
  use_bidirectional_attention: v.nullish(v.boolean()),
  no_rope_layers: v.nullish(v.array(v.picklist([0, 1]))),
  no_rope_layer_interval: v.optional(size(MOST.layers)),
  /** A field of rollmesh's own: patches of images go through a projection into the embeddings (core/images/patches.ts). */
  vision: v.nullish(
    v.strictObject({
      patch_size: v.literal(PATCH),
      rows: size(LONGEST_SIDE / PATCH),
      columns: size(LONGEST_SIDE / PATCH),
      token_id: tokenId,
    }),
  ),
  bos_token_id: v.nullish(tokenId),
  eos_token_id: v.nullish(v.union([tokenId, v.pipe(v.array(tokenId), v.maxLength(MOST.endTokens))])),
});
export type HfConfig = v.InferOutput<typeof hfConfig>;

const factor = v.pipe(v.number(), v.minValue(1), v.maxValue(MOST.rotary));
const linearScaling = v.object({ factor });
const dynamicScaling = v.object({
  factor,
  original_max_position_embeddings: v.optional(size(MOST.positions)),
});
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
    expected: 'the config.json of a checkpoint, as transformers writes it',
  });
}

export const unsupported = (what: string, expected: string) =>
  wrongInput('config.unsupported', what, { expected, next: 'Use a checkpoint without it.' });

export function readScaling(json: HfRope, maxPositions: number): RopeScaling | null {
  const type = json.rope_type ?? json.type ?? 'default';
  switch (type) {
    case 'default':
      return null;
    case 'dynamic': {
      // It stretches what lies beyond max_position_embeddings, where no sequence reaches here.
      const { original_max_position_embeddings: original = maxPositions } = check(
        dynamicScaling,
        json,
        'rope_scaling',
      );
      if (original === maxPositions) return null;
      throw unsupported(
        `rope_scaling of type "dynamic" begins at ${original}.`,
        `max_position_embeddings, ${maxPositions}`,
      );
    }
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
        `rope_scaling of type ${JSON.stringify(type)} is not computed.`,
        '"default", "linear", "dynamic", "llama3" or "yarn"',
      );
  }
}

/** Checks the fields of a config.json. Throws `config.invalid` where one is missing or malformed. */
export const readHfConfig = (json: unknown): HfConfig => check(hfConfig, json, 'config.json');
