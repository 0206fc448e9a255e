/** In-place updates and norms on the CPU device. */
import { register, sizeOf } from './register.ts';

export function registerOptimiser(): void {
  register('ScaleAdd', ({ backend, inputs, number }) => {
    const { target, source } = inputs;
    const addresses = [backend.address(source!), backend.address(target!)];
    const n = sizeOf(target!);
    backend.runtime.run('scaleAdd', [n, ...addresses, number('scale'), number('keep')], n);
    return [];
  });
  register('SumSquares', ({ backend, inputs }) => {
    const n = sizeOf(inputs.x!);
    const shares = backend.runtime.sumShares(n);
    const partial = backend.output([shares]);
    backend.runtime.runShares(
      'sumSquares',
      [n, backend.address(inputs.x!), backend.address(partial)],
      shares,
    );
    const sum = backend.view(partial).reduce((total, value) => total + value, 0);
    backend.disposeData(partial.dataId);
    return backend.makeTensorInfo([], 'float32', new Float32Array([sum]));
  });
  register('AdamW', ({ backend, inputs, number }) => {
    const { parameter, mean, square, gradient, scale } = inputs;
    const factor = backend.view(scale!)[0]!;
    if (factor < 0) return []; // SKIP_UPDATE
    const addresses = [parameter!, mean!, square!, gradient!].map((t) => backend.address(t));
    const names = ['rate', 'beta1', 'beta2', 'eps', 'decay', 'correct1', 'correct2'];
    const n = sizeOf(parameter!);
    backend.runtime.run('adamW', [n, ...addresses, ...names.map(number), factor], 6 * n);
    return [];
  });
}
