/** The time that a node's thread counts as generating: that of its policies' draws, and not that in which versions are opened. */
import { expect, test } from 'vitest';
import { sha256Hex } from '../../core/random.ts';
import type { SamplingRequest } from '../../core/schema/work.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { Computer } from '../../local/node/compute.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';

test('each batch is counted once, and the next call begins at nothing', async () => {
  const start = await readPolicyFolder('models/arithmetic-base');
  const files = [start['config.json']!, start['model.safetensors']!];
  const [config, weights] = files.map((bytes) => ({
    version: 0,
    sha256: sha256Hex(bytes),
    bytes: bytes.length,
  }));
  const request = (version: number): SamplingRequest => ({
    policy: { name: 'p', version, engine: 'kernels' },
    config: { file: 'config.json', ...config! },
    weights: { file: 'model.safetensors', ...weights! },
    vocabSize: 97,
    prompts: [{ ids: [2, 9, 30, 41], sampleIds: ['a', 'b'] }],
    settings: { maxNew: 3, temperature: 1, stop: [] },
  });
  const asked: string[] = [];
  let now = 0;
  const engines = {
    ...nodeEngines,
    kernels: () => {
      asked.push('opened');
      return nodeEngines.kernels();
    },
  };
  const computer = new Computer(engines, () => {
    asked.push('clock');
    now += 7;
    return now;
  });
  const bytes = Object.fromEntries(files.map((file) => [sha256Hex(file), file]));
  const made = await computer.compute([request(1), request(2), request(1)], bytes);
  expect(made.flat(2).map(({ ids }) => ids.length)).toEqual([3, 3, 3, 3, 3, 3]);
  // Two versions make two batches, each between two looks at the clock.
  expect(computer.generateMs).toBe(14);
  expect(asked).toEqual(['opened', 'clock', 'clock', 'opened', 'clock', 'clock']);
  await computer.compute([request(2)], bytes);
  expect(computer.generateMs).toBe(7);
});
