/** In-place updates and norms on the GPU. Scalars stay on the device: nothing is read back. */
import { PLACE_VALUES, type Places, SKIP_UPDATE } from '../../ops/in-place.ts';
import type * as tf from '../../tfjs.ts';
import { named, totals } from './gemm.ts';
import { float, type GpuBackend } from './gpu-backend.ts';
import { numbered, register, sizeOf } from './register.ts';
import { GROUP, once, perElement, perReducedRow } from './wgsl.ts';

/** Values that one workgroup sums. */
const SLICE = 16384;

/** A clip norm of infinity is no number in WGSL. This one clips nothing. */
const LARGEST = 1e30;

const SCALE_ADD = once((reads: boolean) =>
  perElement('u.size', `  sum[i] = u.scale * source_at(i)${reads ? ' + u.keep * sum[i]' : ''};`),
);

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Workgroup `row` sums the squares of its slice of one of `count` tensors x0, x1, …, whose slices lie end to end, and copies them to their `places`. */
const SUM_SQUARES = once((count: number, places: boolean) =>
  perReducedRow(
    `u.end${count - 1}`,
    `  var sum = 0.0;
  ${range(count)
    .map(
      (k) => `if (row < u.end${k}) {
    let first = (row - ${k === 0 ? '0u' : `u.end${k - 1}`}) * ${SLICE}u;
    let last = min(u.size${k}, first + ${SLICE}u);
    for (var i = first + t; i < last; i += ${GROUP}u) { sum += x${k}[i] * x${k}[i];${places ? ` placed[u.place${k} + i] = x${k}[i];` : ''} }
  }`,
    )
    .join(' else ')}
  let total = sum_all(t, sum);
  if (t == 0u) { partial[u.offset + row] = total; }`,
  ),
);

// A comparison with numbers, because GPU compilers may assume that NaN and infinity do not occur.
const NORM = perReducedRow(
  '1u',
  `  var sum = 0.0;
  for (var i = t; i < u.slices; i += ${GROUP}u) { sum += partial[i]; }
  let length = sqrt(sum_all(t, sum));
  if (t == 0u) {
    norm[0] = length;
    scale[0] = select(${SKIP_UPDATE}.0, min(1.0, u.clip / (length + 1e-6)), length <= u.skip);
  }`,
);

const UPDATED = `
fn updated(parameter: f32, gradient: f32, slot: u32, decay: f32) -> f32 {
  let g = gradient * scale[0];
  let m = u.beta1 * mean[slot] + (1.0 - u.beta1) * g;
  let v = u.beta2 * square[slot] + (1.0 - u.beta2) * g * g;
  mean[slot] = m;
  square[slot] = v;
  let direction = m * u.correct1 / (sqrt(v * u.correct2) + u.eps);
  return parameter * (1.0 - u.rate * decay) - u.rate * direction;
}`;

/** Updates all parameters in one buffer by the gradients in another. */
const ADAMW_PLACED = `${UPDATED}
${perElement(
  'u.size',
  `  if (scale[0] < 0.0) { return; }
  parameters[i] = updated(parameters[i], gradients[i], i, u.decay * decayed[i / ${PLACE_VALUES}u]);`,
)}`;

/** Updates the parameters p0, p1, …, whose elements are counted end to end, by the gradients g0, g1, … */
const ADAMW = once(
  (count: number) => `${UPDATED}
${perElement(
  `u.end${count - 1}`,
  `  if (scale[0] < 0.0) { return; }
  ${range(count)
    .map(
      (k) => `if (i < u.end${k}) {
    let at = i - ${k === 0 ? '0u' : `u.end${k - 1}`};
    p${k}[at] = updated(p${k}[at], g${k}[at], u.offset${k} + at, u.decay${k});
  }`,
    )
    .join(' else ')}`,
)}`,
);

/** How many tensors a dispatch takes: a shader stage binds so many storage buffers, and `others` are bound besides. */
const perDispatch = (backend: GpuBackend, others: number, buffersEach: number): number =>
  Math.floor((backend.device.limits.maxStorageBuffersPerShaderStage - others) / buffersEach);

function chunks<T>(items: readonly T[], size: number): T[][] {
  return range(Math.ceil(items.length / size)).map((i) => items.slice(i * size, (i + 1) * size));
}

function gradientNorm(
  backend: GpuBackend,
  gradients: readonly tf.TensorInfo[],
  limits: { readonly clip: number; readonly skip: number },
  { offsets, length }: Places,
): tf.TensorInfo[] {
  const slicesOf = (t: tf.TensorInfo): number => Math.ceil(sizeOf(t) / SLICE);
  const slices = gradients.reduce((sum, t) => sum + slicesOf(t), 0);
  const partial = backend.output([slices]);
  const placed = length > 0 ? backend.output([length]) : undefined;
  let offset = 0;
  let first = 0;
  for (const some of chunks(gradients, perDispatch(backend, placed ? 2 : 1, 1))) {
    const ends = totals(some.map(slicesOf));
    const places = placed ? named('place', offsets.slice(first, first + some.length)) : {};
    backend.dispatch({
      source: SUM_SQUARES(some.length, placed !== undefined),
      outputs: { partial, ...(placed ? { placed } : {}) },
      inputs: named('x', some),
      uniforms: { offset, ...named('size', some.map(sizeOf)), ...named('end', ends), ...places },
      groups: ends.at(-1)!,
    });
    offset += ends.at(-1)!;
    first += some.length;
  }
  const [norm, scale] = [backend.output([]), backend.output([])];
  backend.dispatch({
    source: NORM,
    outputs: { norm, scale },
    inputs: { partial },
    uniforms: { slices, clip: float(limits.clip), skip: float(limits.skip) },
    groups: 1,
  });
  backend.disposeData(partial.dataId);
  return placed ? [norm, scale, placed] : [norm, scale];
}

export function registerOptimiser(): void {
  register('ScaleAdd', ({ backend, inputs, number }) => {
    const { target, source } = inputs;
    const size = sizeOf(target!);
    const [scale, keep] = [number('scale'), number('keep')];
    backend.dispatch({
      source: SCALE_ADD(keep !== 0),
      outputs: { sum: target! }, // `target` is a reserved word of WGSL
      inputs: { source: source! },
      read: ['source'],
      uniforms: { size, scale: float(scale), keep: float(keep) },
      groups: Math.ceil(size / GROUP),
    });
    return [];
  });
  register('GradientNorm', ({ backend, inputs, number, numbers }) =>
    gradientNorm(
      backend,
      numbered(inputs, 'x'),
      { clip: Math.min(number('clipNorm'), LARGEST), skip: number('skipNorm') },
      { offsets: numbers('offsets'), length: number('length') },
    ),
  );
  register('AdamW', ({ backend, inputs, number, numbers }) => {
    const { mean, square, scale } = inputs;
    const gradients = numbered(inputs, 'g');
    const [offsets, decays] = [numbers('offsets'), numbers('decays')];
    const targets = numbered(inputs, 'p').map((parameter, i) => ({
      parameter,
      gradient: gradients[i]!,
      offset: offsets[i]!,
      decay: float(decays[i]!),
    }));
    const shared = ['rate', 'beta1', 'beta2', 'eps', 'correct1', 'correct2'];
    const common = Object.fromEntries(shared.map((name) => [name, float(number(name))]));
    if (inputs.gradients) {
      const size = sizeOf(mean!);
      backend.dispatch({
        source: ADAMW_PLACED,
        outputs: {
          parameters: backend.placed(numbered(inputs, 'p'), offsets, size),
          mean: mean!,
          square: square!,
        },
        inputs: { gradients: inputs.gradients, scale: scale!, decayed: inputs.decayed! },
        uniforms: { ...common, decay: float(number('decay')), size },
        groups: Math.ceil(size / GROUP),
      });
      return [];
    }
    for (const some of chunks(targets, perDispatch(backend, 3, 2))) {
      const of = <K extends keyof (typeof targets)[number]>(key: K) => some.map((target) => target[key]);
      const ends = totals(of('parameter').map(sizeOf));
      backend.dispatch({
        source: ADAMW(some.length),
        outputs: { ...named('p', of('parameter')), mean: mean!, square: square! },
        inputs: { ...named('g', of('gradient')), scale: scale! },
        uniforms: {
          ...common,
          ...named('end', ends),
          ...named('offset', of('offset')),
          ...named('decay', of('decay')),
        },
        groups: Math.ceil(ends.at(-1)! / GROUP),
      });
    }
    return [];
  });
}
