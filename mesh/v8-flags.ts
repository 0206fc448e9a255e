/**
 * V8 flags for the local workerd. Its configuration has a field for them, Miniflare has no option, so the encoded
 * configuration is completed on its way to the process.
 *
 * Why: all isolates of a workerd share one thread, and on a machine with two cores V8 has one helper thread. If the helper
 * compiles for isolate A and needs A's garbage collector while the thread sweeps isolate B and waits for the helper, both
 * wait for ever at full load. With the collector on one thread nothing waits for the helper.
 *
 * And: every call of a binding leaves native memory behind small JavaScript objects, of whose size V8 knows little
 * (https://github.com/cloudflare/workerd/issues/6894), so that each of some thirty isolates, the simulators of R2 and D1
 * before all, gathers megabytes of garbage between two collections of its whole heap. So here every collection is one of the
 * whole heap, and the young generation, which sets off most of them, begins at 3 MiB instead of 1, for fewer of them:
 * docs/log.md, “What grew in workerd”, has the numbers and the price.
 */
import { Runtime } from 'miniflare';

const MESH_FLAGS = ['--single-threaded-gc', '--gc-global', '--min-semi-space-size=3'];

/** Place of `v8Flags` among the pointers of `Config` in workerd.capnp. */
const V8_FLAGS_POINTER = 2;
const WORD = 8;

let installed = false;

/** From now on every Miniflare of this process starts workerd with the mesh's flags. */
export function installV8Flags(): void {
  if (installed) return;
  installed = true;
  const { updateConfig } = Runtime.prototype;
  Runtime.prototype.updateConfig = function (configuration, ...rest) {
    return updateConfig.call(this, withV8Flags(configuration, MESH_FLAGS), ...rest);
  };
}

/**
 * Adds the flags to an encoded `Config` (Cap'n Proto, https://capnproto.org/encoding.html): a new segment with the list of
 * texts, and a far pointer to it in the root's empty slot. Throws where the slot is missing or taken.
 */
export function withV8Flags(message: Uint8Array, flags: readonly string[]): Buffer {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const segments = view.getUint32(0, true) + 1;
  const sizes = Array.from({ length: segments }, (_, i) => view.getUint32(4 + 4 * i, true));
  const start = headerBytes(segments);
  const words = sizes.reduce((sum, size) => sum + size, 0);
  const body = Buffer.from(message.subarray(start, start + words * WORD));
  const slot = slotOf(body);
  if (slot === null || body.readBigUInt64LE(slot) !== 0n)
    throw new Error(
      'internal: workerd’s configuration has no empty place for V8 flags; see mesh/v8-flags.ts',
    );
  // Far pointer: kind 2, landing pad at word 0 of the new segment.
  body.writeUInt32LE(2, slot);
  body.writeUInt32LE(segments, slot + 4);
  const list = textList(flags);
  const header = Buffer.alloc(headerBytes(segments + 1));
  header.writeUInt32LE(segments, 0);
  for (const [i, size] of [...sizes, list.length / WORD].entries()) header.writeUInt32LE(size, 4 + 4 * i);
  return Buffer.concat([header, body, list]);
}

/** Segment count and sizes, four bytes each, padded to a word. */
const headerBytes = (segments: number) => Math.ceil((4 + 4 * segments) / WORD) * WORD;

/** Byte offset of the root's pointer to the flags; null where the root has fewer pointers. */
function slotOf(body: Buffer): number | null {
  const low = body.readInt32LE(0);
  const dataWords = body.readUInt16LE(4);
  const pointerWords = body.readUInt16LE(6);
  if ((low & 3) !== 0 || pointerWords <= V8_FLAGS_POINTER) return null;
  const start = 1 + (low >> 2);
  return (start + dataWords + V8_FLAGS_POINTER) * WORD;
}

/** A list pointer, one pointer a text, then the texts, each ended by a zero byte. */
function textList(texts: readonly string[]): Buffer {
  const contents = texts.map((text) => {
    const bytes = Buffer.from(`${text}\0`);
    return { length: bytes.length, padded: Buffer.concat([bytes, Buffer.alloc(-bytes.length & (WORD - 1))]) };
  });
  const pointers = Buffer.alloc((1 + texts.length) * WORD);
  writeListPointer(pointers, 0, 0, 6, texts.length);
  let at = texts.length;
  for (const [i, { length, padded }] of contents.entries()) {
    writeListPointer(pointers, 1 + i, at - 1 - i, 2, length);
    at += padded.length / WORD;
  }
  return Buffer.concat([pointers, ...contents.map(({ padded }) => padded)]);
}

/** Kind 1; offset in words from the end of the pointer; element size 2 = bytes, 6 = pointers. */
function writeListPointer(
  into: Buffer,
  word: number,
  offset: number,
  elementSize: number,
  count: number,
): void {
  into.writeUInt32LE((offset << 2) | 1, word * WORD);
  into.writeUInt32LE((count << 3) | elementSize, word * WORD + 4);
}
