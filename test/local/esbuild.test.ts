import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StoppedWhenIdle } from '../../local/mesh/esbuild.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a service is stopped a moment after the last work, and never under one', async () => {
  const stop = vi.fn(async () => {});
  const service = new StoppedWhenIdle(stop, 1_000);
  const work = (ms: number) => service.during(() => new Promise<void>((resolve) => setTimeout(resolve, ms)));
  const all = [work(500), work(3_000)];
  await vi.advanceTimersByTimeAsync(2_900);
  expect(stop).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(600);
  // Between two, less than a moment.
  all.push(work(2_000));
  await vi.advanceTimersByTimeAsync(2_900);
  expect(stop).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(200);
  expect(stop).toHaveBeenCalledTimes(1);
  await Promise.all(all);
});

test('work that fails is over as well', async () => {
  const stop = vi.fn(async () => {});
  const service = new StoppedWhenIdle(stop, 10);
  await expect(service.during(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await vi.advanceTimersByTimeAsync(10);
  expect(stop).toHaveBeenCalledTimes(1);
});
