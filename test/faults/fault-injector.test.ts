/** A kill point whose moment has come is still to hit: nobody may think the run over in between. */
import { expect, test, vi } from 'vitest';
import type { Cluster } from './cluster.ts';
import { FaultInjector } from './fault-injector.ts';
import type { KillPoint } from './kill-points.ts';

const later: KillPoint = { name: 'late', target: 'mesh', at: { log: 'trained', delayMs: 50 } };

test('busy from the first kill point being armed until its target is back', async () => {
  vi.useFakeTimers();
  const calls: string[] = [];
  const cluster = {
    kill: async (target: string) => void calls.push(`kill ${target}`),
    start: async (target: string) => void calls.push(`start ${target}`),
  } as unknown as Cluster;
  const killPoints = [later];
  const injector = new FaultInjector(() => killPoints.shift() ?? null);
  expect(injector.busy).toBe(false);
  injector.attach(cluster);
  expect(injector.busy).toBe(true);
  injector.onEvent({ event: 'trained' } as Parameters<FaultInjector['onEvent']>[0]);
  await vi.advanceTimersByTimeAsync(49);
  expect({ busy: injector.busy, calls }).toEqual({ busy: true, calls: [] });
  await vi.advanceTimersByTimeAsync(1);
  vi.useRealTimers();
  await injector.settled();
  expect({ busy: injector.busy, calls }).toEqual({ busy: false, calls: ['kill mesh', 'start mesh'] });
  expect(injector.done).toEqual([later]);
});
