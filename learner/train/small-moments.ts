/**
 * AdamW's moments in 8 bits, in blocks of 256 values that share a scale (Dettmers et al., "8-bit Optimizers via Block-wise Quantization", 2022).
 * Both moments spread over many powers of ten within a block, so that a code is linear not in the value but in a root of it:
 *
 *     mean          code = 128 ± round(127 √(|m| / scale))          m = ± (c / 127)² scale,    c = |code − 128|
 *     mean square   code = max(1, round(255 ⁴√(s / scale)))         s = (code / 255)⁴ scale
 *
 * with the block's largest absolute value as the scale, and codes 128 and 0 for zero. A mean square above zero keeps a code above zero, since a step
 * is divided by its root: what is lost is a longer step and never an endless one. Values that were read from codes give the same codes again.
 */

/** Values that share a scale. */
export const BLOCK = 256;

export interface SmallMoment {
  /** One for each value. */
  readonly codes: Uint8Array;
  /** One for each block, [⌈values / 256⌉]. */
  readonly scales: Float32Array;
}

export type MomentKind = 'mean' | 'square';

/** Both directions of a code, for values that were divided by their block's scale. */
const CODES: Readonly<
  Record<MomentKind, { readonly code: (share: number) => number; readonly share: (code: number) => number }>
> = {
  mean: {
    code: (share) => 128 + Math.sign(share) * Math.round(127 * Math.sqrt(Math.abs(share))),
    share: (code) => (Math.sign(code - 128) * (code - 128) ** 2) / 127 ** 2,
  },
  square: {
    code: (share) => (share > 0 ? Math.max(1, Math.round(255 * Math.sqrt(Math.sqrt(share)))) : 0),
    share: (code) => code ** 4 / 255 ** 4,
  },
};

export function toSmall(values: Float32Array, kind: MomentKind): SmallMoment {
  const { code } = CODES[kind];
  const codes = new Uint8Array(values.length);
  const scales = new Float32Array(Math.ceil(values.length / BLOCK));
  for (let block = 0; block < scales.length; block++) {
    const from = block * BLOCK;
    const to = Math.min(values.length, from + BLOCK);
    let scale = 0;
    for (let i = from; i < to; i++) scale = Math.max(scale, Math.abs(values[i]!));
    scales[block] = scale;
    for (let i = from; i < to; i++) codes[i] = code(scale === 0 ? 0 : values[i]! / scale);
  }
  return { codes, scales };
}

export function fromSmall({ codes, scales }: SmallMoment, kind: MomentKind): Float32Array {
  const shares = Float64Array.from({ length: 256 }, (_, code) => CODES[kind].share(code));
  return Float32Array.from(codes, (code, i) => shares[code]! * scales[Math.floor(i / BLOCK)]!);
}
