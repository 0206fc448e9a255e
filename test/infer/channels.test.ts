/** W8A8: what is rounded, and that a product comes to what its integers say. */
import { describe, expect, test } from 'vitest';
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import { parseConfig } from '../../model/config.ts';
import { DataType, Graph, modelBytes } from '../../model/onnx/builder.ts';
import { type Activation, quantizeChannels, RANGES } from '../../model/onnx/channels.ts';
import { declareWeights } from '../../model/onnx/graph-weights.ts';
import { packWeights, WEIGHTS_FILE } from '../../model/onnx/weights.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors } from '../../model/safetensors.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';

test('hand-worked: each output channel by its largest value, columns times the gain, turned round', () => {
  const { numbers, scales } = quantizeChannels(
    Float32Array.of(1, -2, 0, 0, 0.5, 0.25),
    3,
    2,
    Float32Array.of(1, 0.5),
  );
  // Rows (1, -1), (0, 0), (.5, .125): 127 steps of 1 / 127, nothing, and 127 and 31.75 of .5 / 127.
  expect([...scales]).toEqual([1 / 127, 0, 0.5 / 127].map(Math.fround));
  expect([...numbers]).toEqual([127, 0, 127, -127, 0, 32]);
});

const config = smallConfig({ num_hidden_layers: 1, num_key_value_heads: 2, intermediate_size: 200 });
const tensors = randomTensors(config);
const layer = 'model.layers.0';

/** A product alone: x [rows, width] by a weight of the file. */
async function product(
  x: Float32Array,
  width: number,
  read: Activation,
  name: string,
): Promise<Float32Array> {
  const { ort } = await loadOrt();
  const graph = new Graph('product');
  const input = graph.input('x', DataType.FLOAT, ['rows', width]);
  const weights = declareWeights(graph, config, 'w8a8');
  const out = weights.linear(graph, weights.operand(graph, input, width, read), name);
  graph.node('Identity', [out], ['y']);
  graph.output('y', DataType.FLOAT, ['rows', 'out']);
  const session = await ort.InferenceSession.create(modelBytes(graph), {
    executionProviders: ['wasm'],
    logSeverityLevel: 3,
    externalData: [{ path: WEIGHTS_FILE, data: packWeights(config, tensors, 'w8a8') }],
  });
  const { y } = await session.run({ x: new ort.Tensor('float32', x, [x.length / width, width]) });
  await session.release();
  return y!.data as Float32Array;
}

/** The same by its definition, in float64: rounded activations times rounded weights. */
function expected(x: Float32Array, width: number, read: Activation, name: string, gain?: string): number[] {
  const { shape, data } = tensors.get(name)!;
  const rows = shape[0]!;
  const { numbers, scales } = quantizeChannels(data, rows, width, gain ? tensors.get(gain)!.data : undefined);
  const step = RANGES[read] / 127;
  return Array.from({ length: x.length / width }, (_, r) => {
    const row = x.subarray(r * width, (r + 1) * width);
    const unit =
      read === 'normed' ? 1 : Math.sqrt(row.reduce((sum, value) => sum + value * value, 0) / width);
    const rounded = Array.from(row, (value) =>
      Math.max(-128, Math.min(127, Math.round(value / unit / step))),
    );
    return Array.from(scales, (scale, out) => {
      const sum = rounded.reduce((all, value, i) => all + value * numbers[i * rows + out]!, 0);
      return sum * scale * step * unit;
    });
  }).flat();
}

describe.each([
  { read: 'normed', name: `${layer}.mlp.gate_proj.weight`, gain: `${layer}.post_attention_layernorm.weight` },
  { read: 'attended', name: `${layer}.self_attn.o_proj.weight`, gain: undefined },
  { read: 'gated', name: `${layer}.mlp.down_proj.weight`, gain: undefined },
] as const)('$read activations', ({ read, name, gain }) => {
  const width = tensors.get(name)!.shape[1]!;
  // One row beyond every range, and one of another size altogether.
  const x = Float32Array.from({ length: 3 * width }, (_, i) =>
    i < width ? Math.sin(i * i) : i < 2 * width ? (i === width ? 40 : Math.cos(i)) : 0.01 * Math.sin(3 * i),
  );

  test('a product is what its integers say', async () => {
    const y = await product(x, width, read, name);
    const wanted = expected(x, width, read, name, gain);
    const size = Math.sqrt(wanted.reduce((sum, value) => sum + value * value, 0) / wanted.length);
    expect(y).toHaveLength(wanted.length);
    // A value halfway between two steps may go either way: a step of one activation is allowed, not two.
    const largest = Math.max(...y.map((value, i) => Math.abs(value - wanted[i]!)));
    expect(largest).toBeLessThan(0.02 * size);
  });
});

test('the start policy keeps its log-probabilities to a tenth of a nat', async () => {
  const files = await readPolicyFolder('models/arithmetic-base');
  const seed = parseConfig(JSON.parse(new TextDecoder().decode(files['config.json'])));
  const weights = readSafetensors(files['model.safetensors']!);
  const open = async (weightType: 'float32' | 'w8a8') =>
    createPolicy({
      runtime: await loadOrt(),
      ref: { name: 'arithmetic-base', version: 0 },
      config: seed,
      weights,
      weightType,
    });
  const plain = await open('float32');
  const prompts = Array.from({ length: 8 }, (_, p) => ({ ids: [p + 2], sampleIds: [`channels/${p}`] }));
  const sampled = await plain.generate(prompts, { maxNew: 32, temperature: 1, stop: [] });
  const sequences = sampled.map(([one], p) => [...prompts[p]!.ids, ...one!.ids]);
  const exact = (await plain.score(sequences)).flatMap(({ logprobs }) => logprobs);
  await plain.dispose();
  const small = await open('w8a8');
  const rounded = (await small.score(sequences)).flatMap(({ logprobs }) => logprobs);
  await small.dispose();
  const errors = exact.map((value, i) => Math.abs(value - rounded[i]!));
  expect(errors.reduce((sum, value) => sum + value, 0) / errors.length).toBeLessThan(0.1);
  // It does round: a policy that is not rounded would pass as well.
  expect(Math.max(...errors)).toBeGreaterThan(1e-3);
});
