/** What a policy has of a memory that several threads share: its window, and no more. */
import { expect, test, vi } from 'vitest';
import type { TokenIds } from '../../../core/policy/policy.ts';
import { REFS } from '../../../infer/kernels/forms.ts';
import { createKernelPolicy, ISOLATE_BYTES } from '../../../infer/kernels/kernel-policy.ts';
import { loadBuilds, loadSharedBuilds } from '../../../infer/kernels/node-builds.ts';
import { empty, givenUp, isToLayOut, layOutEnded, windowOf } from '../../../infer/kernels/shared-weights.ts';
import { parameterCount, tensorShapes } from '../../../model/checkpoint.ts';
import type { Tensor } from '../../../model/safetensors.ts';
import { randomTensors, smallConfig } from '../../model/checkpoints.ts';

/** Tokens that were read as parts of prompts, once for each layer, and the rows of the largest draw. */
const count = vi.hoisted(() => ({ read: 0, drawn: 0 }));
vi.mock('../../../infer/kernels/open-kernels.ts', async (actual) => {
  const { openKernels } = await actual<typeof import('../../../infer/kernels/open-kernels.ts')>();
  return {
    openKernels: (...how: Parameters<typeof openKernels>) => {
      const { kernels, ...rest } = openKernels(...how);
      const counting: typeof kernels = {
        ...kernels,
        appendTokens: (rows, ...others) => {
          count.read += rows!;
          return kernels.appendTokens(rows!, ...others);
        },
        draw: (rows, ...others) => {
          count.drawn = Math.max(count.drawn, rows!);
          return kernels.draw(rows!, ...others);
        },
      };
      return { ...rest, kernels: counting };
    },
  };
});

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
  // The 104 keys and values of a sample take 0.43 MB, and a window has 0.39.
  const { policy } = openIn(64, 0, 150);
  await expect(policy.generate(prompts, settings)).rejects.toMatchObject({
    code: 'kernels.memory',
    next: expect.stringContaining('fewer --threads'),
  });
});

test('who finds a memory empty lays it out; who fails leaves it to the next', () => {
  const memory = { ...memoryOf(1), thread: 0 };
  const other = { ...memory, thread: 1 };
  expect(isToLayOut(memory)).toBe(true);
  layOutEnded(memory);
  expect(isToLayOut(other)).toBe(true);
  layOutEnded(other, 70_000);
  expect(isToLayOut(memory)).toBe(false);
  // An error after others were told that they may begin takes nothing back.
  layOutEnded(other);
  expect(isToLayOut(memory)).toBe(false);
  empty(memory);
  expect(isToLayOut(memory)).toBe(true);
  // A thread that has ended gives up what it was laying out itself, and nothing else.
  givenUp(memory, 1);
  expect(memory.state[0]).not.toBe(0);
  givenUp(memory, 0);
  expect(isToLayOut(other)).toBe(true);
});

test('after a prompt for which a window has no room, there is as much room as before', async () => {
  // The keys and values of a token take 4 KiB, and a window has 448.
  const { policy } = openIn(64, 0, 125);
  const long = Array.from({ length: 120 }, (_, i) => i % 60);
  const short = { ids: long.slice(0, 20), sampleIds: ['s'] };
  const own = createKernelPolicy(loadBuilds(), ref, config, tensors);
  const few = { ...settings, maxNew: 4 };
  const wanted = await own.generate([short], few);
  for (let i = 0; i < 2; i++) {
    await expect(policy.generate([{ ids: long, sampleIds: ['l'] }], few)).rejects.toMatchObject({
      code: 'kernels.memory',
    });
    await expect(policy.score([long])).rejects.toMatchObject({ code: 'kernels.memory' });
    expect(await policy.generate([short], few)).toEqual(wanted);
  }
});

test('what is kept between turns does not lie in the window, and is not bounded by it', async () => {
  // Six sequences of some 110 tokens take 2.6 MiB, a third of the window.
  const { policy } = openIn(12, 0, 1);
  const few = { ...settings, maxNew: 4 };
  let prompts: TokenIds[] = Array.from({ length: 6 }, (_, i) =>
    Array.from({ length: 98 }, (__, j) => (i * j) % 60),
  );
  let known = 0;
  for (let turn = 0; turn < 3; turn++) {
    count.read = 0;
    const asked = prompts.map((ids, i) => ({ ids, sampleIds: [`${turn}/${i}`] }));
    const made = await policy.generate(asked, few);
    // All but the last token of each prompt, less what the turn before has left where that was kept.
    const all = prompts.reduce((sum, { length }) => sum + length - 1, 0);
    expect(count.read / config.layers.length).toBe(turn < 2 ? all : all - known);
    prompts = prompts.map((ids, i) => [...ids, ...made[i]![0]!.ids, 7, 8]);
    known = prompts.reduce((sum, { length }) => sum + length - 3, 0);
  }
});

test('what the host has for a thread is less its own part of the weights, not all of them', async () => {
  // The weights take 26 MiB of 30; an eighth of them leaves 26, of which a batch takes half: rows of 1.6 MiB.
  const large = smallConfig({ num_hidden_layers: 8, hidden_size: 256, intermediate_size: 768 });
  const shared = { ...memoryOf(256), id: 1, thread: 3, threads: 8 };
  expect(isToLayOut(shared)).toBe(true);
  const weights = [...tensorShapes(large)].map(([name, shape]) => {
    const data = new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(0.01);
    return [name, { shape: [...shape], data }] as [string, Tensor];
  });
  const policy = createKernelPolicy(loadSharedBuilds(), ref, large, weights, 30 * MIB, shared);
  count.drawn = 0;
  // Any token ends a row, for whose 100 tokens there must be room all the same.
  await policy.generate(prompts, { ...settings, stop: Array.from({ length: 64 }, (_, id) => id) });
  expect(count.drawn).toBeGreaterThan(8);
  expect(count.drawn).toBeLessThan(20);
});
