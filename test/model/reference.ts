/**
 * A second implementation of the forward pass, in float64 and as plainly as possible: one token at a time, no cache layout,
 * no fusion. An oracle for configs that the stored reference checkpoints do not cover.
 */
import type { ModelConfig } from '../../model/config.ts';
import { ropeFrequencies } from '../../model/rope.ts';
import type { Tensors } from '../../model/safetensors.ts';

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, x, i) => sum + x * b[i]!, 0);

/** Logits [seq][vocab] of a sequence of token ids. */
export function referenceLogits(config: ModelConfig, tensors: Tensors, ids: readonly number[]): number[][] {
  const row = (name: string, i: number): number[] => {
    const { shape, data } = tensors.get(name)!;
    return [...data.subarray(i * shape[1]!, (i + 1) * shape[1]!)];
  };
  const vector = (name: string): number[] => [...tensors.get(name)!.data];
  const times = (name: string, x: readonly number[]): number[] => {
    const { shape, data } = tensors.get(name)!;
    return Array.from({ length: shape[0]! }, (_, i) => {
      let sum = 0;
      for (let j = 0; j < x.length; j++) sum += data[i * x.length + j]! * x[j]!;
      return sum;
    });
  };
  const norm = (x: readonly number[], gain: readonly number[]): number[] => {
    const scale = 1 / Math.sqrt(dot(x, x) / x.length + config.rmsNormEps);
    return x.map((value, i) => value * scale * gain[i]!);
  };
  const { frequencies, attentionFactor } = ropeFrequencies(config);
  const half = config.headDim / 2;
  const rotate = (x: readonly number[], position: number): number[] =>
    x.map((value, i) => {
      const angle = position * frequencies[i % half]!;
      const other = i < half ? -x[i + half]! : x[i - half]!;
      return attentionFactor * (value * Math.cos(angle) + other * Math.sin(angle));
    });
  const project = (layer: string, which: string, x: readonly number[], position: number): number[][] => {
    const bias = tensors.get(`${layer}.self_attn.${which}_proj.bias`);
    const flat = times(`${layer}.self_attn.${which}_proj.weight`, x).map((y, i) => y + (bias?.data[i] ?? 0));
    const heads = Array.from({ length: flat.length / config.headDim }, (_, h) =>
      flat.slice(h * config.headDim, (h + 1) * config.headDim),
    );
    if (which === 'v') return heads;
    const gain = tensors.get(`${layer}.self_attn.${which}_norm.weight`);
    return heads.map((head) => rotate(gain ? norm(head, [...gain.data]) : head, position));
  };
  const keys: number[][][][] = Array.from({ length: config.layers }, () => []);
  const values: number[][][][] = Array.from({ length: config.layers }, () => []);
  return ids.map((id, position) => {
    let x = row('model.embed_tokens.weight', id);
    for (let l = 0; l < config.layers; l++) {
      const layer = `model.layers.${l}`;
      const normed = norm(x, vector(`${layer}.input_layernorm.weight`));
      keys[l]!.push(project(layer, 'k', normed, position));
      values[l]!.push(project(layer, 'v', normed, position));
      const heads = project(layer, 'q', normed, position).map((query, h) => {
        const shared = Math.floor(h / (config.heads / config.kvHeads));
        const weights = softmax(keys[l]!.map((key) => dot(query, key[shared]!) / Math.sqrt(config.headDim)));
        return query.map((_, i) =>
          dot(
            weights,
            values[l]!.map((value) => value[shared]![i]!),
          ),
        );
      });
      const attended = times(`${layer}.self_attn.o_proj.weight`, heads.flat());
      x = x.map((value, i) => value + attended[i]!);
      const second = norm(x, vector(`${layer}.post_attention_layernorm.weight`));
      const up = times(`${layer}.mlp.up_proj.weight`, second);
      const gated = times(`${layer}.mlp.gate_proj.weight`, second).map(
        (g, i) => (g / (1 + Math.exp(-g))) * up[i]!,
      );
      const down = times(`${layer}.mlp.down_proj.weight`, gated);
      x = x.map((value, i) => value + down[i]!);
    }
    const out = config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
    return times(out, norm(x, vector('model.norm.weight')));
  });
}

export function softmax(x: readonly number[]): number[] {
  const top = Math.max(...x);
  const powers = x.map((value) => Math.exp(value - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((value) => value / sum);
}
