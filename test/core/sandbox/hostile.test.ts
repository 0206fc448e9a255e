/** Programs of every hostile family, in Node and in workerd: none is paid that must not be, none hangs, and both do the same, step by step. */
import { expect, test } from 'vitest';
import { QUICKJS } from '../../../kernels/compile-quickjs.ts';
import { startWorker } from '../../infer/worker-bundle.ts';
import { HOSTILE } from './hostile.ts';
import { outcomesOf } from './hostile-outcomes.ts';

const here = outcomesOf();

test('every hostile program comes to what the rule of its family says', () => {
  expect(HOSTILE.length).toBeGreaterThan(500);
  const others = HOSTILE.flatMap(({ family, program, outcomes }, i) =>
    outcomes.includes(here[i]!.outcome) ? [] : [{ family, program, outcome: here[i]!.outcome }],
  );
  expect(others).toEqual([]);
});

test('the same outcomes, at the same test and after as many steps, in workerd', async () => {
  const worker = await startWorker('test/core/sandbox/hostile.worker.ts', QUICKJS);
  try {
    expect(await (await worker.dispatchFetch('http://worker/')).json()).toEqual(here);
  } finally {
    await worker.dispose();
  }
});
