/** 16-bit floats as they lie in checkpoints: IEEE half and bfloat16, to and from float32 bits. */

const scratch = new DataView(new ArrayBuffer(4));

function bitsOf(value: number): number {
  scratch.setFloat32(0, value);
  return scratch.getUint32(0);
}

/** bfloat16 [n] -> float32 [n]: exact, the upper half of a float32. */
export function fromBfloat16(bits: Uint16Array): Float32Array {
  const out = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = bits[i]! << 16;
  return new Float32Array(out.buffer);
}

/** float32 [n] -> bfloat16 [n], rounded to nearest even; a NaN stays one. */
export function toBfloat16(values: Float32Array): Uint16Array {
  const out = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const bits = bitsOf(values[i]!);
    out[i] = Number.isNaN(values[i]) ? 0x7fc0 : (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
  }
  return out;
}

function halfToFloat(half: number): number {
  const exponent = (half >>> 10) & 31;
  const fraction = half & 1023;
  const sign = half & 0x8000 ? -1 : 1;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

let halfTable: Float32Array | undefined;

/** IEEE half [n] -> float32 [n]: exact. */
export function fromHalf(bits: Uint16Array): Float32Array {
  halfTable ??= Float32Array.from({ length: 65536 }, (_, half) => halfToFloat(half));
  const out = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = halfTable[bits[i]!]!;
  return out;
}

function floatToHalf(value: number): number {
  const sign = (bitsOf(value) >>> 16) & 0x8000;
  const size = Math.abs(value);
  if (Number.isNaN(value)) return sign | 0x7e00;
  // 65520 is half way between the largest half, 65504, and the next power of two.
  if (size >= 65520) return sign | 0x7c00;
  if (size < 2 ** -14) return sign | roundEven(size * 2 ** 24);
  const exponent = (bitsOf(size) >>> 23) - 127;
  // A fraction rounded up to 1024 carries into the exponent by itself.
  return sign | (((exponent + 15) << 10) + roundEven((size / 2 ** exponent - 1) * 1024));
}

function roundEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/** float32 [n] -> IEEE half [n], rounded to nearest even; out of range becomes infinity. */
export function toHalf(values: Float32Array): Uint16Array {
  const out = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) out[i] = floatToHalf(values[i]!);
  return out;
}
