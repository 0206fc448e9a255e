/** General matrix product over packed panels, blocked for a second-level cache of half a megabyte or more. */
import { multiplyPanels, pack, packHalf, TILE_BYTES } from '../shared/panels';
import { MR, NR, scratch } from '../shared/scratch';
import { looseTile4x16 } from '../shared/tiles';
import { bytes, halfBytes, share, widen } from '../shared/vector';

const BLOCK_K: i32 = 256;
const BLOCK_M: i32 = 96; // a multiple of every tile height
const BLOCK_N: i32 = 512;

/** Scratch bytes that `gemm` needs on each thread. */
export function gemmScratchBytes(): i32 {
  return <i32>TILE_BYTES + ((BLOCK_M * BLOCK_K + BLOCK_K * BLOCK_N + BLOCK_K * 16) << 2);
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
  half: bool,
  c: usize,
  ldc: i32,
  add: bool,
): void {
  const aPanels = scratch + TILE_BYTES;
  const bPanels = aPanels + bytes(BLOCK_M * BLOCK_K);
  const widened = bPanels + bytes(BLOCK_K * BLOCK_N);
  for (let j = 0; j < n; j += BLOCK_N) {
    const nb = min(BLOCK_N, n - j);
    for (let p = 0; p < k; p += BLOCK_K) {
      const kb = min(BLOCK_K, k - p);
      const at = tb ? j * ldb + p : p * ldb + j;
      if (half) packHalf(bPanels, b + halfBytes(at), ldb, tb, nb, kb, widened);
      else pack(bPanels, b + bytes(at), ldb, tb, nb, kb, NR);
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

function shared(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  lda: i32,
  ta: bool,
  b: usize,
  ldb: i32,
  tb: bool,
  half: bool,
  c: usize,
  ldc: i32,
  add: bool,
  part: i32,
  parts: i32,
): void {
  if (m >= n) {
    const from = share(m, MR, part, parts);
    const rows = share(m, MR, part + 1, parts) - from;
    if (rows <= 0) return;
    const at = a + bytes(ta ? from : from * lda);
    gemmBlock(rows, n, k, at, lda, ta, b, ldb, tb, half, c + bytes(from * ldc), ldc, add);
  } else {
    const from = share(n, NR, part, parts);
    const columns = share(n, NR, part + 1, parts) - from;
    if (columns <= 0) return;
    const first = tb ? from * ldb : from;
    const at = b + (half ? halfBytes(first) : bytes(first));
    gemmBlock(m, columns, k, a, lda, ta, at, ldb, tb, half, c + bytes(from), ldc, add);
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
  shared(m, n, k, a, lda, ta != 0, b, ldb, tb != 0, false, c, ldc, add != 0, part, parts);
}

/** The same for a B in bfloat16, which is widened panel by panel: the bits are those of a product by its float32 values. */
export function gemmHalf(
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
  shared(m, n, k, a, lda, ta != 0, b, ldb, tb != 0, true, c, ldc, add != 0, part, parts);
}

/**
 * to[m, n] = W + B A, with B [m, rank] and A [rank, n]: a weight with an adapter folded in, of a W in float32 or in bfloat16. Rows are shared out, and
 * some are finished before the next are read.
 */
export function foldWeight(
  m: i32,
  n: i32,
  rank: i32,
  w: usize,
  half: i32,
  b: usize,
  a: usize,
  to: usize,
  part: i32,
  parts: i32,
): void {
  const end = share(m, MR, part + 1, parts);
  for (let i = share(m, MR, part, parts); i < end; i += BLOCK_M) {
    const rows = min(BLOCK_M, end - i);
    const line = to + bytes(i * n);
    if (half) widen(line, w + halfBytes(i * n), rows * n);
    else memory.copy(line, w + bytes(i * n), bytes(rows * n));
    gemmBlock(rows, n, rank, b + bytes(i * rank), rank, false, a, n, false, false, line, n, true);
  }
}

/** One tile of `gemmThin`; at an edge of C it goes through scratch, as in multiplyPanels. */
function thinTile(
  k: i32,
  rows: i32,
  columns: i32,
  a: usize,
  rowStep: usize,
  step: usize,
  b: usize,
  c: usize,
  ldc: usize,
  add: bool,
): void {
  // Rows past the end repeat the last one and are not stored.
  const row1 = <usize>min(1, rows - 1) * rowStep;
  const row2 = <usize>min(2, rows - 1) * rowStep;
  const row3 = <usize>min(3, rows - 1) * rowStep;
  if (rows >= 4 && columns >= 16) {
    looseTile4x16(k, a, row1, row2, row3, step, b, c, ldc, add);
    return;
  }
  const width = bytes(min(columns, 16));
  const height = min(rows, 4);
  if (add) for (let r = 0; r < height; r++) memory.copy(scratch + bytes(r * 16), c + <usize>r * ldc, width);
  looseTile4x16(k, a, row1, row2, row3, step, b, scratch, 64, add);
  for (let r = 0; r < height; r++) memory.copy(c + <usize>r * ldc, scratch + bytes(r * 16), width);
}

/**
 * C[m, n] = op(A) op(B), plus C where `add`, for few columns, such as an adapter's rank: A is read where it lies. Only where tiles are wide; the
 * bits are those of `gemm`, since every value is one chain of multiply-adds in both. Rows of C are shared out.
 */
export function gemmThin(
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
  const from = share(m, 4, part, parts);
  const end = share(m, 4, part + 1, parts);
  const panels = scratch + TILE_BYTES;
  const rowStep = bytes(ta ? 1 : lda);
  const step = bytes(ta ? lda : 1);
  const line = bytes(ldc);
  for (let j = 0; j < n; j += BLOCK_N) {
    const nb = min(BLOCK_N, n - j);
    for (let p = 0; p < k; p += BLOCK_K) {
      const kb = min(BLOCK_K, k - p);
      pack(panels, b + bytes(tb ? j * ldb + p : p * ldb + j), ldb, tb != 0, nb, kb, 16);
      const sum = add != 0 || p > 0;
      for (let i = from; i < end; i += 4) {
        const at = a + <usize>i * rowStep + <usize>p * step;
        const to = c + <usize>i * line + bytes(j);
        for (let q = 0; q < nb; q += 16)
          thinTile(kb, end - i, nb - q, at, rowStep, step, panels + bytes(kb * q), to + bytes(q), line, sum);
      }
    }
  }
}
