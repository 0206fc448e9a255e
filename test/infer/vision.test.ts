/** Engines that see: each against a second forward pass in float64, alone and beside others, and what they refuse. */
import { describe, expect, test } from 'vitest';
import { createKernelPolicy } from '../../infer/kernels/kernel-policy.ts';
import { loadBuilds } from '../../infer/kernels/node-builds.ts';
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import { parseConfig } from '../../model/config.ts';
import { randomTensors } from '../model/checkpoints.ts';
import { forwardLogits, type SeenPatch, softmax } from '../model/reference.ts';
import { anyImage, SEEING, SEEING_NAMES, SEQUENCES, sequenceOf } from '../model/seeing.ts';
import { TESTED_ENGINES } from './engines.ts';

const worst = (a: readonly number[], b: readonly number[]): number => {
  expect(a.length).toBe(b.length);
  return Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));
};

describe.each(SEEING_NAMES)('%s that sees', (name) => {
  const json = SEEING[name];
  const config = parseConfig(json);
  const tensors = randomTensors(config);
  const token = (id: number | SeenPatch): number => (typeof id === 'number' ? id : json.vision.token_id);
  const wanted = SEQUENCES.map(({ reads }) => {
    const rows = forwardLogits(json, tensors, reads).map(softmax);
    return reads.slice(1).map((id, i) => Math.log(rows[i]![token(id)]!));
  });
  const greedy = (reads: readonly (number | SeenPatch)[], count: number): number[] => {
    const all = [...reads];
    for (let i = 0; i < count; i++) {
      const last = forwardLogits(json, tensors, all).at(-1)!;
      all.push(last.indexOf(Math.max(...last)));
    }
    return all.slice(reads.length) as number[];
  };

  test.each(TESTED_ENGINES)('$name scores and generates as float64 does', async ({ open, tolerance }) => {
    const policy = await open(config, tensors);
    const scores = await policy.score(SEQUENCES.map(({ ids }) => ids));
    for (const [i, { logprobs }] of scores.entries())
      expect(worst(logprobs, wanted[i]!)).toBeLessThan(tolerance);
    const settings = { maxNew: 6, temperature: 0, stop: [] };
    const prompts = SEQUENCES.map(({ ids }) => ({ ids, sampleIds: ['a', 'b'] }));
    const out = await policy.generate(prompts, settings);
    SEQUENCES.forEach(({ reads }, i) => {
      const tokens = greedy(reads, 6);
      expect(out[i]!.map((sample) => sample.ids)).toEqual([tokens, tokens]);
    });
    // Alone, to the bit.
    const sampled = { ...settings, temperature: 1 };
    const beside = await policy.generate(prompts, sampled);
    for (const [i, { ids }] of prompts.entries())
      expect((await policy.generate([{ ids, sampleIds: ['b'] }], sampled))[0]![0]).toEqual(beside[i]![1]);
    // Another picture of the same size in its place.
    const other = sequenceOf(8, 4, anyImage(27, 21, 'd'), 12, 39, 1);
    const [score] = await policy.score([other.ids]);
    const rows = forwardLogits(json, tensors, other.reads).map(softmax);
    expect(score!.logprobs.at(-1)).toBeCloseTo(Math.log(rows.at(-2)![1]!), 3);
    expect(Math.abs(score!.logprobs.at(-1)! - wanted[1]!.at(-1)!)).toBeGreaterThan(1e-3);
    await policy.dispose();
  });

  test.each([
    ['onnx', 'int8'],
    ['onnx', 'w8a8'],
    ['kernels', 'int8'],
    ['kernels', 'w8a8'],
  ] as const)('%s in %s is near float64', async (engine, weights) => {
    const ref = { name: 'test', version: 0, weights };
    const policy =
      engine === 'onnx'
        ? await createPolicy({ runtime: await loadOrt(), ref, config, weights: tensors, weightType: weights })
        : createKernelPolicy(loadBuilds(), { ...ref, engine }, config, tensors);
    const [score] = await policy.score([SEQUENCES[0]!.ids]);
    const off = score!.logprobs.map((x, i) => Math.abs(x - wanted[0]![i]!));
    const mean = off.reduce((a, b) => a + b) / off.length;
    expect(mean).toBeLessThan(weights === 'int8' ? 0.05 : 0.2);
    expect(mean).toBeGreaterThan(1e-4);
    await policy.dispose();
  });
});

test.each(TESTED_ENGINES.slice(1, 3))(
  '$name goes on from an image that an earlier turn saw',
  async ({ open }) => {
    const config = parseConfig(SEEING.qwen2);
    const policy = await open(config, randomTensors(config));
    const settings = { maxNew: 3, temperature: 1, stop: [] };
    const episode = async (image: string) => {
      let { ids } = sequenceOf(8, anyImage(24, 24, image), 12);
      for (let turn = 0; turn < 3; turn++) {
        const made = await policy.generate([{ ids, sampleIds: [`t${turn}`] }], settings);
        ids = [...ids, ...made[0]![0]!.ids, 17];
      }
      return ids.slice(11);
    };
    const one = await episode('one');
    await episode('two');
    expect(await episode('one')).toEqual(one);
    expect(await episode('two')).not.toEqual(one);
    await policy.dispose();
  },
);

test.each(TESTED_ENGINES.slice(1, 3))('$name refuses what it cannot see', async ({ open }) => {
  const config = parseConfig(SEEING.qwen2);
  const policy = await open(config, randomTensors(config));
  const { vision: _, ...text } = SEEING.qwen2;
  const blind = await open(parseConfig(text), randomTensors(parseConfig(text)));
  const settings = { maxNew: 2, temperature: 1, stop: [] };
  const ask = (from: typeof policy, ids: readonly number[]) =>
    from.generate([{ ids, sampleIds: ['a'] }], settings);
  const { ids } = sequenceOf(1, anyImage(24, 24, 'a'), 5);
  await expect(ask(blind, ids)).rejects.toMatchObject({ code: 'policy.blind' });
  await expect(blind.score([ids])).rejects.toMatchObject({ code: 'policy.blind' });
  await expect(ask(policy, ids.slice(0, -1))).rejects.toMatchObject({ code: 'image.last' });
  await expect(ask(policy, [...ids.slice(0, 5), 5])).rejects.toMatchObject({ code: 'image.ids' });
  const large = sequenceOf(1, anyImage(40, 24, 'a'), 5).ids;
  await expect(ask(policy, large)).rejects.toMatchObject({ code: 'image.too-large' });
  const unknown = ids.map((id) => (id > 2 ** 48 ? id - (id % 2 ** 32) + 77 : id));
  await expect(ask(policy, unknown)).rejects.toMatchObject({ code: 'image.unknown' });
  await policy.dispose();
  await blind.dispose();
});
