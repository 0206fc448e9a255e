import { expect, test } from 'vitest';
import { within } from '../../cli/shared/pattern-probe.ts';

const sleep = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('what waits for a processor is given more time, what takes one is not', () => {
  let begun = 0;
  const waits = () => {
    if (++begun === 1) sleep(400);
  };
  expect(within(100, waits)).toBe('done');
  expect(begun).toBe(2);
  expect(
    within(100, () => {
      for (;;);
    }),
  ).toBe('too long');
});
