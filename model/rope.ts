/**
 * Rotary position embedding tables (Su et al., "RoFormer", 2021) with the scalings of released checkpoints: position
 * interpolation, Llama 3's by wavelength, YaRN (Peng et al., 2023). They follow the half-split convention of Hugging Face.
 */
import type { Rope } from './layers.ts';

/** Angles per position (radians) [headDim / 2], and the factor on cos and sin. */
export function ropeFrequencies(
  { theta, scaling }: Rope,
  headDim: number,
): { frequencies: Float64Array; attentionFactor: number } {
  const plain = Float64Array.from({ length: headDim / 2 }, (_, i) => theta ** ((-2 * i) / headDim));
  if (!scaling) return { frequencies: plain, attentionFactor: 1 };
  switch (scaling.type) {
    case 'linear':
      return { frequencies: plain.map((w) => w / scaling.factor), attentionFactor: 1 };
    case 'llama3': {
      const { factor, lowFreqFactor: low, highFreqFactor: high, originalMaxPositions } = scaling;
      const scale = (w: number): number => {
        // Number of full turns that this frequency makes within the original context.
        const turns = (originalMaxPositions * w) / (2 * Math.PI);
        const keep = Math.min(Math.max((turns - low) / (high - low), 0), 1);
        return keep * w + (1 - keep) * (w / factor);
      };
      return { frequencies: plain.map(scale), attentionFactor: 1 };
    }
    case 'yarn': {
      const { factor, betaFast, betaSlow, originalMaxPositions } = scaling;
      // The dimension whose frequency makes this number of turns within the original context.
      const dimensionOf = (turns: number): number =>
        (headDim * Math.log(originalMaxPositions / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
      const from = Math.max(Math.floor(dimensionOf(betaFast)), 0);
      const to = Math.min(Math.ceil(dimensionOf(betaSlow)), headDim - 1);
      const span = Math.max(to - from, 0.001);
      const scale = (w: number, i: number): number => {
        const interpolate = Math.min(Math.max((i - from) / span, 0), 1);
        return interpolate * (w / factor) + (1 - interpolate) * w;
      };
      return { frequencies: plain.map(scale), attentionFactor: scaling.attentionFactor };
    }
  }
}

/** cos and sin [positions, headDim / 2], computed in float64 and rounded once. Without a rope all angles are 0, which changes no head. */
export function ropeTables(
  rope: Rope | null,
  headDim: number,
  positions: number,
): { cos: Float32Array; sin: Float32Array } {
  const { frequencies, attentionFactor } = rope
    ? ropeFrequencies(rope, headDim)
    : { frequencies: new Float64Array(headDim / 2), attentionFactor: 1 };
  const half = frequencies.length;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let position = 0; position < positions; position++)
    for (let i = 0; i < half; i++) {
      const angle = position * frequencies[i]!;
      cos[position * half + i] = Math.cos(angle) * attentionFactor;
      sin[position * half + i] = Math.sin(angle) * attentionFactor;
    }
  return { cos, sin };
}

/** The tables in one: for each position its cosines, then its sines, [positions, headDim]. */
export function ropeTable(rope: Rope | null, headDim: number, positions: number): Float32Array {
  const half = headDim / 2;
  const { cos, sin } = ropeTables(rope, headDim, positions);
  const table = new Float32Array(2 * half * positions);
  for (let p = 0; p < positions; p++) {
    table.set(cos.subarray(p * half, (p + 1) * half), 2 * p * half);
    table.set(sin.subarray(p * half, (p + 1) * half), (2 * p + 1) * half);
  }
  return table;
}
