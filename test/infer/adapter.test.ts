/** A version that is an adapter samples the same bits wherever it is folded in: by a node, by an isolate, in one process, in every engine. */
import { expect, test } from 'vitest';
import { startThreads } from '../../cli/node/threads.ts';
import { Random, sha256Hex } from '../../core/random.ts';
import type { SamplingRequest } from '../../core/schema/work.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { openStreamed, openVersion } from '../../infer/open-version.ts';
import { Computer } from '../../local/node/compute.ts';
import { type Adapter, folded, writeAdapter } from '../../model/adapter.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors, type Tensors, writeSafetensors } from '../../model/safetensors.ts';

const settings = { maxNew: 12, temperature: 1, stop: [] };
const prompts = [
  { ids: [2, 9, 30, 41], sampleIds: ['a', 'b'] },
  { ids: [2, 77], sampleIds: ['c'] },
];

/** Numbers uniform within 0.05 of 0. */
function numbers(seed: string, shape: [number, number]) {
  const random = new Random(seed);
  const data = Float32Array.from({ length: shape[0] * shape[1] }, () => 0.1 * random.float() - 0.05);
  return { shape, data };
}

/** A random adapter of every projection, with a B that is not zero. */
function randomAdapter(weights: Tensors, rank: number): Adapter {
  const tensors: Tensors = new Map();
  for (const [name, { shape }] of weights) {
    if (!name.endsWith('_proj.weight')) continue;
    const [out, width] = shape as [number, number];
    tensors.set(name.replace('.weight', '.lora_A.weight'), numbers(`A/${name}`, [rank, width]));
    tensors.set(name.replace('.weight', '.lora_B.weight'), numbers(`B/${name}`, [out, rank]));
  }
  return { alpha: 6, tensors };
}

/** W + (alpha / r) B A by its definition, one number after another. */
function mergedByDefinition(weights: Uint8Array, { tensors, alpha }: Adapter, rank: number) {
  const merged = readSafetensors(weights.slice());
  for (const [name, { shape, data }] of merged) {
    const a = tensors.get(name.replace('.weight', '.lora_A.weight'));
    const b = tensors.get(name.replace('.weight', '.lora_B.weight'));
    if (!a || !b) continue;
    const width = shape[1]!;
    data.forEach((value, i) => {
      const [row, column] = [Math.floor(i / width), i % width];
      let sum = 0;
      for (let k = 0; k < rank; k++) sum += b.data[row * rank + k]! * a.data[k * width + column]!;
      data[i] = value + (alpha / rank) * sum;
    });
  }
  return merged;
}

async function versions(rank: number) {
  const start = await readPolicyFolder('models/arithmetic-base');
  const config = start['config.json']!;
  const weights = start['model.safetensors']!;
  const adapter = randomAdapter(readSafetensors(weights), rank);
  const merged = mergedByDefinition(weights, adapter, rank);
  return { start, config, weights, adapter, merged, file: writeAdapter(adapter) };
}

test.each([1, 3, 4, 6, 8])('of rank %i: folding gives the bits of the definition', async (rank) => {
  const { weights, adapter, merged } = await versions(rank);
  for (const [name, { data }] of folded(readSafetensors(weights), adapter))
    expect(
      Buffer.from(data.slice().buffer).equals(Buffer.from(merged.get(name)!.data.slice().buffer)),
      name,
    ).toBe(true);
});

/** A stream in chunks that end anywhere. */
async function* chunks(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 70_001) yield bytes.slice(at, at + 70_001);
}

test.each([
  ['kernels', { engine: 'kernels' as const }],
  ['kernels in 8 bits', { engine: 'kernels' as const, weights: 'int8' as const }],
  ['ONNX Runtime', {}],
])('%s draws the same bits wherever the adapter is folded in', async (_, form) => {
  const { start, config, weights, merged: tensors, file } = await versions(6);
  const ref = { name: 'p', version: 1, ...form };

  const whole = { ...start, 'model.safetensors': writeSafetensors(tensors) };
  const merged = await openVersion(nodeEngines, ref, whole);
  const wanted = await merged.generate(prompts, settings);
  await merged.dispose();
  const plain = await openVersion(nodeEngines, { ...ref, version: 0 }, start);
  expect(await plain.generate(prompts, settings)).not.toEqual(wanted);
  await plain.dispose();

  const first = { ...start, 'main.adapter.safetensors': file };
  const policies = new OpenPolicies(nodeEngines, () => Promise.resolve(first));
  expect(await policies.use(ref, (policy) => policy.generate(prompts, settings))).toEqual(wanted);
  await policies.dispose();

  const leased = (
    name: 'config.json' | 'model.safetensors' | 'main.adapter.safetensors',
    bytes: Uint8Array,
  ) => ({
    file: name,
    version: name === 'main.adapter.safetensors' ? 1 : 0,
    sha256: sha256Hex(bytes),
    bytes: bytes.length,
  });
  const request: SamplingRequest = {
    policy: ref,
    config: leased('config.json', config),
    weights: leased('model.safetensors', weights),
    adapter: leased('main.adapter.safetensors', file),
    vocabSize: 97,
    prompts,
    settings,
  };
  const computer = new Computer(nodeEngines);
  const fetched = Object.fromEntries([config, weights, file].map((bytes) => [sha256Hex(bytes), bytes]));
  expect(await computer.compute([request], fetched)).toEqual([wanted]);

  if (!('engine' in form)) return;
  const isolate = await openStreamed(nodeEngines, ref, config, chunks(weights), { adapter: file });
  expect(await isolate.generate(prompts, settings)).toEqual(wanted);
  await isolate.dispose();

  // One of them folds it in for both.
  const threads = startThreads(2, null);
  const made = await Promise.all(threads.map(({ compute }) => compute([request], fetched)));
  await Promise.all(threads.map((thread) => thread.stop()));
  expect(made).toEqual([[wanted], [wanted]]);
});
