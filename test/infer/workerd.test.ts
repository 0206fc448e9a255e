import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toHfConfig } from '../../model/hf-config.ts';
import { config, inNode, request, weights } from './replay-case.ts';
import { startWorker } from './worker-bundle.ts';

let worker: Miniflare;
beforeAll(async () => {
  worker = await startWorker('test/infer/generate.worker.ts');
});
afterAll(() => worker.dispose());

test('Node and workerd give the same bits, and a seed policy fits an isolate', async () => {
  await worker.dispatchFetch('http://worker/', {
    method: 'POST',
    headers: { 'x-config': JSON.stringify(toHfConfig(config)) },
    body: weights,
  });
  const answer = await worker.dispatchFetch('http://worker/', {
    method: 'POST',
    body: JSON.stringify(request),
  });
  // JSON keeps every bit of a double, so equal text is equal bits.
  const { heapBytes, ...made } = JSON.parse(await answer.text());
  expect(made).toEqual(await inNode());
  expect(heapBytes).toBeLessThan(64 * 2 ** 20);
});
