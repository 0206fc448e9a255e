/** Log-probabilities on the GPU. Logits are held for one block of rows at a time. */
import type * as tf from '../../tfjs.ts';
import { multiply } from './gemm.ts';
import type { GpuBackend } from './gpu-backend.ts';
import { float } from './gpu-backend.ts';
import { register } from './register.ts';
import { GROUP, perReducedRow, perRow } from './wgsl.ts';

/** Largest block of logits, in values (128 MB). */
const BLOCK_VALUES = 1 << 25;

const ROWS = perReducedRow(
  'u.rows',
  `  let first = row * u.vocab;
  var top = -3e38;
  for (var j = t; j < u.vocab; j += ${GROUP}u) { top = max(top, logits[first + j] * u.scale); }
  top = max_all(t, top);
  var sum = 0.0;
  var weighted = 0.0;
  for (var j = t; j < u.vocab; j += ${GROUP}u) {
    let z = logits[first + j] * u.scale - top;
    let e = exp(z);
    sum += e;
    weighted += e * z;
  }
  sum = sum_all(t, sum);
  weighted = sum_all(t, weighted);
  if (t == 0u) {
    let at = u.offset + row;
    let log_of_sum = log(sum);
    log_sum[at] = top + log_of_sum;
    logp[at] = logits[first + u32(ids[at])] * u.scale - top - log_of_sum;
    entropy[at] = log_of_sum - weighted / sum;
  }`,
);

// dz = (1[id] - p) * dl - p * (log p + entropy) * de
const GRAD = perRow(
  'u.rows',
  `  let first = row * u.vocab;
  let at = u.offset + row;
  let dl = dlogp[at] * u.scale;
  let de = dentropy[at] * u.scale;
  for (var j = t; j < u.vocab; j += ${GROUP}u) {
    let lp = logits[first + j] * u.scale - log_sum[at];
    logits[first + j] = select(0.0, dl, i32(j) == ids[at]) - exp(lp) * (dl + de * (lp + entropy[at]));
  }`,
);

interface Head {
  hidden: tf.TensorInfo;
  weight: tf.TensorInfo;
}

/** Calls `body` for each block of rows with its logits = hidden weight^T. */
function forBlocksOfLogits(
  backend: GpuBackend,
  { hidden, weight }: Head,
  body: (first: number, rows: number, logits: tf.TensorInfo) => void,
): void {
  const [total, width] = hidden.shape as [number, number];
  const vocab = weight.shape[0]!;
  const step = Math.min(total, Math.max(64, Math.floor(BLOCK_VALUES / vocab)));
  const logits = backend.output([step, vocab]);
  for (let first = 0; first < total; first += step) {
    const m = Math.min(step, total - first);
    multiply(backend, {
      m,
      n: vocab,
      k: width,
      a: hidden,
      aOffset: first * width,
      b: weight,
      c: logits,
      transposeB: true,
    });
    body(first, m, logits);
  }
  backend.disposeData(logits.dataId);
}

export function registerLogProbs(): void {
  register('TokenLogProb', ({ backend, inputs, number }) => {
    const head = { hidden: inputs.hidden!, weight: inputs.weight! };
    const total = head.hidden.shape[0]!;
    const vocab = head.weight.shape[0]!;
    const [logp, entropy, logSum] = [
      backend.output([total]),
      backend.output([total]),
      backend.output([total]),
    ];
    forBlocksOfLogits(backend, head, (offset, rows, logits) => {
      backend.dispatch({
        source: ROWS,
        outputs: { logp, entropy, log_sum: logSum },
        inputs: { logits, ids: inputs.ids! },
        uniforms: { rows, vocab, offset, scale: float(number('inverseTemperature')) },
        groups: rows,
      });
    });
    return [logp, entropy, logSum];
  });
  register('TokenLogProbGrad', ({ backend, inputs, number }) => {
    const head = { hidden: inputs.hidden!, weight: inputs.weight! };
    const { ids, entropy, logSum, dlogp, dentropy } = inputs;
    const width = head.hidden.shape[1]!;
    const vocab = head.weight.shape[0]!;
    const dhidden = backend.output(head.hidden.shape);
    const dweight = number('trainsWeight') === 1 ? backend.output(head.weight.shape) : undefined;
    forBlocksOfLogits(backend, head, (offset, rows, logits) => {
      backend.dispatch({
        source: GRAD,
        outputs: { logits },
        inputs: { ids: ids!, entropy: entropy!, log_sum: logSum!, dlogp: dlogp!, dentropy: dentropy! },
        uniforms: { rows, vocab, offset, scale: float(number('inverseTemperature')) },
        groups: rows,
      });
      const at = offset * width;
      multiply(backend, { m: rows, n: width, k: vocab, a: logits, b: head.weight, c: dhidden, cOffset: at });
      if (dweight)
        multiply(backend, {
          ...{ m: vocab, n: width, k: rows, a: logits, b: head.hidden, bOffset: at, c: dweight },
          ...{ transposeA: true, add: offset > 0 },
        });
    });
    return dweight ? [dhidden, dweight] : [dhidden];
  });
}
