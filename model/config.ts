/**
 * Checks a checkpoint's config.json and reduces it to what a decoder needs. This is not a general Hugging Face config reader: a setting
 * that would change the arithmetic and is not computed is refused by name.
 */
import { wrongInput } from '../core/errors.ts';
import type { Vision } from '../core/images/patches.ts';
import { ARCHITECTURES, type Architecture, FULL, type ModelTraits, rowOf, SLIDING } from './architectures.ts';
import { type HfConfig, readHfConfig, readScaling, unsupported } from './hf-schema.ts';
import { type Activation, type LayerSpec, plainLayer, type Rope } from './layers.ts';

export interface ModelConfig extends ModelTraits {
  readonly architecture: Architecture;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  /** From the first to the last. */
  readonly layers: readonly LayerSpec[];
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Scores of attention are divided by its square root. */
  readonly queryScalar: number;
  readonly rmsNormEps: number;
  /** Longest sequence, prompt and completion together. */
  readonly maxPositions: number;
  /** The output projection is the embedding table; no lm_head tensor exists. */
  readonly tiedEmbeddings: boolean;
  readonly bosId: number | null;
  readonly eosIds: readonly number[];
  /** How it sees; absent = it reads text alone. */
  readonly vision?: Vision;
}

const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** Fields of config.json by which models can be told that no engine here computes, and why. */
const BEYOND: readonly (readonly [fields: RegExp, why: string])[] = [
  [
    /^(vision|audio|speech|encoder|text)_config$/,
    'it has towers for images or sound, and only text decoders are computed',
  ],
  [
    /^(num_(local_)?experts|n_routed_experts|moe_\w+)$/,
    'it is a mixture of experts, and every weight is used for every token here',
  ],
  [
    /^(ssm_\w+|mamba_\w+|state_size|linear_num_\w+|conv_L_cache|lru_width|wkv_\w+)$/,
    'it has recurrent layers, and only attention is computed',
  ],
];

/** What is computed of what transformers calls by these names. */
const ACTIVATIONS: Readonly<Record<string, Activation>> = { silu: 'silu', gelu_pytorch_tanh: 'gelu-tanh' };

function activationOf(name: string): Activation {
  const activation = Object.hasOwn(ACTIVATIONS, name) ? ACTIVATIONS[name] : undefined;
  if (!activation) throw unsupported(`hidden_act is ${name}.`, Object.keys(ACTIVATIONS).join(' or '));
  return activation;
}

/** The architecture that config.json names. Throws `config.unsupported` with the reason where it is none of those that are read. */
function architectureOf(json: Record<string, unknown>): Architecture {
  const type = json.model_type;
  if (typeof type !== 'string')
    throw wrongInput('config.invalid', `config.json, model_type: ${JSON.stringify(type)}.`, {
      expected: `one of ${Object.keys(ARCHITECTURES).join(', ')}`,
    });
  if (Object.hasOwn(ARCHITECTURES, type)) return type as Architecture;
  const [, why] = BEYOND.find(([fields]) => Object.keys(json).some((key) => fields.test(key))) ?? [];
  throw unsupported(
    `model_type ${JSON.stringify(type)} is not read${why ? `: ${why}` : ''}.`,
    Object.keys(ARCHITECTURES).join(', '),
  );
}

/** Throws `config.unsupported` for a kind of layer that is not computed, and `config.invalid` for a list that does not fit the layers. */
function checkLayerTypes(
  { layer_types: types, no_rope_layers: rotates, num_hidden_layers: count }: HfConfig,
  architecture: Architecture,
): void {
  for (const [field, list] of Object.entries({ layer_types: types, no_rope_layers: rotates }))
    if (list && list.length < count)
      throw wrongInput('config.invalid', `config.json, ${field} has ${list.length} entries.`, {
        expected: `one for each of the ${count} layers`,
      });
  const known = architecture === 'gemma3_text' ? [FULL, SLIDING] : [FULL];
  const strange = types?.find((type) => !known.includes(type));
  if (strange)
    throw unsupported(
      `layer_types has ${JSON.stringify(strange)}.`,
      known.map((type) => `"${type}"`).join(' or '),
    );
}

/** Throws `config.invalid` where the token of patches is beyond the vocabulary, or the engines could not multiply what a patch has. */
function visionOf({ vision, vocab_size }: HfConfig): Vision | undefined {
  if (!vision) return undefined;
  const { rows, columns, token_id: token } = vision;
  if (token >= vocab_size)
    throw wrongInput('config.invalid', `config.json, vision.token_id is ${token}.`, {
      expected: `an id below vocab_size, ${vocab_size}`,
    });
  if ((rows + columns) % 8 !== 0)
    throw wrongInput('config.invalid', `config.json, vision has ${rows} rows and ${columns} columns.`, {
      expected: 'numbers whose sum is a multiple of 8',
    });
  return { rows, columns, token };
}

/**
 * Reads a Hugging Face config.json (already parsed).
 *
 * @throws RollmeshError `config.invalid` for a missing or malformed field, `config.unsupported` for an architecture,
 * activation, bias, window or rope scaling that the engines here do not compute.
 */
export function parseConfig(json: unknown): ModelConfig {
  if (!isObject(json))
    throw wrongInput('config.invalid', 'config.json holds no JSON object.', { expected: 'a JSON object' });
  const architecture = architectureOf(json);
  const { defaults = {}, traits, all, layer } = rowOf(architecture);
  const c = readHfConfig(json);
  const activation = activationOf(c.hidden_activation ?? c.hidden_act ?? defaults.hidden_act ?? 'silu');
  if (c.attention_bias) throw unsupported('attention_bias is true.', 'no bias on the output projection');
  if (c.mlp_bias) throw unsupported('mlp_bias is true.', 'no biases in the MLP');
  if (c.use_sliding_window) throw unsupported('use_sliding_window is true.', 'full attention');
  if (c.use_bidirectional_attention)
    throw unsupported('use_bidirectional_attention is true.', 'causal attention');
  for (const field of ['attn_logit_softcapping', 'final_logit_softcapping'] as const)
    if (c[field]) throw unsupported(`${field} is ${c[field]}.`, 'scores and logits without a cap');
  checkLayerTypes(c, architecture);
  const scaling = c.rope_scaling ?? c.rope_parameters?.full_attention ?? c.rope_parameters ?? {};
  if (c.partial_rotary_factor !== 1 || (scaling.partial_rotary_factor ?? 1) !== 1)
    throw unsupported('partial_rotary_factor is not 1.', 'rotation of whole heads');
  const heads = c.num_attention_heads;
  const kvHeads = c.num_key_value_heads ?? heads;
  const headDim = c.head_dim ?? defaults.head_dim ?? c.hidden_size / heads;
  if (!Number.isInteger(headDim) || headDim % 2 !== 0)
    throw wrongInput('config.invalid', `A head is ${headDim} wide.`, { expected: 'an even head width' });
  if (heads % kvHeads !== 0)
    throw wrongInput('config.invalid', `${heads} heads cannot share ${kvHeads} key-value heads.`, {
      expected: 'num_attention_heads to be a multiple of num_key_value_heads',
    });
  const rope: Rope = {
    theta:
      c.rope_theta ?? scaling.rope_theta ?? c.rope_parameters?.rope_theta ?? defaults.rope_theta ?? 10000,
    scaling: readScaling(scaling, c.max_position_embeddings),
  };
  const { sliding_attention: local = {} } = c.rope_parameters ?? {};
  if (readScaling(local, c.max_position_embeddings) || (local.partial_rotary_factor ?? 1) !== 1)
    throw unsupported(
      `rope_parameters.sliding_attention is ${JSON.stringify(local)}.`,
      'rope_type "default" and rotation of whole heads in layers with a window',
    );
  const own = layer?.(c);
  const vision = visionOf(c);
  const eos = c.eos_token_id ?? [];
  return {
    architecture,
    vocabSize: c.vocab_size,
    hiddenSize: c.hidden_size,
    intermediateSize: c.intermediate_size,
    layers: Array.from({ length: c.num_hidden_layers }, (_, i) => ({
      ...plainLayer(rope),
      activation,
      ...all,
      ...own?.(i),
    })),
    heads,
    kvHeads,
    headDim,
    queryScalar: c.query_pre_attn_scalar ?? defaults.query_pre_attn_scalar ?? headDim,
    rmsNormEps: c.rms_norm_eps ?? defaults.rms_norm_eps ?? 1e-6,
    maxPositions: c.max_position_embeddings,
    tiedEmbeddings: c.tie_word_embeddings ?? defaults.tie_word_embeddings ?? false,
    ...(traits ?? { gainOffset: 0, scalesEmbeddings: false }),
    bosId: c.bos_token_id ?? null,
    eosIds: typeof eos === 'number' ? [eos] : eos,
    ...(vision ? { vision } : {}),
  };
}
