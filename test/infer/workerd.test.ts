import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toHfConfig } from '../../model/hf-config.ts';
import type { WorkerRequest } from './generate.worker.ts';
import { config, inNode, request, types, weightsOf } from './replay-case.ts';
import { startWorker } from './worker-bundle.ts';

let worker: Miniflare;
beforeAll(async () => {
  worker = await startWorker('test/infer/generate.worker.ts');
});
afterAll(() => worker.dispose());

const ask = async (asked: WorkerRequest) => {
  const answer = await worker.dispatchFetch('http://worker/', {
    method: 'POST',
    body: JSON.stringify(asked),
  });
  return JSON.parse(await answer.text());
};

test.each(types)(
  'Node and workerd give the same bits with %s weights, and a start policy fits an isolate',
  async (weightType) => {
    await worker.dispatchFetch('http://worker/', {
      method: 'POST',
      headers: { 'x-open': JSON.stringify({ config: toHfConfig(config), weightType }) },
      body: weightsOf(weightType),
    });
    // JSON keeps every bit of a double, so equal text is equal bits.
    const { completions, scores } = await ask(request);
    expect({ completions, scores }).toEqual(await inNode(weightType));
    const wide = Array.from({ length: 8 }, (_, p) => ({
      ids: Array.from({ length: 32 }, (_, i) => (i * 7 + p) % 64),
      sampleIds: Array.from({ length: 8 }, (_, i) => `wide/${p}/${i}`),
    }));
    const settings = { maxNew: 48, temperature: 1, stop: [] };
    const { heapBytes } = await ask({ prompts: wide, settings, sequences: wide.map(({ ids }) => ids) });
    expect(heapBytes).toBeLessThan(64 * 2 ** 20);
  },
);
