import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { TINY_NAMES } from '../model/architectures.ts';
import { SEEING, SEEING_NAMES, scored } from '../model/seeing.ts';
import { expectArchitecture, expectForward } from './engine-architecture-check.ts';

describe.each([
  { fma: true, threads: 2 },
  { fma: false, threads: 1 },
])('CPU, fma $fma, $threads threads', (variant) => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ device: 'cpu', shareCycles: 1, ...variant });
  });
  afterAll(() => device.close());

  test.each(TINY_NAMES)('%s: log-probabilities and gradients match float64', async (name) => {
    expect(device.description.includes('fused multiply-add')).toBe(variant.fma);
    await expectArchitecture(name);
  });

  test.each(SEEING_NAMES)(
    '%s that sees: images in prompts, and the gradient of their projection',
    async (name) => {
      await expectForward(SEEING[name], scored());
    },
  );
});
