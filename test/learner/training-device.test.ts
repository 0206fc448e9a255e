/** A learner's device between rounds: chosen once, closed for an evaluation where memory is short, and opened again to the same bytes. */
import { afterEach, expect, test, vi } from 'vitest';
import type { RoundSpec } from '../../core/schema/round.ts';
import { Evaluator } from '../../learner/loop/evaluator.ts';
import { TrainingDevice } from '../../learner/loop/training-device.ts';
import { AdamW } from '../../learner/nn/adamw.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import { readTensors } from '../../learner/nn/trainable.ts';
import * as tf from '../../learner/tfjs.ts';
import { randomSequences, TINY, tinyParams } from './engine-tiny.ts';

afterEach(() => vi.restoreAllMocks());

async function step() {
  const params = tinyParams();
  const batch = packSequences(randomSequences([12, 30]));
  const result = lossAndGrads(params, () => tf.neg(tf.mean(tokenLogProbs(params, batch).logp)) as tf.Scalar);
  new AdamW(params).step(result.grads).dispose();
  disposeResult(result);
  return readTensors(params);
}

test('training’s memory is given back only where it is large beside what is left, and comes back to the same bits', async () => {
  const chosen = vi.fn();
  const dispose = vi.fn();
  const device = await TrainingDevice.start({ device: 'cpu', threads: 1 }, chosen);
  expect(device.description).toMatch(/^CPU, 1 thread,/);
  await device.open(TINY);
  const first = await step();

  const free = vi.spyOn(process, 'availableMemory').mockReturnValue(8 * 2 ** 30);
  expect(device.makeRoom({ dispose })).toBe(0);
  expect(dispose).not.toHaveBeenCalled();
  expect(tf.findBackend('simd')).not.toBeNull();

  free.mockReturnValue(2 ** 20);
  // The kernels' memory starts with 64 pages.
  expect(device.makeRoom({ dispose })).toBeGreaterThanOrEqual(64 * 65_536);
  expect(dispose).toHaveBeenCalledOnce();
  expect(tf.findBackend('simd')).toBeNull();
  expect(device.makeRoom({ dispose })).toBe(0);

  free.mockReturnValue(8 * 2 ** 30);
  await device.open(TINY);
  expect(device.description).toMatch(/^CPU, 1 thread,/);
  expect(await step()).toEqual(first);
  // A device that was named is no choice.
  expect(chosen).not.toHaveBeenCalled();
});

test('room is made before an evaluation opens a version, and only where one is due', async () => {
  const order: string[] = [];
  const gateway = {
    getRun: async () => ({ target: 4 }),
    getRound: async () => ({ state: 'failed', report: null }),
    getVersion: async () => {
      order.push('version');
      throw new Error('none here');
    },
  };
  const recipes = { find: () => ({}) };
  const evaluator = new Evaluator(gateway as never, recipes as never, 2, () => order.push('room'));
  const round = (index: number) =>
    ({ spec: { index, run: 'r', settings: { recipe: 'x', policy: 'p' } } as unknown as RoundSpec }) as never;
  expect(await evaluator.after(round(3), 3)).toBeNull();
  expect(order).toEqual([]);
  await expect(evaluator.after(round(4), 4)).rejects.toThrow('none here');
  expect(order).toEqual(['room', 'version']);
});

test('the version that a run begins from is evaluated once its first round is trained, and only once', async () => {
  const order: string[] = [];
  let listed: { index: number; id: string; state: string }[] = [];
  let first: { state: string; report: object | null } = { state: 'done', report: null };
  const spec = {
    index: 1,
    run: 'r',
    settings: { recipe: 'x', policy: 'p' },
    roles: { solver: { name: 'p', version: 7 } },
  };
  const gateway = {
    listRounds: async () => {
      order.push('asked');
      return listed;
    },
    getRun: async () => ({ target: 4 }),
    getRound: async () => ({ spec, ...first }),
    getVersion: async () => {
      order.push('version');
      throw new Error('none here');
    },
  };
  const recipes = { find: () => ({}) };
  const evaluatorOf = (expected?: string) =>
    new Evaluator(gateway as never, recipes as never, 2, () => order.push('room'), undefined, expected);
  const ready = async () => void order.push('ready');
  await evaluatorOf().ahead(ready);
  expect(order).toEqual([]);

  const evaluator = evaluatorOf('r');
  await evaluator.ahead(ready);
  // While the first round is sampled it has the machine.
  listed = [{ index: 1, id: 'first', state: 'rollout' }];
  await evaluator.ahead(ready);
  expect(order).toEqual(['asked', 'asked']);
  listed = [{ index: 1, id: 'first', state: 'done' }];
  await expect(evaluator.ahead(ready)).rejects.toThrow('none here');
  await evaluator.ahead(ready);
  expect(order).toEqual(['asked', 'asked', 'asked', 'ready', 'room', 'version']);

  // A run that was not expected is, once its first round is trained.
  order.length = 0;
  const later = evaluatorOf();
  expect(await later.after({ spec } as never, 1)).toBeNull();
  await expect(later.ahead(ready)).rejects.toThrow('none here');
  expect(order).toEqual(['asked', 'ready', 'room', 'version']);

  // Where it was evaluated before, or can never be, nothing is.
  order.length = 0;
  first = { state: 'done', report: { start: {} } };
  await evaluatorOf('r').ahead(ready);
  first = { state: 'failed', report: null };
  listed = [{ index: 1, id: 'first', state: 'failed' }];
  await evaluatorOf('r').ahead(ready);
  expect(order).toEqual(['asked', 'ready', 'asked', 'ready']);
});

test('what can be sampled apart is fetched while the first round is sampled, and nobody waits for it', async () => {
  const order: string[] = [];
  let first = { index: 1, id: 'first', state: 'rollout' };
  const spec = {
    index: 1,
    run: 'r',
    settings: { recipe: 'x', policy: 'p' },
    roles: { solver: { name: 'p', version: 7 } },
  };
  const weights = { 'model.safetensors': { bytes: 9 } };
  let files: object = weights;
  const gateway = {
    listRounds: async () => [first],
    getRun: async () => ({ target: 4 }),
    getRound: async () => ({ spec, state: first.state, report: null }),
    getManifest: async () => ({ files }),
    getVersion: async () => {
      order.push('version');
      throw new Error('none here');
    },
  };
  const never = async () => Promise.reject(new Error('nothing is sampled here'));
  const evaluatorOf = () =>
    new Evaluator(
      gateway as never,
      { find: () => ({}) } as never,
      2,
      () => order.push('room'),
      undefined,
      'r',
      { sample: never, beside: never },
    );
  const ready = async () => void order.push('ready');
  const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

  const evaluator = evaluatorOf();
  await evaluator.ahead(ready);
  await settled();
  expect(order).toEqual(['version']);
  await evaluator.ahead(ready);
  expect(order).toEqual(['version']);
  // It failed; so it is made again when it is due, and its failure is told.
  first = { ...first, state: 'done' };
  await expect(evaluator.ahead(ready)).rejects.toThrow('none here');
  expect(order).toEqual(['version', 'ready', 'room', 'version']);

  // Weights that are large, or have a head, wait for the learner's own thread, and so for the round.
  for (const other of [
    { 'model.safetensors': { bytes: 2 ** 26 } },
    { ...weights, 'main.head.safetensors': { bytes: 1 } },
  ]) {
    files = other;
    first = { ...first, state: 'rollout' };
    order.length = 0;
    const large = evaluatorOf();
    await large.ahead(ready);
    await settled();
    expect(order).toEqual([]);
    first = { ...first, state: 'done' };
    await expect(large.ahead(ready)).rejects.toThrow('none here');
    expect(order).toEqual(['ready', 'room', 'version']);
  }
});
