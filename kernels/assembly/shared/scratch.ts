/**
 * This thread's private work area, and the shape of the matrix micro-kernel. Both are set by the runtime: each thread has its
 * own instance over the same shared memory.
 */
export let scratch: usize = 0;
/** Rows of C that a micro-kernel holds in registers. */
export let MR: i32 = ASC_FEATURE_RELAXED_SIMD ? 6 : 4;
/** Columns of C that a micro-kernel holds in registers. */
export let NR: i32 = 8;

/** Address of at least `attentionScratchBytes` / `gemmScratchBytes` bytes that no other thread uses. */
export function setScratch(address: usize): void {
  scratch = address;
}

/** wide = 1: 4 x 16 tiles, for an engine that turns pairs of 128-bit operations into 256-bit ones. */
export function setWideTiles(wide: i32): void {
  MR = wide ? 4 : ASC_FEATURE_RELAXED_SIMD ? 6 : 4;
  NR = wide ? 16 : 8;
}
