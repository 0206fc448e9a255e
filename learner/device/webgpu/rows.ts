/** Lookups, normalisation, activation and sums over rows on the GPU. */
import type * as tf from '../../tfjs.ts';
import type { GpuBackend } from './gpu-backend.ts';
import { type KernelCall, passedOn, register, sizeOf } from './register.ts';
import { GROUP, once, perElement, perReducedRow } from './wgsl.ts';

/** Rows that one workgroup sums. */
const SLICE_ROWS = 8192;

const elements = (count: number): number => Math.ceil(count / GROUP);

const GATHER = perElement('u.size', '  y[i] = matrix_at(u32(ids[i / u.width]) * u.width + i % u.width);');

// Each thread sums one column of one row over its uses, in their order, so no atomics are needed and the bits are the same every time.
const SUM_ROWS = perElement(
  'u.size',
  `  let row = i / u.width;
  let column = i % u.width;
  var sum = 0.0;
  for (var j = starts[row]; j < starts[row + 1u]; j++) { sum += dy[u32(order[j]) * u.width + column]; }
  y[i] = sum;`,
);

const RMS_NORM = perReducedRow(
  'u.rows',
  `  let first = row * u.width;
  var square = 0.0;
  for (var j = t; j < u.width; j += ${GROUP}u) { square += x[first + j] * x[first + j]; }
  let k = 1.0 / sqrt(sum_all(t, square) / f32(u.width) + u.eps);
  if (t == 0u) { inverse[row] = k; }
  for (var j = t; j < u.width; j += ${GROUP}u) { y[first + j] = x[first + j] * k * gain[j]; }`,
);

const columnOf = (term: string): string => `
  let column = e % u.width;
  let slice = e / u.width;
  let last = min(u.rows, (slice + 1u) * u.depth);
  var sum = 0.0;
  for (var r = slice * u.depth + t; r < last; r += ${GROUP}u) { sum += ${term}; }
  let total = sum_all(t, sum);`;

// Each workgroup sums one column over one slice of rows; the partial sums are [slices, width].
const COLUMN_SUMS = perReducedRow(
  'u.width * u.slices',
  `  let e = row;
  ${columnOf('x[r * u.width + column]')}
  if (t == 0u) { y[row] = total; }`,
);

// The first workgroups have one row of dx each, the others one column of one slice of the gain's gradient. What goes past the norm is added.
const RMS_NORM_GRAD = once((passed: boolean) =>
  perReducedRow(
    'u.rows + u.width * u.slices',
    `  if (row < u.rows) {
    let first = row * u.width;
    let k = inverse[row];
    var dot = 0.0;
    for (var j = t; j < u.width; j += ${GROUP}u) { dot += x[first + j] * gain[j] * dy[first + j]; }
    let c = sum_all(t, dot) * k * k * k / f32(u.width);
    for (var j = t; j < u.width; j += ${GROUP}u) {
      dx[first + j] = ${passed ? 'dpassed[first + j] + ' : ''}(k * gain[j] * dy[first + j] - c * x[first + j]);
    }
    return;
  }
  let e = row - u.rows;
  ${columnOf('x[r * u.width + column] * dy[r * u.width + column] * inverse[r]')}
  if (t == 0u) { dgain[e] = total; }`,
  ),
);

const SWIGLU = perElement('u.size', '  y[i] = gate[i] / (1.0 + exp(-gate[i])) * up[i];');

const SWIGLU_GRAD = perElement(
  'u.size',
  `  let g = gate[i];
  let s = 1.0 / (1.0 + exp(-g));
  dup[i] = dy[i] * g * s;
  dgate[i] = dy[i] * up[i] * s * (1.0 + g * (1.0 - s));`,
);

const GEGLU = perElement(
  'u.size',
  `  let g = gate[i];
  y[i] = g / (1.0 + exp(-g * (1.5957691216 + 0.0713548162726 * g * g))) * up[i];`,
);

const GEGLU_GRAD = perElement(
  'u.size',
  `  let g = gate[i];
  let s = 1.0 / (1.0 + exp(-g * (1.5957691216 + 0.0713548162726 * g * g)));
  dup[i] = dy[i] * g * s;
  dgate[i] = dy[i] * up[i] * s * (1.0 + g * (1.0 - s) * (1.5957691216 + 0.2140644488178 * g * g));`,
);

/** Sums x [rows, width] over rows for each column: [width]. Many rows are cut into slices that are summed in a second pass. */
function sumColumns(backend: GpuBackend, x: tf.TensorInfo, rows: number, width: number): tf.TensorInfo {
  const slices = Math.ceil(rows / SLICE_ROWS);
  const y = backend.output(slices === 1 ? [width] : [slices, width]);
  const uniforms = { rows, width, slices, depth: SLICE_ROWS };
  backend.dispatch({
    source: COLUMN_SUMS,
    outputs: { y },
    inputs: { x },
    uniforms,
    groups: width * slices,
  });
  return slices === 1 ? y : summedSlices(backend, y, slices, width);
}

/** The sum of partial sums [slices, width], which are disposed. */
function summedSlices(
  backend: GpuBackend,
  partial: tf.TensorInfo,
  slices: number,
  width: number,
): tf.TensorInfo {
  const total = sumColumns(backend, partial, slices, width);
  backend.disposeData(partial.dataId);
  return total;
}

export function registerRows(): void {
  register('GatherRows', ({ backend, inputs }) => {
    const { matrix, ids } = inputs;
    const width = matrix!.shape[1]!;
    const y = backend.output([sizeOf(ids!), width]);
    const size = sizeOf(y);
    const buffers = { outputs: { y }, inputs: { matrix: matrix!, ids: ids! }, read: ['matrix'] };
    backend.dispatch({ source: GATHER, ...buffers, uniforms: { size, width }, groups: elements(size) });
    return y;
  });
  register('GatherRowsGrad', ({ backend, inputs }) => {
    const { starts, order, dy } = inputs;
    const width = dy!.shape[1]!;
    const y = backend.output([starts!.shape[0]! - 1, width]);
    const size = sizeOf(y);
    const buffers = { outputs: { y }, inputs: { starts: starts!, order: order!, dy: dy! } };
    backend.dispatch({ source: SUM_ROWS, ...buffers, uniforms: { size, width }, groups: elements(size) });
    return y;
  });
  const norm = ({ backend, inputs, number }: KernelCall): tf.TensorInfo[] => {
    const { x, gain } = inputs;
    const width = gain!.shape[0]!;
    const rows = sizeOf(x!) / width;
    const y = backend.output(x!.shape);
    const inverse = backend.output([rows]);
    const buffers = { outputs: { y, inverse }, inputs: { x: x!, gain: gain! } };
    const uniforms = { rows, width, eps: { f32: number('eps') } };
    backend.dispatch({ source: RMS_NORM, ...buffers, uniforms, groups: rows });
    return [y, inverse];
  };
  register('RmsNorm', norm);
  register('BranchNorm', (call) => [...norm(call), passedOn(call, 'x')]);
  register('RmsNormGrad', ({ backend, inputs }) => {
    const { x, gain, inverse, dy, dpassed } = inputs;
    const width = gain!.shape[0]!;
    const rows = sizeOf(x!) / width;
    const slices = Math.ceil(rows / SLICE_ROWS);
    const dx = backend.output(x!.shape);
    const dgain = backend.output(slices === 1 ? [width] : [slices, width]);
    backend.dispatch({
      source: RMS_NORM_GRAD(dpassed !== undefined),
      outputs: { dx, dgain },
      inputs: { x: x!, inverse: inverse!, dy: dy!, gain: gain!, ...(dpassed ? { dpassed } : {}) },
      uniforms: { rows, width, slices, depth: SLICE_ROWS },
      groups: rows + width * slices,
    });
    return [dx, slices === 1 ? dgain : summedSlices(backend, dgain, slices, width)];
  });
  register('ColumnSums', ({ backend, inputs }) => {
    const x = inputs.x!;
    const [rows, width] = x.shape as [number, number];
    return sumColumns(backend, x, rows, width);
  });
  for (const [name, source, gradient] of [
    ['SwiGlu', SWIGLU, SWIGLU_GRAD],
    ['GeGlu', GEGLU, GEGLU_GRAD],
  ] as const) {
    register(name, ({ backend, inputs }) => {
      const { gate, up } = inputs;
      const y = backend.output(gate!.shape);
      const size = sizeOf(y);
      const buffers = { outputs: { y }, inputs: { gate: gate!, up: up! } };
      backend.dispatch({ source, ...buffers, uniforms: { size }, groups: elements(size) });
      return y;
    });
    register(`${name}Grad`, ({ backend, inputs }) => {
      const { gate, up, dy } = inputs;
      const dgate = backend.output(gate!.shape);
      const dup = backend.output(gate!.shape);
      const size = sizeOf(dgate);
      const buffers = { outputs: { dgate, dup }, inputs: { gate: gate!, up: up!, dy: dy! } };
      backend.dispatch({ source: gradient, ...buffers, uniforms: { size }, groups: elements(size) });
      return [dgate, dup];
    });
  }
}
