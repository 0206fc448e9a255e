/**
 * Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
 * A stream is keyed by a string id; the i-th number depends on the key and i alone, so any part can be drawn again.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** High 32 bits of a 32 x 32 bit product, without BigInt. */
function mulhi(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const mid = aHigh * bLow + ((aLow * bLow) >>> 16);
  const mid2 = aLow * bHigh + (mid & 0xffff);
  return (aHigh * bHigh + Math.floor(mid / 65536) + Math.floor(mid2 / 65536)) >>> 0;
}

/** One Philox4x32-10 block: counter [4] and key [2] of uint32 -> uint32 [4]. */
export function philox4x32(
  counter: readonly [number, number, number, number],
  key: readonly [number, number],
): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < 10; round++) {
    const high0 = mulhi(0xd2511f53, c0);
    const low0 = Math.imul(0xd2511f53, c0) >>> 0;
    const high1 = mulhi(0xcd9e8d57, c2);
    const low1 = Math.imul(0xcd9e8d57, c2) >>> 0;
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0];
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/** First bytes of sha256(text) as a Philox key and the upper half of its counter: 128 bits, so two ids never share a stream. */
function keyOf(id: string): { key: [number, number]; nonce: [number, number] } {
  const view = new DataView(sha256(utf8ToBytes(id)).buffer);
  return {
    key: [view.getUint32(0, true), view.getUint32(4, true)],
    nonce: [view.getUint32(8, true), view.getUint32(12, true)],
  };
}

/** The stream of uint32 that belongs to an id: `block(i)` gives numbers 4i … 4i+3. */
function blocks(id: string): (index: number) => [number, number, number, number] {
  const { key, nonce } = keyOf(id);
  return (index) => philox4x32([index, 0, nonce[0], nonce[1]], key);
}

/** The first `count` uniforms of an id's stream, float32 multiples of 2^-24 in (0, 1): a draw of exactly 0 would pick a zero-probability token. */
export function uniforms(id: string, count: number): Float32Array {
  const draw = blocks(id);
  const out = new Float32Array(count);
  for (let i = 0; i < count; i += 4) {
    const block = draw(i >>> 2);
    for (let j = 0; j < 4 && i + j < count; j++) out[i + j] = ((block[j]! >>> 9) + 0.5) / 8388608;
  }
  return out;
}

/** A sequential generator for task writing and shuffles; seeded by an id, never by the clock. */
export class Random {
  readonly #draw: (index: number) => [number, number, number, number];
  #next = 0;
  #block: readonly number[] = [];

  constructor(id: string) {
    this.#draw = blocks(id);
  }

  uint32(): number {
    const at = this.#next++ & 3;
    if (at === 0) this.#block = this.#draw((this.#next - 1) >>> 2);
    return this.#block[at]!;
  }

  /** Uniform in [0, 1), 53 bits. */
  float(): number {
    return ((this.uint32() >>> 5) * 67108864 + (this.uint32() >>> 6)) / 9007199254740992;
  }

  /** Uniform integer in [0, bound). */
  int(bound: number): number {
    return Math.floor(this.float() * bound);
  }

  bool(probability = 0.5): boolean {
    return this.float() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)]!;
  }

  /** An index drawn in proportion to the weights. */
  weighted(weights: readonly number[]): number {
    let left = this.float() * weights.reduce((a, b) => a + b, 0);
    for (let i = 0; i < weights.length; i++) {
      left -= weights[i]!;
      if (left < 0) return i;
    }
    return weights.length - 1;
  }

  /** Fisher-Yates; a new array. */
  shuffle<T>(items: readonly T[]): T[] {
    const out = [...items];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      [out[i], out[j]] = [out[j]!, out[i]!];
    }
    return out;
  }

  /** Standard normal (Box-Muller). */
  normal(): number {
    const u = 1 - this.float();
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * this.float());
  }
}

/** A short stable id of anything that can be written as text: hex of sha256, 32 characters. */
export const deriveId = (...parts: readonly (string | number)[]): string =>
  bytesToHex(sha256(utf8ToBytes(parts.join('\u0000')))).slice(0, 32);

/** The same id by the platform's own code, which takes a fraction of the time for a text of kilobytes. */
export const deriveLongId = async (...parts: readonly (string | number)[]): Promise<string> =>
  (await longSha256Hex(new Uint8Array(utf8ToBytes(parts.join('\u0000'))))).slice(0, 32);

export const sha256Hex = (bytes: Uint8Array): string => bytesToHex(sha256(bytes));

/** Node's own code hashes no more bytes than this at once. */
const MOST_AT_ONCE = 2 ** 31 - 1;

/** The same hash by the platform's own code, for files and what else is long: in JavaScript it takes several times as long, in a young isolate more. */
export const longSha256Hex = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  bytes.length > MOST_AT_ONCE
    ? sha256Hex(bytes)
    : bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
