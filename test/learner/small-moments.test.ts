/** Moments in 8 bits: the codes against numbers worked by hand, and that a run goes on as one that was loaded from its files. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { VersionFiles } from '../../core/schema/policy.ts';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { readOptimizer, writeOptimizer } from '../../learner/train/optimizer-file.ts';
import { BLOCK, fromSmall, toSmall } from '../../learner/train/small-moments.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors } from '../../model/safetensors.ts';
import { openSets, trainRound } from './held-rounds.ts';

const numbers = (small: { codes: Uint8Array; scales: Float32Array }) => ({
  codes: [...small.codes],
  scales: [...small.scales],
});

test('codes of the mean, by hand', () => {
  // Scale 4. √(4/4)·127 = 127; √(1/4)·127 = 63.5, which rounds to 64; √(0.0004/4)·127 = 1.27, which rounds to 1; √(0.000015/4)·127 = 0.25: nothing.
  const small = toSmall(Float32Array.of(4, -1, 0.0004, 0.000015, 0), 'mean');
  expect(numbers(small)).toEqual({ codes: [255, 64, 129, 128, 128], scales: [4] });
  const back = fromSmall(small, 'mean');
  // (64/127)²·4 and (1/127)²·4
  const expected = [4, -1.0158, 0.000248, 0, 0];
  for (const [i, value] of expected.entries()) expect(back[i]).toBeCloseTo(value, 4);
});

test('codes of the mean square, by hand', () => {
  // Scale 16. ⁴√(1/16) = 1/2, and 127.5 rounds to 128; ⁴√(1.6e-7/16) = 0.01, and 2.55 rounds to 3; 1e-12 would be code 0.13, and stays above 0.
  const small = toSmall(Float32Array.of(16, 1, 1.6e-7, 1e-12, 0), 'square');
  expect(numbers(small)).toEqual({ codes: [255, 128, 3, 1, 0], scales: [16] });
  const back = fromSmall(small, 'square');
  expect(back[0]).toBe(16);
  // (128/255)⁴·16 = 1.0158; (3/255)⁴·16 = 3.065e-7; (1/255)⁴·16 = 3.784e-9
  expect(back[1]).toBeCloseTo(1.0158, 4);
  expect(back[2]! * 1e7).toBeCloseTo(3.065, 3);
  expect(back[3]! * 1e9).toBeCloseTo(3.784, 3);
  expect(back[4]).toBe(0);
});

test('a block has its own scale, and what was read gives the same codes again', () => {
  const values = Float32Array.from(
    { length: 2 * BLOCK + 9 },
    (_, i) => (((i * 7919) % 1009) - 500) * 10 ** -(i % 7),
  );
  values.fill(0, BLOCK, 2 * BLOCK);
  for (const kind of ['mean', 'square'] as const) {
    const given = kind === 'mean' ? values : values.map(Math.abs);
    const small = toSmall(given, kind);
    expect(small.scales).toHaveLength(3);
    expect(small.scales[1]).toBe(0);
    const back = fromSmall(small, kind);
    expect(numbers(toSmall(back, kind))).toEqual(numbers(small));
    // Half a code at the largest value: 2·0.5/127 of the mean, 4·0.5/255 of the mean square.
    const worst = Math.max(
      ...back.map((value, i) => Math.abs(value - given[i]!) / small.scales[Math.floor(i / BLOCK)]! || 0),
    );
    expect(worst).toBeLessThan(0.008);
    expect(worst).toBeGreaterThan(0.001);
  }
});

const state = {
  step: 7,
  tensors: new Map([
    ['mean.w', { shape: [2, 3], data: Float32Array.of(1, -2, 0.5, 0, 0.01, -0.3) }],
    ['square.w', { shape: [2, 3], data: Float32Array.of(1, 4, 0.25, 1e-9, 1e-4, 0.09) }],
  ]),
};

test('a file in 8 bits says so, keeps shapes and steps, and is nearly a quarter', () => {
  const read = readOptimizer(writeOptimizer(state, 'int8'));
  expect(read.step).toBe(7);
  expect([...read.tensors.keys()]).toEqual(['mean.w', 'square.w']);
  expect(read.tensors.get('mean.w')).toEqual({
    shape: [2, 3],
    data: fromSmall(toSmall(state.tensors.get('mean.w')!.data, 'mean'), 'mean'),
  });
  expect(read.tensors.get('square.w')!.data).toEqual(
    fromSmall(toSmall(state.tensors.get('square.w')!.data, 'square'), 'square'),
  );
  const long = {
    step: 1,
    tensors: new Map([['mean.w', { shape: [65_536], data: new Float32Array(65_536) }]]),
  };
  expect(writeOptimizer(long, 'int8').length / writeOptimizer(long).length).toBeCloseTo(
    0.25 * (1 + 4 / 256),
    2,
  );
});

test('a file that lacks a scale, or is cut off, is refused; as a checkpoint it is no weights', () => {
  const bytes = writeOptimizer(state, 'int8');
  const text = new TextDecoder('latin1').decode(bytes);
  const renamed = Uint8Array.from(text.replace('"mean.w.scale"', '"mean.w.scala"'), (c) => c.charCodeAt(0));
  expect(() => readOptimizer(renamed)).toThrow(/mean\.w\.scal/);
  expect(() => readOptimizer(bytes.subarray(0, bytes.length - 1))).toThrow(/cut off/);
  expect(() => readSafetensors(bytes)).toThrow(/has type U8/);
});

describe('a set that is trained', () => {
  let start: VersionFiles;
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ device: 'cpu', threads: 1 });
    start = await readPolicyFolder('models/arithmetic-base');
  });
  afterAll(() => device.close());

  test('goes on as one that was loaded from its files, which are a quarter of the bytes', async () => {
    const int8 = { moments: 'int8' } as const;
    const sets = openSets(start, int8);
    const first = await trainRound(device, sets, 1);
    const held = await trainRound(device, sets.as(first), 2);
    const loaded = await trainRound(device, openSets(first, int8), 2);
    for (const file of ['model.safetensors', 'optimizer.safetensors'] as const)
      expect(Buffer.from(held[file]!).equals(Buffer.from(loaded[file]!)), file).toBe(true);
    const whole = await trainRound(device, openSets(start), 1);
    expect(first['model.safetensors']).toEqual(whole['model.safetensors']);
    expect(first['optimizer.safetensors']!.length / whole['optimizer.safetensors']!.length).toBeLessThan(
      0.28,
    );
  });
});
