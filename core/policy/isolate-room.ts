/** What an isolate has room for, in bytes. */

/** What the 128 MB of an isolate leave for weights, beside the program, the caches of a batch, and the messages. */
export const ISOLATE_ROOM = 100 << 20;

/** Bytes of a weight as an engine holds it; scales of blocks and channels are not counted. */
export const WEIGHT_BYTES = { float32: 4, int8: 1, w8a8: 1, int4: 0.5 } as const;

/** What the gateway, which replays deltas when a version is committed, has room for beside the pieces of the file. */
const GATEWAY_ROOM = 64 << 20;

/**
 * How large the deltas of a file of bf16 weights may be together. Whoever has no version yet fetches at most twice the file, and an isolate that has
 * room for the weights in some form has room for the deltas beside them.
 */
export function roomForDeltas(fileBytes: number): number {
  const left = Object.values(WEIGHT_BYTES).map((held) => ISOLATE_ROOM - (held / 2) * fileBytes);
  return Math.min(fileBytes, GATEWAY_ROOM, ...left.filter((room) => room >= 0));
}
