/** In-place updates and norms on the CPU device. */
import { SKIP_UPDATE } from '../../ops/in-place.ts';
import type { SimdBackend } from '../simd-backend.ts';
import { type KernelCall, numbered, register, sizeOf } from './register.ts';

/** Sum of squares of all elements, in float32. */
function sumSquares(backend: SimdBackend, x: KernelCall['inputs'][string]): number {
  const n = sizeOf(x);
  const shares = backend.runtime.sumShares(n);
  const partial = backend.output([shares]);
  backend.runtime.runShares('sumSquares', [n, backend.address(x), backend.address(partial)], shares);
  const sum = backend.view(partial).reduce((total, value) => total + value, 0);
  backend.disposeData(partial.dataId);
  return Math.fround(sum);
}

export function registerOptimiser(): void {
  register('ScaleAdd', ({ backend, inputs, number }) => {
    const { target, source } = inputs;
    const addresses = [backend.address(source!), backend.address(target!)];
    const n = sizeOf(target!);
    backend.runtime.run('scaleAdd', [n, ...addresses, number('scale'), number('keep')], n);
    return [];
  });
  register('GradientNorm', ({ backend, inputs, number }) => {
    const squares = numbered(inputs, 'x').map((x) => sumSquares(backend, x));
    const norm = Math.fround(Math.sqrt(squares.reduce((sum, square) => Math.fround(sum + square), 0)));
    const clipped = Math.min(
      1,
      Math.fround(Math.fround(number('clipNorm')) / Math.fround(norm + Math.fround(1e-6))),
    );
    const scale = norm <= Math.fround(number('skipNorm')) ? clipped : SKIP_UPDATE;
    return [norm, scale].map((value) => backend.makeTensorInfo([], 'float32', Float32Array.of(value)));
  });
  register('AdamW', ({ backend, inputs, number, numbers }) => {
    const { mean, square, scale } = inputs;
    const factor = backend.view(scale!)[0]!;
    if (factor === SKIP_UPDATE) return [];
    const [offsets, decays] = [numbers('offsets'), numbers('decays')];
    const [rate, beta1, beta2, eps] = ['rate', 'beta1', 'beta2', 'eps'].map(number);
    const corrections = ['correct1', 'correct2'].map(number);
    const gradients = numbered(inputs, 'g');
    for (const [i, parameter] of numbered(inputs, 'p').entries()) {
      const n = sizeOf(parameter);
      const moments = [mean!, square!].map((t) => backend.address(t) + 4 * offsets[i]!);
      const addresses = [backend.address(parameter), ...moments, backend.address(gradients[i]!)];
      const scalars = [rate!, beta1!, beta2!, eps!, decays[i]!, ...corrections, factor];
      backend.runtime.run('adamW', [n, ...addresses, ...scalars], 6 * n);
    }
    return [];
  });
}
