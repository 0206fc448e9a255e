/** Lookups, normalisation, activation and sums over rows on the CPU device. */
import { wrongInput } from '../../../core/errors.ts';
import type * as tf from '../../tfjs.ts';
import { type KernelCall, passedOn, register, sizeOf } from './register.ts';

/** Checks that vectors of four fill a row: the kernels store whole vectors, and the next row may belong to another thread. */
function assertWholeVectors(op: string, width: number): void {
  if (width % 4 !== 0)
    throw wrongInput(
      'learner.width',
      `${op} over rows of ${width} values is not possible on the CPU device.`,
      {
        expected: 'a width that is a multiple of 4',
      },
    );
}

export function registerRows(): void {
  register('GatherRows', ({ backend, inputs }) => {
    const { matrix, ids } = inputs;
    const rows = sizeOf(ids!);
    const width = matrix!.shape[1]!;
    const y = backend.output([rows, width]);
    const addresses = [backend.storedAddress(matrix!), backend.address(ids!), backend.address(y)];
    const kernel = backend.isHalf(matrix!) ? 'gatherHalfRows' : 'gatherRows';
    backend.runtime.run(kernel, [rows, width, ...addresses], rows * width);
    return y;
  });
  register('GatherRowsGrad', ({ backend, inputs }) => {
    const { starts, order, dy } = inputs;
    const [n, width] = dy!.shape as [number, number];
    const rows = starts!.shape[0]! - 1;
    assertWholeVectors('A lookup', width);
    const out = backend.output([rows, width]);
    const addresses = [dy!, starts!, order!, out].map((t) => backend.address(t));
    backend.runtime.run('sumRows', [rows, width, ...addresses], (n + rows) * width);
    return out;
  });
  const norm = ({ backend, inputs, number }: KernelCall): tf.TensorInfo[] => {
    const { x, gain } = inputs;
    const width = gain!.shape[0]!;
    assertWholeVectors('RmsNorm', width);
    const rows = sizeOf(x!) / width;
    const y = backend.output(x!.shape);
    const inverse = backend.output([rows]);
    const addresses = [x!, gain!, y, inverse].map((t) => backend.address(t));
    backend.runtime.run('rmsNorm', [rows, width, ...addresses, number('eps')], 2 * rows * width);
    return [y, inverse];
  };
  register('RmsNorm', norm);
  register('BranchNorm', (call) => [...norm(call), passedOn(call, 'x')]);
  register('RmsNormGrad', ({ backend, inputs }) => {
    const { x, gain, inverse, dy, dpassed } = inputs;
    const width = gain!.shape[0]!;
    const rows = sizeOf(x!) / width;
    const { runtime } = backend;
    const shares = runtime.sumShares(3 * rows * width);
    const dx = backend.output(x!.shape);
    const dgain = backend.output([width]);
    const partial = backend.output([shares, width]);
    const addresses = [x!, gain!, inverse!, dy!, dx, partial].map((t) => backend.address(t));
    runtime.runShares('rmsNormGrad', [rows, width, ...addresses], shares);
    runtime.run('columnSums', [shares, width, backend.address(partial), backend.address(dgain)], 0);
    backend.disposeData(partial.dataId);
    const total = backend.address(dx);
    if (dpassed) runtime.run('add', [rows * width, backend.address(dpassed), total, total], rows * width);
    return [dx, dgain];
  });
  register('ColumnSums', ({ backend, inputs }) => {
    const [rows, width] = inputs.x!.shape as [number, number];
    const y = backend.output([width]);
    backend.runtime.run(
      'columnSums',
      [rows, width, backend.address(inputs.x!), backend.address(y)],
      rows * width,
    );
    return y;
  });
  for (const [name, kernel] of [
    ['SwiGlu', 'swiGlu'],
    ['GeGlu', 'geGlu'],
  ] as const) {
    register(name, ({ backend, inputs }) => {
      const { gate, up } = inputs;
      const y = backend.output(gate!.shape);
      const addresses = [gate!, up!, y].map((t) => backend.address(t));
      backend.runtime.run(kernel, [sizeOf(y), ...addresses], 8 * sizeOf(y));
      return y;
    });
    register(`${name}Grad`, ({ backend, inputs }) => {
      const { gate, up, dy } = inputs;
      const dgate = backend.output(gate!.shape);
      const dup = backend.output(up!.shape);
      const addresses = [gate!, up!, dy!, dgate, dup].map((t) => backend.address(t));
      backend.runtime.run(`${kernel}Grad`, [sizeOf(dy!), ...addresses], 8 * sizeOf(dy!));
      return [dgate, dup];
    });
  }
}
