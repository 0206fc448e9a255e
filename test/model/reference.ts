/**
 * A second implementation of the forward pass, in float64 and as plainly as possible: one token at a time, no cache layout, no fusion. It reads
 * config.json as transformers writes it, and shares no code with the engines: an oracle for what the stored reference checkpoints do not cover.
 */
import type { ModelConfig } from '../../model/config.ts';
import { toHfConfig } from '../../model/hf-config.ts';

interface Scaling {
  readonly rope_type?: string;
  readonly type?: string;
  readonly factor?: number;
  readonly low_freq_factor?: number;
  readonly high_freq_factor?: number;
  readonly original_max_position_embeddings?: number;
  readonly beta_fast?: number | null;
  readonly beta_slow?: number | null;
  readonly attention_factor?: number | null;
}

/** The fields of config.json that change the arithmetic. */
export interface HfJson {
  readonly model_type: string;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim?: number | null;
  readonly hidden_size: number;
  readonly rms_norm_eps: number;
  readonly rope_theta?: number;
  readonly rope_scaling?: Scaling | null;
  readonly max_position_embeddings: number;
  readonly tie_word_embeddings?: boolean;
  readonly no_rope_layers?: readonly number[];
  readonly layer_types?: readonly string[];
  readonly sliding_window?: number | null;
  readonly sliding_window_pattern?: number;
  readonly rope_local_base_freq?: number;
  readonly query_pre_attn_scalar?: number;
  readonly vision?: { readonly rows: number; readonly columns: number; readonly token_id: number } | null;
}

/** A patch of an image in place of a token: red, green and blue of its 8 × 8 pixels, row by row, null beyond the image; and where it is. */
export interface SeenPatch {
  readonly rgb: readonly (number | null)[];
  readonly row: number;
  readonly column: number;
}

type Vector = readonly number[];

/** A checkpoint; its numbers may be in float64. */
export type Numbers = ReadonlyMap<
  string,
  { readonly shape: readonly number[]; readonly data: ArrayLike<number> }
>;

const dot = (a: Vector, b: Vector): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
const plus = (a: Vector, b: Vector): number[] => a.map((x, i) => x + b[i]!);

/** GELU by tanh, as PyTorch's `gelu_pytorch_tanh`. */
const gelu = (x: number): number =>
  0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

/** Turns per position, in radians, of each pair of a head, and the factor on what is turned. */
function turns(json: HfJson, width: number): { angles: number[]; factor: number } {
  const theta = json.rope_theta!;
  const plain = Array.from({ length: width / 2 }, (_, i) => 1 / theta ** ((2 * i) / width));
  const s = json.rope_scaling ?? {};
  const type = s.rope_type ?? s.type ?? 'default';
  const factor = s.factor ?? 1;
  const trained = s.original_max_position_embeddings ?? json.max_position_embeddings;
  if (type === 'default') return { angles: plain, factor: 1 };
  if (type === 'linear') return { angles: plain.map((w) => w / factor), factor: 1 };
  if (type === 'llama3') {
    const [low, high] = [s.low_freq_factor!, s.high_freq_factor!];
    const angles = plain.map((w) => {
      const length = (2 * Math.PI) / w;
      if (length < trained / high) return w;
      if (length > trained / low) return w / factor;
      const smooth = (trained / length - low) / (high - low);
      return ((1 - smooth) * w) / factor + smooth * w;
    });
    return { angles, factor: 1 };
  }
  if (type !== 'yarn') throw new Error(`no reference for ${type}`);
  const pairAt = (rotations: number): number =>
    (width * Math.log(trained / (rotations * 2 * Math.PI))) / (2 * Math.log(theta));
  const first = Math.max(0, Math.floor(pairAt(s.beta_fast ?? 32)));
  const last = Math.min(width - 1, Math.ceil(pairAt(s.beta_slow ?? 1)));
  const angles = plain.map((w, i) => {
    const ramp = Math.min(1, Math.max(0, (i - first) / (first === last ? 0.001 : last - first)));
    return (w / factor) * ramp + w * (1 - ramp);
  });
  return { angles, factor: s.attention_factor ?? 0.1 * Math.log(factor) + 1 };
}

/** Logits [seq - from][vocab] of a sequence of token ids and patches, by config.json: of its positions from the one at `from` on. */
export function forwardLogits(
  json: HfJson,
  tensors: Numbers,
  ids: readonly (number | SeenPatch)[],
  from = 0,
): number[][] {
  const gemma = json.model_type === 'gemma3_text';
  const heads = json.num_attention_heads;
  const width = json.head_dim ?? json.hidden_size / heads;
  const shared = heads / json.num_key_value_heads;
  const vector = (name: string): number[] => Array.from(tensors.get(name)!.data);
  const row = (name: string, i: number): number[] => {
    const { shape, data } = tensors.get(name)!;
    return Array.from({ length: shape[1]! }, (_, j) => data[i * shape[1]! + j]!);
  };
  const times = (name: string, x: Vector): number[] => {
    const { shape, data } = tensors.get(name)!;
    return Array.from({ length: shape[0]! }, (_, i) => {
      let sum = 0;
      for (let j = 0; j < x.length; j++) sum += data[i * x.length + j]! * x[j]!;
      return sum;
    });
  };
  const norm = (x: Vector, name: string): number[] => {
    const gain = vector(name);
    const scale = 1 / Math.sqrt(dot(x, x) / x.length + json.rms_norm_eps);
    return x.map((value, i) => value * scale * (gemma ? 1 + gain[i]! : gain[i]!));
  };
  const isLocal = (layer: number): boolean =>
    gemma &&
    (json.layer_types
      ? json.layer_types[layer] === 'sliding_attention'
      : (layer + 1) % json.sliding_window_pattern! > 0);
  const global = turns(json, width);
  const local = turns({ ...json, rope_theta: json.rope_local_base_freq ?? 1, rope_scaling: null }, width);
  const turned = (head: Vector, position: number, { angles, factor }: typeof global): number[] => {
    const half = width / 2;
    return head.map((value, i) => {
      const angle = position * angles[i % half]!;
      const other = i < half ? -head[i + half]! : head[i - half]!;
      return factor * (value * Math.cos(angle) + other * Math.sin(angle));
    });
  };
  const inHeads = (flat: Vector): number[][] =>
    Array.from({ length: flat.length / width }, (_, h) => flat.slice(h * width, (h + 1) * width));
  const cache = Array.from({ length: json.num_hidden_layers }, () => ({
    keys: [] as number[][][],
    values: [] as number[][][],
  }));

  const attention = (x: Vector, layer: number, position: number): number[] => {
    const at = `model.layers.${layer}.self_attn`;
    const project = (which: string): number[] => {
      const bias = tensors.get(`${at}.${which}_proj.bias`);
      return times(`${at}.${which}_proj.weight`, x).map((y, i) => y + (bias?.data[i] ?? 0));
    };
    const placed = (which: string): number[][] => {
      const flat = project(which);
      const gain = `${at}.${which}_norm.weight`;
      // OLMo 2 norms all heads together, Qwen3 each.
      const all =
        json.model_type === 'olmo2'
          ? inHeads(norm(flat, gain))
          : inHeads(flat).map((head) => (tensors.has(gain) ? norm(head, gain) : head));
      return json.no_rope_layers?.[layer] === 0
        ? all
        : all.map((head) => turned(head, position, isLocal(layer) ? local : global));
    };
    const { keys, values } = cache[layer]!;
    keys.push(placed('k'));
    values.push(inHeads(project('v')));
    // Of the last layer nothing but keys and values is read later.
    if (position < from && layer + 1 === json.num_hidden_layers) return x.slice();
    const mixed = placed('q').map((query, h) => {
      const own = Math.floor(h / shared);
      const scalar = gemma ? json.query_pre_attn_scalar! : width;
      const weights = softmax(
        keys.map((key, at) =>
          isLocal(layer) && position - at >= json.sliding_window!
            ? Number.NEGATIVE_INFINITY
            : dot(query, key[own]!) / Math.sqrt(scalar),
        ),
      );
      return query.map((_, i) =>
        dot(
          weights,
          values.map((value) => value[own]![i]!),
        ),
      );
    });
    return times(`${at}.o_proj.weight`, mixed.flat());
  };
  const mlp = (x: Vector, layer: number): number[] => {
    const at = `model.layers.${layer}.mlp`;
    const up = times(`${at}.up_proj.weight`, x);
    const gated = times(`${at}.gate_proj.weight`, x).map(
      (g, i) => (gemma ? gelu(g) : g / (1 + Math.exp(-g))) * up[i]!,
    );
    return times(`${at}.down_proj.weight`, gated);
  };

  const all = ids.map((id, position) => {
    const token = typeof id === 'number' ? id : json.vision!.token_id;
    let x = row('model.embed_tokens.weight', token).map((e) => (gemma ? e * Math.sqrt(json.hidden_size) : e));
    if (typeof id !== 'number') {
      const name = 'model.vision_embed_tokens.weight';
      const columnsFrom = 192 + json.vision!.rows;
      const pixels = id.rgb.map((value) => (value === null ? 0 : value / 127.5 - 1));
      x = x.map((e, i) => {
        const weights = row(name, i);
        return (
          e + dot(pixels, weights.slice(0, 192)) + weights[192 + id.row]! + weights[columnsFrom + id.column]!
        );
      });
    }
    for (let l = 0; l < json.num_hidden_layers; l++) {
      const at = `model.layers.${l}`;
      const normed = (vector: Vector, name: string): number[] =>
        norm(vector, `${at}.${name}_layernorm.weight`);
      if (json.model_type === 'olmo2') {
        x = plus(x, normed(attention(x, l, position), 'post_attention'));
        x = plus(x, normed(mlp(x, l), 'post_feedforward'));
      } else if (gemma) {
        x = plus(x, normed(attention(normed(x, 'input'), l, position), 'post_attention'));
        x = plus(x, normed(mlp(normed(x, 'pre_feedforward'), l), 'post_feedforward'));
      } else {
        x = plus(x, attention(normed(x, 'input'), l, position));
        x = plus(x, mlp(normed(x, 'post_attention'), l));
      }
    }
    const out = tensors.has('lm_head.weight') && !json.tie_word_embeddings ? 'lm_head' : 'model.embed_tokens';
    return times(`${out}.weight`, norm(x, 'model.norm.weight'));
  });
  return all.slice(from);
}

export const referenceLogits = (
  config: ModelConfig,
  tensors: Numbers,
  ids: Parameters<typeof forwardLogits>[2],
  from?: number,
): number[][] => forwardLogits(toHfConfig(config) as unknown as HfJson, tensors, ids, from);

export function softmax(x: readonly number[]): number[] {
  const top = Math.max(...x);
  const powers = x.map((value) => Math.exp(value - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((value) => value / sum);
}
