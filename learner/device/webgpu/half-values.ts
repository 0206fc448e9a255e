/**
 * Tensors that are held in two bytes a value, for weights that are frozen: bfloat16, two to a word, and IEEE half floats, in words or, where the
 * device has `shader-f16`, as such. Kernels read them as the float32 values that they stand for, so that results have the same bits.
 */

export type HalfType = 'BF16' | 'F16';

/** How a buffer holds its values: words of two numbers of a type, or numbers of WGSL's own type f16. */
export type HeldAs = HalfType | 'f16';

/** The type of the buffer's elements in WGSL. */
export const elementOf = (held: HeldAs): string => (held === 'f16' ? 'f16' : 'u32');

// A half float below 2^-14 has no leading one: its fraction counts in units of 2^-24. Integers and exact products only, since a GPU may flush small halves to zero.
const DECODED: Readonly<Record<HalfType, string>> = {
  BF16: 'bitcast<f32>(bits << 16u)',
  F16: `bitcast<f32>(((bits & 0x8000u) << 16u) | bitcast<u32>(
    select(bitcast<f32>(((bits & 0x7fffu) + 0x1c000u) << 13u), f32(bits & 0x3ffu) * 0x1p-24, (bits & 0x7c00u) == 0u)))`,
};

/** `<name>_at(i)`: value i of the buffer `name`, whichever way it holds it; as float32 if `held` is undefined. */
export function accessor(name: string, held: HeldAs | undefined): string {
  const read = `fn ${name}_at(i: u32) -> f32`;
  if (held === undefined) return `${read} { return ${name}[i]; }`;
  if (held === 'f16') return `${read} { return f32(${name}[i]); }`;
  return `${read} {
  let bits = (${name}[i >> 1u] >> (16u * (i & 1u))) & 0xffffu;
  return ${DECODED[held]};
}`;
}
