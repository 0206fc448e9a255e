/** Cuts a file into the objects that it is stored in: one, or shards where it is larger than an object may be. */
import { createHash } from 'node:crypto';
import {
  type FileEntry,
  type FileStream,
  MAX_FILE_BYTES,
  SHARD_BYTES,
  shardName,
} from '../../core/schema/policy.ts';

/** Sends one object; the next is read when it is stored. */
export type Send = (name: string, sha256: string, bytes: Uint8Array<ArrayBuffer>) => Promise<void>;

/** The largest object, and the size of shards where a file is larger, bytes. */
const LIMITS = { object: MAX_FILE_BYTES, shard: SHARD_BYTES };

/** Sends a file's objects in their order. Returns what the manifest says of the file. */
export async function storeFile(
  source: Uint8Array | FileStream,
  file: string,
  send: Send,
  limits = LIMITS,
): Promise<FileEntry> {
  const length = source instanceof Uint8Array ? source.length : source.bytes;
  const inShards = length > limits.object;
  const whole = createHash('sha256');
  const pieces: { sha256: string; bytes: number }[] = [];
  for await (const bytes of piecesOf(source, inShards ? limits.shard : length)) {
    const piece = { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
    if (inShards) whole.update(bytes);
    await send(inShards ? shardName(file, pieces.length) : file, piece.sha256, bytes);
    pieces.push(piece);
  }
  return inShards ? { sha256: whole.digest('hex'), bytes: length, shards: pieces } : pieces[0]!;
}

/** Consecutive pieces of `size` bytes; the last may be shorter, and an empty file has one that is empty. */
async function* piecesOf(
  source: Uint8Array | FileStream,
  size: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (source instanceof Uint8Array) {
    // Views of the file, which is in memory already.
    for (let at = 0; at === 0 || at < source.length; at += size)
      yield source.subarray(at, at + size) as Uint8Array<ArrayBuffer>;
    return;
  }
  let piece = new Uint8Array(Math.min(size, source.bytes));
  let filled = 0;
  let left = source.bytes;
  for await (const chunk of source.read())
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + piece.length - filled);
      if (part.length === 0)
        throw new Error(`internal: the file is longer than the ${source.bytes} bytes it claims`);
      piece.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < piece.length) continue;
      yield piece;
      left -= filled;
      piece = new Uint8Array(Math.min(size, left));
      filled = 0;
    }
  if (left)
    throw new Error(`internal: the file ends ${left - filled} bytes before the ${source.bytes} it claims`);
}
