/** In-place updates and norms on the GPU. Scalars stay on the device: nothing is read back. */
import type { GpuBackend } from './gpu-backend.ts';
import { float } from './gpu-backend.ts';
import { register, sizeOf } from './register.ts';
import { GROUP, perElement, perRow, REDUCE } from './wgsl.ts';

/** Values that one workgroup sums. */
const SLICE = 16384;

const SCALE_ADD = (reads: boolean): string =>
  perElement('u.size', `  target[i] = u.scale * source[i]${reads ? ' + u.keep * target[i]' : ''};`);

const SUM = (term: string): string => `${REDUCE}
${perRow(
  'u.slices',
  `  let last = min(u.size, (row + 1u) * ${SLICE}u);
  var sum = 0.0;
  for (var i = row * ${SLICE}u + t; i < last; i += ${GROUP}u) { sum += ${term}; }
  let total = sum_all(t, sum);
  if (t == 0u) { y[row] = total; }`,
)}`;

const ADAMW = perElement(
  'u.size',
  `  if (scale[0] < 0.0) { return; }
  let g = gradient[i] * scale[0];
  let m = u.beta1 * mean[i] + (1.0 - u.beta1) * g;
  let v = u.beta2 * square[i] + (1.0 - u.beta2) * g * g;
  mean[i] = m;
  square[i] = v;
  let direction = m * u.correct1 / (sqrt(v * u.correct2) + u.eps);
  parameter[i] = parameter[i] * (1.0 - u.rate * u.decay) - u.rate * direction;`,
);

function sum(
  backend: GpuBackend,
  x: Parameters<typeof sizeOf>[0],
  term: string,
): ReturnType<GpuBackend['output']> {
  const size = sizeOf(x);
  const slices = Math.max(1, Math.ceil(size / SLICE));
  const y = backend.output(slices === 1 ? [] : [slices]);
  backend.dispatch({
    source: SUM(term),
    outputs: { y },
    inputs: { x },
    uniforms: { size, slices },
    groups: slices,
  });
  if (slices === 1) return y;
  const total = sum(backend, y, 'x[i]');
  backend.disposeData(y.dataId);
  return total;
}

export function registerOptimiser(): void {
  register('ScaleAdd', ({ backend, inputs, number }) => {
    const { target, source } = inputs;
    const size = sizeOf(target!);
    const [scale, keep] = [number('scale'), number('keep')];
    backend.dispatch({
      source: SCALE_ADD(keep !== 0),
      outputs: { target: target! },
      inputs: { source: source! },
      uniforms: { size, scale: float(scale), keep: float(keep) },
      groups: Math.ceil(size / GROUP),
    });
    return [];
  });
  register('SumSquares', ({ backend, inputs }) => sum(backend, inputs.x!, 'x[i] * x[i]'));
  register('AdamW', ({ backend, inputs, number }) => {
    const { parameter, mean, square, gradient, scale } = inputs;
    const size = sizeOf(parameter!);
    const names = ['rate', 'beta1', 'beta2', 'eps', 'decay', 'correct1', 'correct2'];
    backend.dispatch({
      source: ADAMW,
      outputs: { parameter: parameter!, mean: mean!, square: square! },
      inputs: { gradient: gradient!, scale: scale! },
      uniforms: { size, ...Object.fromEntries(names.map((name) => [name, float(number(name))])) },
      groups: Math.ceil(size / GROUP),
    });
    return [];
  });
}
