/** `auto`: the device is chosen by a timed step of the policy's size, and a GPU that is slow is not waited for. */
import { existsSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { missingGpu } from '../../learner/device/webgpu/adapter.ts';
import { chooseDevice, fasterOf, openIfOnly, stepMs } from '../../learner/nn/device-trial.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';
import { TINY } from './engine-tiny.ts';

// Chromium's software driver, where no other is configured.
const SOFTWARE_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';
if (!process.env.VK_ICD_FILENAMES && existsSync(SOFTWARE_DRIVER))
  process.env.VK_ICD_FILENAMES = SOFTWARE_DRIVER;
const missing = await missingGpu(true);

let device: Device | undefined;
afterEach(() => {
  device?.close();
  device = undefined;
});

test('the GPU is taken where its step is three times as fast, and the CPU where a GPU takes too long or fails', () => {
  expect(fasterOf(TINY, 12, 3)).toEqual({
    kind: 'webgpu',
    why: 'a step of one block of 32 values takes the CPU 12 ms and the GPU 3.0 ms',
  });
  expect(fasterOf(TINY, 2.5, 3)).toEqual({
    kind: 'cpu',
    why: 'a step of one block of 32 values takes the CPU 2.5 ms and the GPU 3.0 ms',
  });
  // A round does more than steps.
  expect(fasterOf(TINY, 12, 6).kind).toBe('cpu');
  expect(fasterOf(TINY, 2.5, undefined)).toEqual({
    kind: 'cpu',
    why: 'a step of one block of 32 values takes the CPU 2.5 ms and the GPU more than 10 ms',
  });
});

test('a device that is named is opened without a trial', async () => {
  const chosen = await openIfOnly({ device: 'cpu', threads: 1 });
  device = chosen!.device;
  expect(device.description).toMatch(/^CPU, 1 thread,/);
});

test('without a GPU, and with a software driver alone, auto is the CPU without a trial', async () => {
  const chosen = await openIfOnly({ device: 'auto', threads: 1 });
  // A machine with a GPU leaves the choice to the trial.
  if (!chosen) return;
  device = chosen.device;
  expect(device.kind).toBe('cpu');
  expect(chosen.why).toBeUndefined();
});

test('a step is timed, leaves nothing on the device, and is given up where it takes longer than it may', async () => {
  device = await openDevice({ device: 'cpu', threads: 1 });
  const before = device.memory().bytes;
  const took = await stepMs(TINY);
  expect(took).toBeGreaterThan(0);
  expect(took).toBeLessThan(60_000);
  expect(await stepMs(TINY, 1e-6)).toBeUndefined();
  expect(device.memory().bytes).toBe(before);
});

test.skipIf(missing || !NIGHT)(
  `a software driver that is tried loses against the CPU within its limits${IN_THE_NIGHT}`,
  async () => {
    const chosen = await chooseDevice({ device: 'auto', threads: 1, software: true }, TINY);
    device = chosen.device;
    expect(chosen.why).toMatch(
      /^a step of one block of 32 values takes the CPU [\d.]+ ms and the GPU (more than )?[\d.]+ ms$/,
    );
    expect(device.kind).toBe('cpu');
  },
);
