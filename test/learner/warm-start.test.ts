/** What a warm start learns of a demonstration, and what it only reads: told by the loss of its first step. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import { WARM_START, warmStart } from '../../learner/train/warm-start.ts';
import { randomCheckpoint } from '../../model/init.ts';
import { SHAPES } from '../../model/shapes.ts';
import type { Demonstration } from '../../worlds/demonstration.ts';
import type { Stage } from '../../worlds/stage.ts';

let device: Device;
beforeAll(async () => {
  device = await openDevice({ device: 'cpu', threads: 1 });
});
afterAll(() => device.close());

const { json, vocabSize } = characterTokenizer();
const tokenizer = openTokenizer(json);
const config = SHAPES.nano(vocabSize, tokenizer.id('<eos>'));

/** Mean negative log-likelihood of what is learnt, by the weights before the step. */
async function lossOf(demonstration: Omit<Demonstration, 'role'>): Promise<number> {
  let loss = Number.NaN;
  await warmStart(
    paramsFrom(config, randomCheckpoint(config, 'warm-start-test')),
    tokenizer,
    { demonstrate: () => ({ role: 'solver', ...demonstration }) },
    { ...WARM_START, steps: 1, batch: 1 },
    1,
    async (progress) => {
      loss = progress.loss;
    },
    () => Promise.reject(new Error('Nothing asks the policy.')),
  );
  return loss;
}

test('a stretch that is given at the start of a completion counts as little as the prompt', async () => {
  const given = await lossOf({ prompt: '12+34', completion: '=46.', given: [[0, 2]] });
  expect(given).toBeCloseTo(await lossOf({ prompt: '12+34=4', completion: '6.' }), 5);
});

test('what stands on both sides of a given stretch is learnt, each token as much as any other', async () => {
  const [whole, first, second] = [
    await lossOf({ prompt: '12+34', completion: '=46.' }),
    await lossOf({ prompt: '12+34=', completion: '4' }),
    await lossOf({ prompt: '12+34=4', completion: '6' }),
  ];
  const around = await lossOf({ prompt: '12+34', completion: '=46.', given: [[1, 3]] });
  expect(2 * around).toBeCloseTo(4 * whole - first - second, 4);
});

/** How many steps a stage of two takes that is looked at after each two, and is done at the `doneAt`-th look; `steps`: those that the start may take. */
async function stepsOf(again: number, doneAt: number, steps = 2, rescued = false): Promise<number> {
  let [taken, looks] = [0, 0];
  const demonstrate = () => {
    taken++;
    return [{ role: 'solver', prompt: '12+34', completion: '=46.' }];
  };
  const at = async () => ({ done: ++looks === doneAt, said: '', faults: {} });
  const stage: Stage = {
    steps: 2,
    again,
    learningRate: 1e-3,
    decay: [1, 2],
    demonstrate,
    looks: { every: 2, at },
  };
  await warmStart(
    paramsFrom(config, randomCheckpoint(config, 'warm-start-test')),
    tokenizer,
    {
      demonstrate: () => demonstrate()[0]!,
      stages: rescued ? [stage, { ...stage, again: 0, ifMissed: true }] : [stage],
    },
    { ...WARM_START, steps },
    1,
    async () => {},
    (work) => work({} as never),
  );
  return taken;
}

test('a stage goes through its steps again until it is done, as often as it may, and not where it is cut short', async () => {
  expect(await stepsOf(0, 9)).toBe(2);
  expect(await stepsOf(2, 9)).toBe(6);
  expect(await stepsOf(2, 2)).toBe(4);
  expect(await stepsOf(2, 9, 1)).toBe(1);
});

test('a stage for what the one before it missed is left out where that was done', async () => {
  expect(await stepsOf(0, 1, 4, true)).toBe(2);
  expect(await stepsOf(0, 9, 4, true)).toBe(4);
});
