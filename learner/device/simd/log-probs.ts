/** Log-probabilities on the CPU device. Logits are held for one block of rows at a time, or all of them where the caller has room for them. */
import type * as tf from '../../tfjs.ts';
import type { SimdBackend } from '../simd-backend.ts';
import { heldAt, multiply } from './products.ts';
import { register } from './register.ts';

/** Largest block of logits, in values (8 MB), because it is read again right after it is written; but the fewest rows for which a product is fast. */
const BLOCK_VALUES = 1 << 21;
const BLOCK_ROWS = 256;

interface Head {
  readonly hidden: tf.TensorInfo;
  readonly weight: tf.TensorInfo;
}

const sizesOf = ({ hidden, weight }: Head) => {
  const [rows, width] = hidden.shape as [number, number];
  return { rows, width, vocab: weight.shape[0]! };
};

/** Writes logits = hidden weight^T of some rows. */
function writeLogits(backend: SimdBackend, head: Head, first: number, count: number, logits: number): void {
  const { width, vocab } = sizesOf(head);
  const a = backend.address(head.hidden) + 4 * first * width;
  const product = { m: count, n: vocab, k: width, a, ...heldAt(backend, head.weight), c: logits };
  multiply(backend, { ...product, transposeB: true });
}

/** Calls `body` for each block of rows with the address of its logits, which are computed where they are not `kept`. */
function forBlocksOfLogits(
  backend: SimdBackend,
  head: Head,
  kept: tf.TensorInfo | undefined,
  body: (first: number, count: number, logits: number) => void,
): void {
  const { rows, vocab } = sizesOf(head);
  if (kept) {
    body(0, rows, backend.address(kept));
    return;
  }
  const step = Math.min(rows, Math.max(BLOCK_ROWS, Math.floor(BLOCK_VALUES / vocab)));
  const block = backend.output([step, vocab]);
  const logits = backend.address(block);
  for (let first = 0; first < rows; first += step) {
    const count = Math.min(step, rows - first);
    writeLogits(backend, head, first, count, logits);
    body(first, count, logits);
  }
  backend.disposeData(block.dataId);
}

/** All logits. */
function allLogits(backend: SimdBackend, head: Head): tf.TensorInfo {
  const { rows, vocab } = sizesOf(head);
  const logits = backend.output([rows, vocab]);
  writeLogits(backend, head, 0, rows, backend.address(logits));
  return logits;
}

export function registerLogProbs(): void {
  register('TokenLogProb', ({ backend, inputs, number }) => {
    const head = { hidden: inputs.hidden!, weight: inputs.weight! };
    const { rows, vocab } = sizesOf(head);
    const outputs = [backend.output([rows]), backend.output([rows]), backend.output([rows])];
    const [id, logp, entropy, logSum] = [inputs.ids!, ...outputs].map((t) => backend.address(t));
    const kept = number('keepLogits') === 1 ? allLogits(backend, head) : undefined;
    forBlocksOfLogits(backend, head, kept, (first, count, logits) => {
      const at = 4 * first;
      const results = [logp! + at, logSum! + at, entropy! + at];
      const args = [count, vocab, logits, id! + at, number('inverseTemperature'), ...results];
      backend.runtime.run('logProbRows', args, 8 * count * vocab);
    });
    return kept ? [...outputs, kept] : outputs;
  });
  register('TokenLogProbGrad', ({ backend, inputs, number }) => {
    const head = { hidden: inputs.hidden!, weight: inputs.weight! };
    const { rows, width, vocab } = sizesOf(head);
    const trainsWeight = number('trainsWeight') === 1;
    const dhidden = backend.output([rows, width]);
    const dweight = trainsWeight ? backend.output([vocab, width]) : undefined;
    const dh = backend.address(dhidden);
    const dw = dweight && backend.address(dweight);
    const { ids, logSum, entropy, dlogp, dentropy } = inputs;
    const h = backend.address(head.hidden);
    const perRow = [logSum!, entropy!, dlogp!, dentropy!].map((t) => backend.address(t));
    const id = backend.address(ids!);
    // Kept logits become their gradient where they lie: nothing reads them afterwards.
    forBlocksOfLogits(backend, head, inputs.logits, (first, count, logits) => {
      const at = 4 * first;
      const row = at * width;
      const scalars = perRow.map((address) => address + at);
      const args = [count, vocab, logits, id + at, number('inverseTemperature'), ...scalars];
      backend.runtime.run('logitsGrad', args, 8 * count * vocab);
      const held = heldAt(backend, head.weight);
      multiply(backend, { m: count, n: width, k: vocab, a: logits, ...held, c: dh + row });
      if (dw !== undefined)
        multiply(backend, {
          ...{ m: vocab, n: width, k: count, a: logits, b: h + row, c: dw },
          ...{ transposeA: true, add: first > 0 },
        });
    });
    return dweight ? [dhidden, dweight] : [dhidden];
  });
}
