/** What a policy has of a memory that several threads share: its window, and no more. */
import { expect, test } from 'vitest';
import { REFS } from '../../../infer/kernels/forms.ts';
import { createKernelPolicy, ISOLATE_BYTES } from '../../../infer/kernels/kernel-policy.ts';
import { loadBuilds, loadSharedBuilds } from '../../../infer/kernels/node-builds.ts';
import { empty, isToLayOut, layOutEnded, windowOf } from '../../../infer/kernels/shared-weights.ts';
import { parameterCount } from '../../../model/checkpoint.ts';
import { randomTensors, smallConfig } from '../../model/checkpoints.ts';

const MIB = 1 << 20;
const config = smallConfig();
const tensors = randomTensors(config);
const ref = { name: 'p', version: 0, ...REFS.fused };
const prompts = [{ ids: [1, 2, 3], sampleIds: Array.from({ length: 32 }, (_, i) => `s/${i}`) }];
const settings = { maxNew: 100, temperature: 1, stop: [] };

const memoryOf = (mib: number) => {
  const pages = 16 * mib;
  return {
    memory: new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }),
    state: new Int32Array(new SharedArrayBuffer(8)),
  };
};

/** Opens the policy in the window of one of so many threads. */
function openIn(mib: number, thread: number, threads: number) {
  const shared = { ...memoryOf(mib), id: 1, thread, threads };
  expect(isToLayOut(shared)).toBe(true);
  const policy = createKernelPolicy(loadSharedBuilds(), ref, config, tensors, 64 * ISOLATE_BYTES, shared);
  return { policy, shared };
}

test('windows lie side by side above the weights, and within the memory', () => {
  const { shared } = openIn(64, 0, 3);
  const windows = [0, 1, 2].map((thread) => windowOf({ ...shared, thread }));
  expect(windows[0]!.start).toBeGreaterThan(4 * parameterCount(config));
  expect(windows[0]!.start).toBeLessThan(5 * parameterCount(config));
  expect(windows[1]!.start).toBe(windows[0]!.end);
  expect(windows[2]!.start).toBe(windows[1]!.end);
  expect(windows[2]!.end).toBeLessThanOrEqual(64 * MIB);
  expect(windows[2]!.end).toBeGreaterThan(64 * MIB - 4 * 65_536);
});

test('what is generated together fits in a window, and nothing else of the memory is written', async () => {
  // A row has keys and values of 100 tokens in four layers of 128 numbers: 0.43 MB. All 32 would take twice the window.
  const { policy, shared } = openIn(32, 1, 4);
  const { start, end } = windowOf(shared);
  const bytes = new Uint8Array(shared.memory.buffer);
  const weights = bytes.slice(0, start);
  expect(32 * 4 * 2 * 4 * 128 * 104).toBeGreaterThan(1.5 * (end - start));
  const own = createKernelPolicy(loadBuilds(), ref, config, tensors);
  expect(await policy.generate(prompts, settings)).toEqual(await own.generate(prompts, settings));
  expect(Buffer.compare(bytes.slice(0, start), weights)).toBe(0);
  expect(Buffer.compare(bytes.subarray(end), new Uint8Array(bytes.length - end))).toBe(0);
});

test('where a window has no room for one sample, the error says what to do', async () => {
  const { policy } = openIn(64, 0, 100);
  await expect(policy.generate(prompts, settings)).rejects.toMatchObject({
    code: 'kernels.memory',
    next: expect.stringContaining('fewer --threads'),
  });
});

test('who finds a memory empty lays it out; who fails leaves it to the next', () => {
  const memory = memoryOf(1);
  expect(isToLayOut(memory)).toBe(true);
  layOutEnded(memory);
  expect(isToLayOut(memory)).toBe(true);
  layOutEnded(memory, 70_000);
  expect(isToLayOut(memory)).toBe(false);
  // An error after others were told that they may begin takes nothing back.
  layOutEnded(memory);
  expect(isToLayOut(memory)).toBe(false);
  empty(memory);
  expect(isToLayOut(memory)).toBe(true);
});
