/**
 * The kernels of a generating decoder: float32 and 8-bit products over weights laid out in panels, attention over cached keys and values,
 * draws and scores. Addresses are raw; memory is imported. There are three builds: `plain` without relaxed SIMD, `fused` with fused
 * multiply-adds, `dot` with plain float32 and the relaxed dot product of bytes. `plain` and `dot` give the same bits on every host.
 */

export { scaleAdd } from '../shared/elementwise';
export { attendPrompt, attendSamples, attentionWords } from './attention';
export { appendRows, appendTokens, copyCache } from './cache';
export { fillRows, gate, gateGelu, normHeads, rmsNorm, rotate } from './decoder';
export { draw, score } from './distribution';
export { embed, embedInt8 } from './embedding';
export { probeDot, probeMadd } from './probe';
export { linear, linearInt8, packPanels, setScratch, setWideTiles } from './product';
export { quantizeRows, quantizeRowsTwice, quantizeWeights } from './quantize';
