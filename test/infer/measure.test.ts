/** What a head gives is the same, within float32, by ONNX Runtime, the kernels, the learner and a second implementation in float64. */
import { describe, expect, test } from 'vitest';
import { measure } from '../../core/policy/measure.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { createKernelPolicy } from '../../infer/kernels/kernel-policy.ts';
import { loadBuilds } from '../../infer/kernels/node-builds.ts';
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { Head } from '../../learner/nn/heads.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import { placeTensors } from '../../learner/nn/trainable.ts';
import type { Readout } from '../../learner/train/readouts.ts';
import { read } from '../../learner/train/scores.ts';
import type { ModelConfig } from '../../model/config.ts';
import { HEAD_NAMES, type HeadWeights, readHead } from '../../model/head.ts';
import type { Tensors } from '../../model/safetensors.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { ORACLES, oracle } from '../model/checkpoints.ts';
import { referenceLogits } from '../model/reference.ts';
import { randomHead } from './heads.ts';

const REF = { name: 'test', version: 0 };
type Open = (config: ModelConfig, tensors: Tensors, head?: HeadWeights) => Promise<Policy>;
const onnx: Open = async (config, weights, head) =>
  createPolicy({ runtime: await loadOrt(), ref: REF, config, weights, head });
const kernels: Open = async (config, tensors, head) =>
  createKernelPolicy(
    loadBuilds(),
    { ...REF, engine: 'kernels' },
    config,
    tensors,
    undefined,
    undefined,
    head,
  );
const plain: Open = async (config, tensors, head) =>
  createKernelPolicy(
    loadBuilds(),
    { ...REF, engine: 'kernels-plain' },
    config,
    tensors,
    undefined,
    undefined,
    head,
  );

/** A head's outputs after each token are the logits of a model whose output projection is the head, but for the bias. */
function referenceHeads(
  config: ModelConfig,
  tensors: Tensors,
  ids: readonly number[],
  head: HeadWeights,
): number[][] {
  const projection = { shape: [head.outputs, config.hiddenSize], data: head.weight };
  const logits = referenceLogits(
    { ...config, tiedEmbeddings: false },
    new Map([...tensors, ['lm_head.weight', projection]]),
    ids,
  );
  return logits.map((row) => row.map((x, i) => x + head.bias[i]!));
}

const expectClose = (a: readonly number[], b: readonly number[], tolerance = 1e-4) => {
  expect(a.length).toBe(b.length);
  expect(Math.max(0, ...a.map((x, i) => Math.abs(x - b[i]!)))).toBeLessThan(tolerance);
};

describe.each(ORACLES)('%s', (name) => {
  const { config, tensors, expected } = oracle(name);
  const sequences = expected.input_ids.map((ids) => ({
    prompt: ids.slice(0, 6),
    ids: ids.slice(6),
    ends: [0, 4, ids.length - 6],
  }));

  test.each([
    ['onnx', onnx],
    ['kernels', kernels],
    ['kernels-plain', plain],
  ] as const)('%s measures what float64 does', async (_, open) => {
    for (const outputs of [1, 3]) {
      const head = randomHead(config, outputs);
      const policy = await open(config, tensors, head);
      const measured = await measure(policy, sequences);
      for (const [i, { prompt, ids, ends }] of sequences.entries()) {
        const before = prompt.length - 1;
        const { logProbabilities, entropies, values, classes } = measured[i]!;
        expectClose(logProbabilities, expected.token_logprobs[i]!.slice(before));
        expectClose(entropies, expected.entropy[i]!.slice(before));
        const heads = referenceHeads(config, tensors, [...prompt, ...ids], head);
        if (outputs === 1) {
          expect(classes).toBeUndefined();
          expectClose(
            values!,
            ids.map((_, t) => heads[before + t]![0]!),
          );
        } else {
          expect(values).toBeUndefined();
          expectClose(
            classes!.flat(),
            ends.flatMap((end) => heads[before + end]!),
          );
        }
      }
      // One token and nothing after it, and rows of other lengths beside it.
      const [alone] = await policy.score([expected.input_ids[0]!.slice(0, 1)]);
      expectClose(
        alone!.heads!.flat(),
        referenceHeads(config, tensors, expected.input_ids[0]!.slice(0, 1), head).flat(),
      );
      const all = await policy.score([expected.input_ids[0]!.slice(0, 9), expected.input_ids[1]!, [5]]);
      expect(await policy.score([expected.input_ids[1]!])).toEqual([all[1]]);
      await policy.dispose();
    }
  });

  test.each([
    ['onnx', onnx],
    ['kernels', kernels],
  ] as const)('%s samples and scores the same bits with a head as without', async (_, open) => {
    const asked = [{ ids: expected.input_ids[0]!.slice(0, 7), sampleIds: ['a', 'b', 'c'] }];
    const settings = { maxNew: 12, temperature: 0.8, topP: 0.9, stop: [] };
    const [bare, headed] = [await open(config, tensors), await open(config, tensors, randomHead(config, 2))];
    expect(await headed.generate(asked, settings)).toEqual(await bare.generate(asked, settings));
    const strip = (scores: Awaited<ReturnType<Policy['score']>>) =>
      scores.map(({ heads: _, ...rest }) => rest);
    expect(strip(await headed.score(expected.input_ids))).toEqual(await bare.score(expected.input_ids));
    expect((await bare.score(expected.input_ids))[0]!.heads).toBeUndefined();
    await Promise.all([bare.dispose(), headed.dispose()]);
  });

  test('the learner reads the same values and classes', async () => {
    const device = await openDevice({ device: 'cpu', threads: 1 });
    const params = paramsFrom(config, tensors);
    for (const outputs of [1, 2]) {
      const head = randomHead(config, outputs);
      const name = HEAD_NAMES[head.kind];
      const placed = new Head(
        { name, hiddenSize: config.hiddenSize, outputs },
        placeTensors([
          [`${name}.weight`, { shape: [outputs, config.hiddenSize], data: head.weight }],
          [`${name}.bias`, { shape: [outputs], data: head.bias }],
        ]),
      );
      const model = { params, head: { kind: head.kind, head: placed } };
      const policy = await onnx(config, tensors, head);
      const measured = await measure(
        policy,
        sequences.map(({ prompt, ids }) => ({ prompt, ids })),
      );
      const readout: Readout = head.kind === 'value' ? 'values' : 'classes';
      const [given] = await read(model, sequences, readout);
      const here =
        head.kind === 'value'
          ? measured.flatMap(({ values }) => values!)
          : measured.flatMap(({ classes }) => classes![0]!);
      const there = [...given!];
      expectClose(here, there);
      placed.dispose();
      await policy.dispose();
    }
    device.close();
  });
});

describe('what cannot be measured is named', () => {
  const { config, tensors } = oracle('llama');

  test('a head of another model, with numbers that are not finite, or no head at all', () => {
    const file = (changes: Record<string, { shape: number[]; data: Float32Array }>) =>
      writeSafetensors(
        new Map(
          Object.entries({
            'class_head.weight': {
              shape: [2, config.hiddenSize],
              data: new Float32Array(2 * config.hiddenSize),
            },
            'class_head.bias': { shape: [2], data: new Float32Array(2) },
            ...changes,
          }),
        ),
      );
    expect(readHead(config, file({}))).toMatchObject({ kind: 'classes', outputs: 2 });
    const wide = { shape: [2, 3], data: new Float32Array(6) };
    expect(() => readHead(config, file({ 'class_head.weight': wide }))).toThrow(
      /class_head.weight has shape \[2,3\]/,
    );
    const bad = { shape: [2], data: Float32Array.of(0, Number.NaN) };
    expect(() => readHead(config, file({ 'class_head.bias': bad }))).toThrow(/class_head.bias holds NaN/);
    const one = { shape: [1], data: new Float32Array(1) };
    expect(() => readHead(config, file({ 'class_head.bias': one }))).toThrow(/classes head has 1 outputs/);
    expect(() => readHead(config, writeSafetensors(new Map([['x', one]])))).toThrow(/holds x/);
  });

  test('a value that overflows float32, an empty prompt, a place beyond the end', async () => {
    const head = randomHead(config, 1);
    const policy = await onnx(config, tensors, { ...head, weight: head.weight.map(() => 3e38) });
    await expect(measure(policy, [{ prompt: [5, 6], ids: [7, 8] }])).rejects.toMatchObject({
      code: 'measure.not-finite',
      message: expect.stringMatching(/test@0 measures -?(Infinity|NaN) among its values/),
    });
    await expect(measure(policy, [{ prompt: [], ids: [7] }])).rejects.toMatchObject({
      code: 'measure.prompt',
    });
    await expect(measure(policy, [{ prompt: [5], ids: [7], ends: [2] }])).rejects.toMatchObject({
      code: 'measure.ends',
    });
    await policy.dispose();
  });
});
