/**
 * Deltas: what a file of 16-bit numbers has otherwise than another of the same length. A bf16 policy changes few of its numbers in a step of
 * reinforcement learning, so that a version can be published as a delta against the version before it.
 *
 * The format, integers little-endian: 8 bytes `rm-delta`; the sha256 of the base and of the result, 32 bytes each; the length of both in bytes and the
 * number of changes, 8 bytes each; the gaps in front of the changed numbers in ascending order, each an unsigned LEB128; their new values, 2 bytes
 * each. A gap is the count of unchanged numbers since the changed one before, or since the beginning.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { type RollmeshError, wrongInput } from '../errors.ts';
import type { Replay } from '../schema/policy.ts';

const MAGIC = new TextEncoder().encode('rm-delta');
const HASH = 32;
const HEADER = MAGIC.length + 2 * HASH + 16;

interface Delta {
  /** sha256 of the file that the delta belongs to, and of the file that it makes of it. */
  readonly base: string;
  readonly result: string;
  /** The length of either, bytes. */
  readonly bytes: number;
  readonly changes: number;
  /** The rest of the delta, as it is stored. */
  readonly gaps: Uint8Array;
  readonly values: Uint8Array;
}

/**
 * The delta that makes `result` of `base`; null where the files are not of one even length, or where the delta would have `most` bytes or more.
 * The hashes are those of the two files.
 */
export function writeDelta(
  base: { readonly bytes: Uint8Array; readonly sha256: string },
  result: { readonly bytes: Uint8Array; readonly sha256: string },
  most: number,
): Uint8Array<ArrayBuffer> | null {
  const { length } = result.bytes;
  if (base.bytes.length !== length || length % 2) return null;
  let [changes, gapBytes] = [0, 0];
  for (const { gap } of changesOf(base.bytes, result.bytes)) {
    changes++;
    for (let left = gap; ; left = Math.floor(left / 0x80)) {
      gapBytes++;
      if (left < 0x80) break;
    }
    if (HEADER + gapBytes + 2 * changes >= most) return null;
  }
  const out = new Uint8Array(HEADER + gapBytes + 2 * changes);
  if (out.length >= most) return null;
  out.set(MAGIC);
  out.set(hexToBytes(base.sha256), MAGIC.length);
  out.set(hexToBytes(result.sha256), MAGIC.length + HASH);
  const view = new DataView(out.buffer);
  view.setBigUint64(HEADER - 16, BigInt(length), true);
  view.setBigUint64(HEADER - 8, BigInt(changes), true);
  let [gapAt, valueAt] = [HEADER, HEADER + gapBytes];
  for (const { gap, at } of changesOf(base.bytes, result.bytes)) {
    let left = gap;
    for (; left >= 0x80; left = Math.floor(left / 0x80)) out[gapAt++] = (left % 0x80) | 0x80;
    out[gapAt++] = left;
    out[valueAt++] = result.bytes[at]!;
    out[valueAt++] = result.bytes[at + 1]!;
  }
  return out;
}

/** The changed numbers in their order: how many unchanged ones are in front of each, and the byte at which it lies. */
function* changesOf(
  base: Uint8Array,
  result: Uint8Array,
): Generator<{ readonly gap: number; readonly at: number }> {
  let next = 0;
  for (let at = 0; at < result.length; at += 2) {
    if (base[at] === result[at] && base[at + 1] === result[at + 1]) continue;
    yield { gap: (at - next) / 2, at };
    next = at + 2;
  }
}

/** Reads a delta. Throws `delta.torn` where the bytes are not a whole one, or name a number beyond the file. */
function readDelta(bytes: Uint8Array): Delta {
  if (bytes.length < HEADER || MAGIC.some((byte, i) => bytes[i] !== byte))
    throw torn(`its ${bytes.length} bytes do not begin as one`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = Number(view.getBigUint64(HEADER - 16, true));
  const changes = Number(view.getBigUint64(HEADER - 8, true));
  // A change takes three bytes or more, so a larger count need not be believed.
  const valuesAt = bytes.length - 2 * changes;
  if (HEADER + changes > valuesAt) throw torn(`${bytes.length} bytes are too few for ${changes} changes`);
  const gaps = bytes.subarray(HEADER, valuesAt);
  let at = 0;
  let next = 0;
  for (let i = 0; i < changes; i++) {
    const { gap, end } = gapAt(gaps, at);
    if (end > gaps.length) throw torn(`the gap of change ${i} is cut off`);
    at = end;
    next += gap + 1;
  }
  if (at !== gaps.length) throw torn(`${gaps.length - at} bytes are left over`);
  if (2 * next > length) throw torn(`it changes number ${next - 1} of a file of ${length} bytes`);
  const hash = (from: number) => bytesToHex(bytes.subarray(from, from + HASH));
  return {
    base: hash(MAGIC.length),
    result: hash(MAGIC.length + HASH),
    bytes: length,
    changes,
    gaps,
    values: bytes.subarray(valuesAt),
  };
}

/** The gap that begins at a byte, and where it ends: beyond the gaps where it is cut off. */
function gapAt(gaps: Uint8Array, at: number): { readonly gap: number; readonly end: number } {
  let gap = 0;
  for (let factor = 1, end = at; ; factor *= 0x80) {
    const byte = gaps[end++];
    if (byte === undefined) return { gap, end };
    gap += (byte & 0x7f) * factor;
    if (byte < 0x80) return { gap, end };
  }
}

const torn = (why: string) => refuse('delta.torn', `A delta cannot be read: ${why}.`, 'a whole delta');

const refuse = (code: string, what: string, expected: string): RollmeshError =>
  wrongInput(code, what, {
    expected,
    next: 'Fetch the file again; if it is the stored one, roll back to a version before it.',
  });

/**
 * Makes a file in pieces: of its anchor by all its deltas, or of a version between by the deltas that it lacks, the last ones of the file's. `file` is its
 * name, for errors. The last step throws `delta.result` where the bytes are not those that the last delta makes, so nothing may be used
 * before it is done. Before the first step it throws `delta.torn`, `delta.order` for a delta of this file in another's place, and `delta.base` for one
 * against another file.
 */
export async function* rebuilt(
  file: string,
  { anchor, deltas: named }: Replay,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  deltas: readonly Uint8Array[],
): AsyncGenerator<Uint8Array> {
  const results = [anchor.sha256, ...named.map(({ result }) => result)];
  const applied = named.length - deltas.length;
  const cursors = deltas.map((bytes, i) => {
    const delta = readDelta(bytes);
    expectInPlace(file, delta, results, applied + i);
    if (delta.bytes !== anchor.bytes)
      throw refuse(
        'delta.base',
        `Delta ${applied + i} of ${file} is for a file of ${delta.bytes} bytes.`,
        `one of ${anchor.bytes} bytes`,
      );
    return new Cursor(delta);
  });
  const hash = sha256.create();
  let from = 0;
  for await (const piece of pieces) {
    const out = new Uint8Array(piece);
    for (const cursor of cursors) cursor.apply(out, from);
    from += out.length;
    hash.update(out);
    yield out;
  }
  const found = bytesToHex(hash.digest());
  if (from !== anchor.bytes || found !== results.at(-1))
    throw refuse(
      'delta.result',
      `The deltas of ${file} make ${from} bytes with sha256 ${found}.`,
      `${anchor.bytes} bytes with sha256 ${results.at(-1)}`,
    );
}

/** Throws unless the delta leads from result `index` to the next. */
function expectInPlace(file: string, { base, result }: Delta, results: readonly string[], index: number) {
  if (base === results[index] && result === results[index + 1]) return;
  const place = results.findIndex((sha256, i) => sha256 === base && results[i + 1] === result);
  const expected = `a delta against the file with sha256 ${results[index]} that makes the one with ${results[index + 1]}`;
  throw place >= 0
    ? refuse('delta.order', `Delta ${place} of ${file} came in the place of delta ${index}.`, expected)
    : refuse(
        'delta.base',
        `Delta ${index} of ${file} makes the file with sha256 ${result} of the one with ${base}.`,
        expected,
      );
}

/** Applies a delta to pieces of a file in their order. */
class Cursor {
  readonly #delta: Delta;
  /** The change that is next: its index, the byte of the file where its number lies, and where the gap behind it begins. */
  #change = 0;
  #at = 0;
  #gap = 0;

  constructor(delta: Delta) {
    this.#delta = delta;
    this.#advance(0);
  }

  /** Changes a piece that begins at byte `from` of the file, in place. It may begin or end within a number. */
  apply(piece: Uint8Array, from: number): void {
    const { changes, values } = this.#delta;
    const end = from + piece.length;
    while (this.#change < changes && this.#at < end) {
      const [at, value] = [this.#at - from, 2 * this.#change];
      if (at >= 0) piece[at] = values[value]!;
      // The rest of the number is in the next piece.
      if (at + 1 >= piece.length) return;
      piece[at + 1] = values[value + 1]!;
      this.#change++;
      this.#advance(this.#at + 2);
    }
  }

  #advance(from: number): void {
    const { gap, end } = gapAt(this.#delta.gaps, this.#gap);
    this.#at = from + 2 * gap;
    this.#gap = end;
  }
}
