/** General matrix product over packed panels, blocked for a second-level cache of half a megabyte or more. */
import { multiplyPanels, pack, TILE_BYTES } from './panels';
import { MR, NR, scratch } from './scratch';
import { bytes, share } from './vector';

const BLOCK_K: i32 = 256;
const BLOCK_M: i32 = 96; // a multiple of every tile height
const BLOCK_N: i32 = 512;

/** Scratch bytes that `gemm` needs on each thread. */
export function gemmScratchBytes(): i32 {
  return <i32>TILE_BYTES + ((BLOCK_M * BLOCK_K + BLOCK_K * BLOCK_N) << 2);
}

function gemmBlock(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  lda: i32,
  ta: bool,
  b: usize,
  ldb: i32,
  tb: bool,
  c: usize,
  ldc: i32,
  add: bool,
): void {
  const aPanels = scratch + TILE_BYTES;
  const bPanels = aPanels + bytes(BLOCK_M * BLOCK_K);
  for (let j = 0; j < n; j += BLOCK_N) {
    const nb = min(BLOCK_N, n - j);
    for (let p = 0; p < k; p += BLOCK_K) {
      const kb = min(BLOCK_K, k - p);
      pack(bPanels, b + bytes(tb ? j * ldb + p : p * ldb + j), ldb, tb, nb, kb, NR);
      for (let i = 0; i < m; i += BLOCK_M) {
        const mb = min(BLOCK_M, m - i);
        pack(aPanels, a + bytes(ta ? p * lda + i : i * lda + p), lda, !ta, mb, kb, MR);
        multiplyPanels(
          mb,
          nb,
          kb,
          aPanels,
          bPanels,
          bytes(kb * NR),
          c + bytes(i * ldc + j),
          ldc,
          add || p > 0,
        );
      }
    }
  }
}

/** C[m, n] = op(A) op(B), plus C where `add`. Leading dimensions in elements; the longer side of C is shared out. */
export function gemm(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  lda: i32,
  ta: i32,
  b: usize,
  ldb: i32,
  tb: i32,
  c: usize,
  ldc: i32,
  add: i32,
  part: i32,
  parts: i32,
): void {
  if (m >= n) {
    const from = share(m, MR, part, parts);
    const rows = share(m, MR, part + 1, parts) - from;
    if (rows <= 0) return;
    const at = a + bytes(ta ? from : from * lda);
    gemmBlock(rows, n, k, at, lda, ta != 0, b, ldb, tb != 0, c + bytes(from * ldc), ldc, add != 0);
  } else {
    const from = share(n, NR, part, parts);
    const columns = share(n, NR, part + 1, parts) - from;
    if (columns <= 0) return;
    const at = b + bytes(tb ? from * ldb : from);
    gemmBlock(m, columns, k, a, lda, ta != 0, at, ldb, tb != 0, c + bytes(from), ldc, add != 0);
  }
}
