import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { packWeights } from '../../model/onnx/weights.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';
import type { WorkerRequest } from './generate.worker.ts';
import { startWorker } from './worker-bundle.ts';

const config = smallConfig();
const weights = packWeights(config, randomTensors(config));
const request: WorkerRequest = {
  prompts: [5, 17, 32].map((length, p) => ({
    ids: Array.from({ length }, (_, i) => (i * i * 5 + p) % 64),
    sampleIds: Array.from({ length: 4 }, (_, i) => `sample/${p}/${i}`),
  })),
  settings: { maxNew: 24, temperature: 0.9, topP: 0.95, stop: [2, 3] },
  sequences: [Array.from({ length: 40 }, (_, i) => (i * 11) % 64)],
};

let worker: Miniflare;
beforeAll(async () => {
  worker = await startWorker('test/infer/generate.worker.ts');
});
afterAll(() => worker.dispose());

test('Node and workerd give the same bits, and a seed policy fits an isolate', async () => {
  const opened = await worker.dispatchFetch('http://worker/', {
    method: 'POST',
    headers: { 'x-config': JSON.stringify(toHfConfig(config)) },
    body: weights,
  });
  expect(await opened.json()).toMatchObject({ heapBytes: expect.any(Number) });
  const answer = await worker.dispatchFetch('http://worker/', {
    method: 'POST',
    body: JSON.stringify(request),
  });
  const there = JSON.parse(await answer.text());

  const policy = await createPolicy({
    runtime: await loadOrt(),
    ref: { name: 'test', version: 0 },
    config,
    weights,
  });
  const completions = await policy.generate(request.prompts, request.settings);
  const scores = await policy.score(request.sequences);
  await policy.dispose();
  // JSON keeps every bit of a double, so equal text is equal bits.
  expect(there.completions).toEqual(completions);
  expect(there.scores).toEqual(scores);
  expect(there.heapBytes).toBeLessThan(64 * 2 ** 20);
});
