/** Publishes a file as a delta against the parent's, where that is much smaller than the file. */
import { createHash } from 'node:crypto';
import { writeDelta } from '../../core/policy/delta.ts';
import { roomForDeltas } from '../../core/policy/isolate-room.ts';
import { deltaName, type FileEntry, type FileStream, MOST_DELTAS } from '../../core/schema/policy.ts';
import type { Send } from './store-file.ts';

/** A delta of this share of the file or more is not worth its replay: the file is stored whole, as a new anchor. */
const DELTA_SHARE = 0.3;

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * Sends the delta that makes the file of `base`, the parent's file and what a later manifest says of it.
 * @returns what the manifest says of the file; null where there is no base, and where the file is to be stored whole
 */
export async function storeDelta(
  source: Uint8Array | FileStream,
  file: string,
  base: { readonly bytes: Uint8Array; readonly entry: FileEntry } | undefined,
  send: Send,
): Promise<FileEntry | null> {
  // What is in memory may be of a version that another learner committed with other bytes.
  if (!base || !(source instanceof Uint8Array) || hashOf(base.bytes) !== base.entry.sha256) return null;
  const { replay: { anchor, deltas } = { anchor: base.entry, deltas: [] } } = base.entry;
  if (deltas.length === MOST_DELTAS) return null;
  const before = deltas.reduce((sum, { bytes }) => sum + bytes, 0);
  const most = Math.min(DELTA_SHARE * source.length, roomForDeltas(source.length) - before);
  const sha256 = hashOf(source);
  const of = { bytes: base.bytes, sha256: base.entry.sha256 };
  const delta = writeDelta(of, { bytes: source, sha256 }, most);
  if (!delta) return null;
  const stored = { sha256: hashOf(delta), bytes: delta.length };
  await send(deltaName(file, deltas.length), stored.sha256, delta);
  return {
    sha256,
    bytes: source.length,
    replay: { anchor, deltas: [...deltas, { ...stored, result: sha256 }] },
  };
}
