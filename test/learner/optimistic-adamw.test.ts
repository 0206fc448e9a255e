import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { AdamW, type AdamWSettings } from '../../learner/nn/adamw.ts';
import type { Trainable } from '../../learner/nn/trainable.ts';
import * as tf from '../../learner/tfjs.ts';
import { sequences, teach, version } from './plan-fixture.ts';

let device: Device;
beforeEach(async () => {
  device = await openDevice({ device: 'cpu', threads: 1 });
});
afterEach(() => device.close());

const parameter = (value: number, shape: number[] = [1]): Trainable => ({
  tensors: new Map([['x', tf.keep(tf.tensor([value], shape, 'float32'))]]),
});
const read = ({ tensors }: Trainable): number => tensors.get('x')!.dataSync()[0]!;
const gradient = ({ tensors }: Trainable, value: number) =>
  new Map([['x', tf.tensor([value], tensors.get('x')!.shape, 'float32')]]);

const SETTINGS: Partial<AdamWSettings> = { eps: 1e-12, clipNorm: Number.POSITIVE_INFINITY };

/** The parameter after each step by these gradients, from 1. */
function walk(
  gradients: readonly number[],
  settings: Partial<AdamWSettings>,
  shape: number[] = [1],
): number[] {
  const x = parameter(1, shape);
  const optimizer = new AdamW(x, { ...SETTINGS, ...settings });
  return gradients.map((value) => {
    optimizer.step(gradient(x, value), 0.1, { optimistic: true }).dispose();
    return read(x);
  });
}

test('a step goes twice along its own direction and once back along the last one', () => {
  // Without memory a direction is a sign: 1, -1, -1. 1 - .1; .9 + 2·.1 + .1; 1.2 + 2·.1 - .1.
  const signs = walk([3, -2, -5], { betas: [0, 0] });
  expect(signs).toEqual([0.9, 1.2, 1.3].map((wanted) => expect.closeTo(wanted, 5)));
});

test('directions are those of the corrected moments', () => {
  // β₁ = ½: means 1.5 and ½·1.5 - ½·2 = -.25, corrected by 1/(1 - ½) and 1/(1 - ¼): 3 and -1/3, over |g| = 3 and 2: d = 1 and -1/6.
  const [first, second] = walk([3, -2], { betas: [0.5, 0] });
  expect(first).toBeCloseTo(0.9, 5);
  expect(second).toBeCloseTo(0.9 + 0.2 / 6 + 0.1, 5);
});

test('weight decay is that of one step', () => {
  // 1·(1 - .1·.5) - .1 = .85, then .85 gets .1 back and is multiplied by .95 before it goes 2·.1 on.
  const decayed = walk([3, 2], { betas: [0, 0], weightDecay: 0.5 }, [1, 1]);
  expect(decayed).toEqual([0.85, 0.95 * (0.85 + 0.1) - 0.2].map((wanted) => expect.closeTo(wanted, 5)));
});

test('a gradient that is not finite changes nothing, and the next step goes on from the direction before it', () => {
  const walked = walk([3, Number.NaN, 4], { betas: [0, 0] });
  // Both directions are 1: .9 - 2·.1 + .1.
  expect(walked).toEqual([0.9, 0.9, 0.8].map((wanted) => expect.closeTo(wanted, 5)));
});

/** The game min over x, max over y of x·y: distance from the equilibrium (0, 0) after so many simultaneous steps from (1, 1). */
function bilinear(optimistic: boolean, steps: number): number {
  const settings = { ...SETTINGS, betas: [0, 0.99] as const };
  const [x, y] = [parameter(1), parameter(1)];
  const [minimises, maximises] = [new AdamW(x, settings), new AdamW(y, settings)];
  for (let i = 0; i < steps; i++) {
    const [gx, gy] = [read(y), -read(x)];
    minimises.step(gradient(x, gx), 0.02, { optimistic }).dispose();
    maximises.step(gradient(y, gy), 0.02, { optimistic }).dispose();
  }
  return Math.hypot(read(x), read(y));
}

test('in a bilinear game plain AdamW circles the equilibrium, and optimistic AdamW comes to it', () => {
  const [plain, optimistic] = [bilinear(false, 1500), bilinear(true, 1500)];
  expect(plain).toBeGreaterThan(0.2);
  expect(optimistic).toBeLessThan(0.05);
});

test('a training plan asks for it by update: one step has nothing to extrapolate from, two have', async () => {
  const items = sequences(4, 7, 5, 6);
  const after = async (optimistic: boolean, minibatches: number) => {
    const part = { kind: 'sft', role: 'solver', weight: 1, items } as const;
    const updates = [{ set: 'main', parts: [part], minibatches, optimistic }];
    const { files } = await teach({ updates }, { versions: [version('start')] });
    return Buffer.from(files['model.safetensors']!);
  };
  expect((await after(true, 1)).equals(await after(false, 1))).toBe(true);
  expect((await after(true, 2)).equals(await after(false, 2))).toBe(false);
});
