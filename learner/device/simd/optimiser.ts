/** In-place updates and norms on the CPU device. */
import { register, sizeOf } from './register.ts';

export function registerOptimiser(): void {
  register('ScaleAdd', ({ backend, inputs, number }) => {
    const { target, source } = inputs;
    const addresses = [backend.address(source!), backend.address(target!)];
    backend.runtime.run('scaleAdd', [sizeOf(target!), ...addresses, number('scale'), number('keep')]);
    return [];
  });
  register('SumSquares', ({ backend, inputs }) => {
    const { parts } = backend.runtime;
    const partial = backend.output([parts]);
    backend.runtime.run('sumSquares', [
      sizeOf(inputs.x!),
      backend.address(inputs.x!),
      backend.address(partial),
    ]);
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
    backend.runtime.run('adamW', [sizeOf(parameter!), ...addresses, ...names.map(number), factor]);
    return [];
  });
}
