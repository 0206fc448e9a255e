/** What a decoder's layers do. The three forward passes (ONNX graph, kernels, learner) go over this list, and the names and shapes of a checkpoint follow from it. */

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

/** A rotary embedding. Layers that share one share the object. */
export interface Rope {
  readonly theta: number;
  readonly scaling: RopeScaling | null;
}

/** The norms of a block by their names in a checkpoint: of its input, and of its output before that is added to the residual stream. */
export interface BlockNorms {
  readonly before: string | null;
  readonly after: string | null;
}

export interface LayerNorms {
  readonly attention: BlockNorms;
  readonly mlp: BlockNorms;
}

const INPUT = 'input_layernorm';
const POST_ATTENTION = 'post_attention_layernorm';
const POST_MLP = 'post_feedforward_layernorm';

export const PRE_NORMS: LayerNorms = {
  attention: { before: INPUT, after: null },
  mlp: { before: POST_ATTENTION, after: null },
};
export const SANDWICH_NORMS: LayerNorms = {
  attention: { before: INPUT, after: POST_ATTENTION },
  mlp: { before: 'pre_feedforward_layernorm', after: POST_MLP },
};
export const POST_NORMS: LayerNorms = {
  attention: { before: null, after: POST_ATTENTION },
  mlp: { before: null, after: POST_MLP },
};

/** What the MLP applies to its gate: x sigmoid(x), or GELU (Hendrycks and Gimpel, 2016) by its approximation with tanh. */
export type Activation = 'silu' | 'gelu-tanh';

/** One layer. */
export interface LayerSpec {
  /** How many keys a query sees at most, its own the last of them; null: all up to its own. */
  readonly window: number | null;
  /** Rotates queries and keys by their positions; null: nothing tells positions apart but the order of the cache (NoPE). */
  readonly rope: Rope | null;
  /** Biases on the q, k and v projections. */
  readonly qkvBias: boolean;
  /** RMS norm of q and k before the rotation: of each head, or of all heads as one row. */
  readonly qkNorm: 'heads' | 'whole' | null;
  readonly norms: LayerNorms;
  readonly activation: Activation;
}

/** The rotary embeddings of a model, each once. */
export const ropesOf = (layers: readonly LayerSpec[]): readonly Rope[] => [
  ...new Set(layers.flatMap(({ rope }) => rope ?? [])),
];

/** The rotary embedding of the layers that see all keys; undefined where none of them rotates. */
export const globalRope = (layers: readonly LayerSpec[]): Rope | undefined =>
  layers.find(({ window, rope }) => window === null && rope)?.rope ?? undefined;

/** A layer as Llama has it. */
export const plainLayer = (rope: Rope): LayerSpec => ({
  window: null,
  rope,
  qkvBias: false,
  qkNorm: null,
  norms: PRE_NORMS,
  activation: 'silu',
});
