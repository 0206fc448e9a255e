import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { REFERENCE_MODELS } from './engine-checkpoints.ts';
import { expectReferenceGradients } from './engine-reference-check.ts';

const VARIANTS = [
  { fma: true, threads: 1 },
  { fma: false, threads: 1 },
  { fma: true, threads: 2 },
  { fma: false, threads: 2 },
];

describe.each(VARIANTS)('CPU, fma $fma, $threads threads', (variant) => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ device: 'cpu', shareCycles: 1, ...variant });
  });
  afterAll(() => device.close());

  test.each(REFERENCE_MODELS)(
    '%s: log-probabilities, entropies and gradients match float64',
    async (name) => {
      expect(device.description.includes('fused multiply-add')).toBe(variant.fma);
      await expectReferenceGradients(name);
    },
  );
});
