import { expect, test } from 'vitest';
import { startWorker } from '../../infer/worker-bundle.ts';
import { verdicts } from './worker-case.ts';

test('checkers and chat templates say the same in workerd as in Node', async () => {
  const worker = await startWorker('test/core/renderer/verdicts.worker.ts');
  try {
    const answer = await worker.dispatchFetch('http://worker/');
    expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(verdicts())));
  } finally {
    await worker.dispose();
  }
  const { checks } = verdicts() as { checks: { ok: boolean; value: boolean }[] };
  expect(checks.map(({ value }) => value)).toEqual([false, true, true, false, true, true, true, true, false]);
});
