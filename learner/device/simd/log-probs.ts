/** Log-probabilities on the CPU device. Logits are held for one block of rows at a time. */
import type { SimdBackend } from '../simd-backend.ts';
import { multiply } from './products.ts';
import { register } from './register.ts';

/** Largest block of logits, in values (8 MB); it is small because the block is read again right after it is written. */
const BLOCK_VALUES = 1 << 21;

/** Calls `body` for each block of rows with the address of its logits = hidden weight^T. */
function forBlocksOfLogits(
  backend: SimdBackend,
  {
    rows,
    width,
    vocab,
    hidden,
    weight,
  }: { rows: number; width: number; vocab: number; hidden: number; weight: number },
  body: (first: number, count: number, logits: number) => void,
): void {
  const step = Math.min(rows, Math.max(64, Math.floor(BLOCK_VALUES / vocab)));
  const block = backend.output([step, vocab]);
  const logits = backend.address(block);
  for (let first = 0; first < rows; first += step) {
    const count = Math.min(step, rows - first);
    const a = hidden + 4 * first * width;
    multiply(backend, { m: count, n: vocab, k: width, a, b: weight, c: logits, transposeB: true });
    body(first, count, logits);
  }
  backend.disposeData(block.dataId);
}

export function registerLogProbs(): void {
  register('TokenLogProb', ({ backend, inputs, number }) => {
    const [rows, width] = inputs.hidden!.shape as [number, number];
    const vocab = inputs.weight!.shape[0]!;
    const outputs = [backend.output([rows]), backend.output([rows]), backend.output([rows])];
    const { hidden, weight, ids } = inputs;
    const [h, w, id, logp, entropy, logSum] = [hidden!, weight!, ids!, ...outputs].map((t) =>
      backend.address(t),
    );
    forBlocksOfLogits(backend, { rows, width, vocab, hidden: h!, weight: w! }, (first, count, logits) => {
      const at = 4 * first;
      const results = [logp! + at, logSum! + at, entropy! + at];
      const args = [count, vocab, logits, id! + at, number('inverseTemperature'), ...results];
      backend.runtime.run('logProbRows', args, 8 * count * vocab);
    });
    return outputs;
  });
  register('TokenLogProbGrad', ({ backend, inputs, number }) => {
    const [rows, width] = inputs.hidden!.shape as [number, number];
    const vocab = inputs.weight!.shape[0]!;
    const trainsWeight = number('trainsWeight') === 1;
    const dhidden = backend.output([rows, width]);
    const dweight = trainsWeight ? backend.output([vocab, width]) : undefined;
    const dh = backend.address(dhidden);
    const dw = dweight && backend.address(dweight);
    const { hidden, weight, ids, logSum, entropy, dlogp, dentropy } = inputs;
    const [h, w] = [backend.address(hidden!), backend.address(weight!)];
    const perRow = [logSum!, entropy!, dlogp!, dentropy!].map((t) => backend.address(t));
    const id = backend.address(ids!);
    forBlocksOfLogits(backend, { rows, width, vocab, hidden: h, weight: w }, (first, count, logits) => {
      const at = 4 * first;
      const row = at * width;
      const scalars = perRow.map((address) => address + at);
      const args = [count, vocab, logits, id + at, number('inverseTemperature'), ...scalars];
      backend.runtime.run('logitsGrad', args, 8 * count * vocab);
      multiply(backend, { m: count, n: width, k: vocab, a: logits, b: w, c: dh + row });
      if (dw !== undefined)
        multiply(backend, {
          ...{ m: vocab, n: width, k: count, a: logits, b: h + row, c: dw },
          ...{ transposeA: true, add: first > 0 },
        });
    });
    return dweight ? [dhidden, dweight] : [dhidden];
  });
}
