/**
 * The CPU kernels of the learner: float32, row-major, raw addresses into one shared memory. The last two arguments of each
 * kernel are its share (part of parts), so a thread pool needs no other protocol. Built twice, with and without relaxed SIMD.
 */

export {
  adamW,
  add,
  geGlu,
  geGluGrad,
  scaleAdd,
  sumSquares,
  swiGlu,
  swiGluGrad,
} from '../shared/elementwise';
export {
  columnSums,
  fillRows,
  gatherHalfRows,
  gatherRows,
  rmsNorm,
  rmsNormGrad,
  sumRows,
  widenValues,
} from '../shared/rows';
export { setScratch, setWideTiles } from '../shared/scratch';
export { attention, attentionGrad, attentionScratchBytes } from './attention';
export { foldWeight, gemm, gemmHalf, gemmScratchBytes, gemmThin } from './gemm';
export { logitsGrad, logProbRows } from './log-prob';
