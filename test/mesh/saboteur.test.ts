/** A strike whose moment has come is still to hit: nobody may think the run over in between. */
import { expect, test, vi } from 'vitest';
import type { Cluster } from '../../mesh/faults/cluster.ts';
import { Saboteur } from '../../mesh/faults/saboteur.ts';
import type { Strike } from '../../mesh/faults/strikes.ts';

const later: Strike = { name: 'late', victim: 'mesh', at: { log: 'trained', delayMs: 50 } };

test('busy from the first strike being armed until its victim is back', async () => {
  vi.useFakeTimers();
  const calls: string[] = [];
  const cluster = {
    kill: async (victim: string) => void calls.push(`kill ${victim}`),
    start: async (victim: string) => void calls.push(`start ${victim}`),
  } as unknown as Cluster;
  const strikes = [later];
  const saboteur = new Saboteur(() => strikes.shift() ?? null);
  expect(saboteur.busy).toBe(false);
  saboteur.attach(cluster);
  expect(saboteur.busy).toBe(true);
  saboteur.onEvent({ event: 'trained' } as Parameters<Saboteur['onEvent']>[0]);
  await vi.advanceTimersByTimeAsync(49);
  expect({ busy: saboteur.busy, calls }).toEqual({ busy: true, calls: [] });
  await vi.advanceTimersByTimeAsync(1);
  vi.useRealTimers();
  await saboteur.settled();
  expect({ busy: saboteur.busy, calls }).toEqual({ busy: false, calls: ['kill mesh', 'start mesh'] });
  expect(saboteur.done).toEqual([later]);
});
