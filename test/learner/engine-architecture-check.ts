/** The check that every device must pass for architectures of which no stored checkpoint has the answers: a forward pass in float64 and its finite differences. */
import { expect } from 'vitest';
import { Random } from '../../core/random.ts';
import { createLora } from '../../learner/nn/lora.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { type ParamSet, paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import { readTensors, type Trainable } from '../../learner/nn/trainable.ts';
import { scaleAddInto } from '../../learner/ops/in-place.ts';
import * as tf from '../../learner/tfjs.ts';
import { folded } from '../../model/adapter.ts';
import { parseConfig } from '../../model/config.ts';
import { TINY_ARCHITECTURES, type TinyArchitecture } from '../model/architectures.ts';
import { randomTensors } from '../model/checkpoints.ts';
import { forwardLogits, type Numbers, softmax } from '../model/reference.ts';

const sequence = (length: number, step: number) => Array.from({ length }, (_, i) => (i * i * step + 3) % 40);
/** The first is longer than every window, and than a block of queries of the CPU's kernels. */
const SEQUENCES = [sequence(30, 7), sequence(9, 11)];
const FROM = 4;
/** Step of the central differences. */
const STEP = 1e-4;

/** A sequence that is scored from an index on: as ids, and as the second implementation reads it. */
interface Checked {
  readonly ids: readonly number[];
  readonly reads: Parameters<typeof forwardLogits>[2];
  readonly from: number;
}

/** A direction that meets every number of a tensor. */
const direction = (length: number): Float64Array =>
  Float64Array.from({ length }, (_, i) => Math.cos(0.37 * i));

export const expectArchitecture = (name: TinyArchitecture): Promise<void> =>
  expectForward(
    TINY_ARCHITECTURES[name],
    SEQUENCES.map((ids) => ({ ids, reads: ids, from: FROM })),
  );

/** On the device that is open now: log-probabilities, the gradient of every tensor, and those of an adapter. */
export async function expectForward(
  json: Parameters<typeof forwardLogits>[0],
  checked: readonly Checked[],
): Promise<void> {
  const batch = packSequences(checked);
  const weights = Float32Array.from({ length: batch.rows.length }, (_, i) => 1 + ((i * 5) % 7) / 4);
  const logProbs = (tensors: Numbers): number[] =>
    checked.flatMap(({ ids, reads, from }) => {
      const rows = forwardLogits(json, tensors, reads).map(softmax);
      return ids.slice(from).map((id, i) => Math.log(rows[from - 1 + i]![id]!));
    });
  const gradientsOf = (trained: Trainable, params: ParamSet, adapter?: ReturnType<typeof createLora>) =>
    lossAndGrads(trained, () => {
      const { logp } = tokenLogProbs(params, batch, { adapter });
      return { loss: tf.sum(tf.mul(tf.tensor1d(weights), logp)) as tf.Scalar, metrics: { logp } };
    });
  const config = parseConfig(json);
  const tensors = randomTensors(config);
  const params = paramsFrom(config, tensors);
  const loss = (changed: Numbers): number =>
    logProbs(changed).reduce((sum, logp, i) => sum + weights[i]! * logp, 0);
  /** The loss's slope where `change` is added to a tensor. */
  const slope = (base: Numbers, tensor: string, change: Float64Array): number => {
    const { shape, data } = base.get(tensor)!;
    const moved = (by: number) =>
      loss(
        new Map(base).set(tensor, { shape, data: Float64Array.from(data, (x, i) => x + by * change[i]!) }),
      );
    return (moved(STEP) - moved(-STEP)) / (2 * STEP);
  };

  const result = gradientsOf(params, params);
  const wanted = logProbs(tensors);
  (await result.metrics.logp!.data()).forEach((x, i) => {
    expect(Math.abs(x - wanted[i]!), `log-probability ${i}`).toBeLessThan(1e-5);
  });
  expect([...result.grads.keys()].sort()).toEqual([...tensors.keys()].sort());
  for (const [tensor, gradient] of result.grads) {
    const values = (await gradient.data()) as Float32Array;
    const along = direction(values.length);
    const found = values.reduce((sum, x, i) => sum + x * along[i]!, 0);
    const norm = Math.sqrt(values.reduce((sum, x) => sum + x * x, 0));
    const off = Math.abs(found - slope(tensors, tensor, along));
    expect(off, tensor).toBeLessThan(2e-4 * Math.max(norm, 0.1));
  }
  disposeResult(result);

  // An adapter with numbers in both factors: as the folded weights, and B along a direction.
  const settings = { rank: 2, alpha: 4 };
  const lora = createLora(params, settings, 'lora');
  for (const [factor, tensor] of lora.tensors)
    if (factor.includes('lora_B')) {
      const random = new Random(factor);
      const values = Float32Array.from({ length: tensor.size }, () => 0.1 * random.normal());
      const addition = tf.tensor(values, tensor.shape);
      scaleAddInto(tensor, addition, 1, 1);
      addition.dispose();
    }
  const adapter = { alpha: settings.alpha, tensors: await readTensors(lora) };
  const whole: Numbers = new Map(folded(tensors, adapter));
  const adapted = gradientsOf(lora, params, lora);
  const merged = logProbs(whole);
  (await adapted.metrics.logp!.data()).forEach((x, i) => {
    expect(Math.abs(x - merged[i]!), `adapted log-probability ${i}`).toBeLessThan(2e-5);
  });
  for (const weight of ['self_attn.k_proj', 'mlp.gate_proj'].map((part) => `model.layers.1.${part}.weight`)) {
    const stem = weight.replace('.weight', '');
    const a = adapter.tensors.get(`${stem}.lora_A.weight`)!;
    const values = (await adapted.grads.get(`${stem}.lora_B.weight`)!.data()) as Float32Array;
    const along = direction(values.length);
    const found = values.reduce((sum, x, i) => sum + x * along[i]!, 0);
    const width = a.shape[1]!;
    // dW = alpha / rank · dB A
    const change = Float64Array.from({ length: (values.length / settings.rank) * width }, (_, at) => {
      const [row, column] = [Math.floor(at / width), at % width];
      let sum = 0;
      for (let k = 0; k < settings.rank; k++)
        sum += along[row * settings.rank + k]! * a.data[k * width + column]!;
      return (settings.alpha / settings.rank) * sum;
    });
    expect(Math.abs(found - slope(whole, weight, change)), stem).toBeLessThan(
      1e-3 * Math.max(1, Math.abs(found)),
    );
  }
  disposeResult(adapted);
  lora.dispose();
  params.dispose();
}
