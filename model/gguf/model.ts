/** A model as llama.cpp knows it: its names of tensors, its metadata, its order of rotated rows. What it has no form for is refused by name. */
import { wrongInput } from '../../core/errors.ts';
import type { Architecture } from '../architectures.ts';
import { tensorShapes } from '../checkpoint.ts';
import type { ModelConfig } from '../config.ts';
import { type Activation, globalRope, type Rope } from '../layers.ts';
import { ropeFrequencies } from '../rope.ts';
import type { GgufValue } from './format.ts';

interface GgufArchitecture {
  readonly name: string;
  /** Its pairs of a head that turn together are neighbours, where a checkpoint's are half a head apart. */
  readonly neighbours?: true;
  /** It reads factors of frequencies, rope_freqs.weight. */
  readonly factors?: true;
  /** What its MLP applies to its gate; SiLU where absent. */
  readonly activation?: Activation;
  /** What llama.cpp takes for granted of the layers, in words, and whether it is so. */
  readonly fixed?: readonly (readonly [what: string, holds: (config: ModelConfig) => boolean])[];
}

const GGUF: Readonly<Record<Architecture, GgufArchitecture>> = {
  llama: { name: 'llama', neighbours: true, factors: true },
  qwen2: { name: 'qwen2' },
  qwen3: { name: 'qwen3' },
  smollm3: {
    name: 'smollm3',
    neighbours: true,
    fixed: [
      [
        'every fourth layer without a rotation',
        ({ layers }) => layers.every(({ rope }, i) => (rope === null) === (i % 4 === 3)),
      ],
    ],
  },
  olmo2: { name: 'olmo2' },
  gemma3_text: {
    name: 'gemma3',
    activation: 'gelu-tanh',
    fixed: [
      [
        'windows in all layers but every sixth',
        ({ layers }) => layers.every(({ window }, i) => (window === null) === (i % 6 === 5)),
      ],
      [
        'a local rope_theta of 10000',
        ({ layers }) => layers.every(({ window, rope }) => window === null || rope?.theta === 1e4),
      ],
      ['query_pre_attn_scalar equal to head_dim', ({ queryScalar, headDim }) => queryScalar === headDim],
    ],
  },
};

const refused = (what: string, expected: string) =>
  wrongInput('export.gguf', `llama.cpp has no form for this model: ${what}.`, {
    expected,
    next: 'Export it without --gguf.',
  });

/** The rotary embedding that the file names: that of the layers that see all keys. */
const ropeOf = ({ layers }: ModelConfig): Rope => globalRope(layers) ?? { theta: 1e6, scaling: null };

/** Throws `export.gguf` for what llama.cpp would compute otherwise. */
export function checkGguf(config: ModelConfig): void {
  if (config.vision)
    throw refused('it has a projection of patches of images', 'a model that reads text alone');
  for (const [what, holds] of GGUF[config.architecture].fixed ?? [])
    if (!holds(config)) throw refused(`its layers differ from what it takes for granted`, what);
  const { activation: wanted = 'silu', factors } = GGUF[config.architecture];
  const strange = config.layers.find(({ activation }) => activation !== wanted);
  if (strange) throw refused(`its activation is ${strange.activation}`, wanted);
  const { scaling } = ropeOf(config);
  if (scaling?.type === 'llama3' && !factors)
    throw refused(
      `its rope_scaling is llama3, and its model_type ${config.architecture}`,
      'model_type llama, or another scaling',
    );
  if (scaling?.type !== 'yarn') return;
  const { factor, betaFast, betaSlow, attentionFactor } = scaling;
  if (betaFast !== 32 || betaSlow !== 1 || Math.abs(attentionFactor - (0.1 * Math.log(factor) + 1)) > 1e-6)
    throw refused(
      'its YaRN has factors of its own',
      'beta_fast 32, beta_slow 1 and the attention_factor of the paper',
    );
}

const OF_MODEL: Readonly<Record<string, string>> = {
  'model.embed_tokens': 'token_embd',
  'model.norm': 'output_norm',
  lm_head: 'output',
};
const OF_LAYER: Readonly<Record<string, string>> = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'self_attn.o_proj': 'attn_output',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

/** llama.cpp's name of a checkpoint's tensor. */
export function ggufName({ layers }: Pick<ModelConfig, 'layers'>, name: string): string {
  const [, layer, part, kind] = /^(?:model\.layers\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(name) ?? [];
  const norms = layers[Number(layer ?? 0)]!.norms;
  const around = new Map([
    [norms.attention.before, 'attn_norm'],
    [norms.attention.after, 'post_attention_norm'],
    [norms.mlp.before, 'ffn_norm'],
    [norms.mlp.after, 'post_ffw_norm'],
  ]);
  const renamed = layer === undefined ? OF_MODEL[part ?? ''] : (OF_LAYER[part!] ?? around.get(part!));
  if (!renamed) throw new Error(`internal: GGUF has no name for ${name}.`);
  return `${layer === undefined ? '' : `blk.${layer}.`}${renamed}.${kind}`;
}

/**
 * The row of a checkpoint's projection that stands at `row` in the file. Where llama.cpp turns neighbours, row 2i + s of a head is the
 * checkpoint's row s * headDim / 2 + i.
 */
export function sourceRow({ architecture, headDim }: ModelConfig, name: string, row: number): number {
  if (!GGUF[architecture].neighbours || !/\.self_attn\.[qk]_proj\./.test(name)) return row;
  const inHead = row % headDim;
  return row - inHead + (inHead % 2) * (headDim / 2) + Math.floor(inHead / 2);
}

/** Factors by which llama.cpp divides the frequencies, for a scaling by wavelength: tensor rope_freqs.weight [headDim / 2]. */
export function ropeFactors(config: ModelConfig): Float32Array | undefined {
  const rope = ropeOf(config);
  if (rope.scaling?.type !== 'llama3') return undefined;
  const { frequencies } = ropeFrequencies(rope, config.headDim);
  const plain = ropeFrequencies({ ...rope, scaling: null }, config.headDim).frequencies;
  return Float32Array.from(plain, (w, i) => w / frequencies[i]!);
}

export const architectureMetadata = ({ architecture }: ModelConfig): [string, GgufValue][] => [
  ['general.architecture', { string: GGUF[architecture].name }],
];

/** The model's part of the metadata. */
export function modelMetadata(config: ModelConfig): [string, GgufValue][] {
  const { name } = GGUF[config.architecture];
  const { theta, scaling } = ropeOf(config);
  const window = config.layers.find((layer) => layer.window !== null)?.window;
  const values: [string, GgufValue][] = [
    ['vocab_size', { u32: config.vocabSize }],
    ['context_length', { u32: config.maxPositions }],
    ['embedding_length', { u32: config.hiddenSize }],
    ['block_count', { u32: config.layers.length }],
    ['feed_forward_length', { u32: config.intermediateSize }],
    ['attention.head_count', { u32: config.heads }],
    ['attention.head_count_kv', { u32: config.kvHeads }],
    ['attention.key_length', { u32: config.headDim }],
    ['attention.value_length', { u32: config.headDim }],
    ['attention.layer_norm_rms_epsilon', { f32: config.rmsNormEps }],
    ['rope.dimension_count', { u32: config.headDim }],
    ['rope.freq_base', { f32: theta }],
  ];
  if (window) values.push(['attention.sliding_window', { u32: window }]);
  if (scaling?.type === 'linear' || scaling?.type === 'yarn')
    values.push(
      ['rope.scaling.type', { string: scaling.type }],
      ['rope.scaling.factor', { f32: scaling.factor }],
    );
  if (scaling?.type === 'yarn')
    values.push(['rope.scaling.original_context_length', { u32: scaling.originalMaxPositions }]);
  return [
    ...architectureMetadata(config),
    ...values.map(([key, value]): [string, GgufValue] => [`${name}.${key}`, value]),
  ];
}

/** The tensors in the canonical order with their names in the file. */
export const ggufNames = (config: ModelConfig): [name: string, renamed: string][] =>
  [...tensorShapes(config).keys()].map((name) => [name, ggufName(config, name)]);
