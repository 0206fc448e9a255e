/** Each engine against a second forward pass in float64, for architectures of which no stored checkpoint has the answers. */
import { describe, expect, test } from 'vitest';
import { createKernelPolicy } from '../../infer/kernels/kernel-policy.ts';
import { loadBuilds } from '../../infer/kernels/node-builds.ts';
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import { parseConfig } from '../../model/config.ts';
import { TINY_ARCHITECTURES, TINY_NAMES } from '../model/architectures.ts';
import { randomTensors } from '../model/checkpoints.ts';
import { forwardLogits, softmax } from '../model/reference.ts';
import { TESTED_ENGINES } from './engines.ts';

const worst = (a: readonly number[], b: readonly number[]): number => {
  expect(a.length).toBe(b.length);
  return Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));
};
const sequence = (length: number, step: number) => Array.from({ length }, (_, i) => (i * i * step + 3) % 40);
/** Longer than every window. */
const SEQUENCES = [sequence(30, 7), sequence(19, 11)];

describe.each(TINY_NAMES)('%s', (name) => {
  const json = TINY_ARCHITECTURES[name];
  const config = parseConfig(json);
  const tensors = randomTensors(config);
  const wanted = SEQUENCES.map((ids) => {
    const rows = forwardLogits(json, tensors, ids).map(softmax);
    return {
      logprobs: ids.slice(1).map((id, i) => Math.log(rows[i]![id]!)),
      entropy: rows.slice(0, -1).map((row) => -row.reduce((sum, p) => sum + p * Math.log(p), 0)),
    };
  });
  /** The likeliest tokens after a beginning, one after another. */
  const greedy = (ids: readonly number[], count: number): number[] => {
    const all = [...ids];
    for (let i = 0; i < count; i++) {
      const last = forwardLogits(json, tensors, all).at(-1)!;
      all.push(last.indexOf(Math.max(...last)));
    }
    return all.slice(ids.length);
  };

  test.each(TESTED_ENGINES)('$name scores and generates as float64 does', async ({ open, tolerance }) => {
    const policy = await open(config, tensors);
    const scores = await policy.score(SEQUENCES);
    scores.forEach((score, i) => {
      expect(worst(score.logprobs, wanted[i]!.logprobs)).toBeLessThan(tolerance);
      expect(worst(score.entropy, wanted[i]!.entropy)).toBeLessThan(tolerance);
    });
    // Prompts of two lengths in one call, two samples each, past the window.
    const prompts = [SEQUENCES[0]!.slice(0, 5), SEQUENCES[1]!.slice(0, 13)];
    const out = await policy.generate(
      prompts.map((ids) => ({ ids, sampleIds: ['a', 'b'] })),
      { maxNew: 12, temperature: 0, stop: [] },
    );
    prompts.forEach((ids, i) => {
      const tokens = greedy(ids, 12);
      expect(out[i]!.map((sample) => sample.ids)).toEqual([tokens, tokens]);
    });
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
    const [score] = await policy.score([SEQUENCES[0]!]);
    const off = score!.logprobs.map((x, i) => Math.abs(x - wanted[0]!.logprobs[i]!));
    const mean = off.reduce((a, b) => a + b) / off.length;
    expect(mean).toBeLessThan(weights === 'int8' ? 0.05 : 0.2);
    expect(mean).toBeGreaterThan(1e-4);
    await policy.dispose();
  });
});
