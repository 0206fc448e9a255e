/** How contenders of a bench take turns, and how their turns are summed up. */
import { expect, test } from 'vitest';
import { against } from './rollout/peers.ts';
import { inTurns, timed, warmUpEach } from './rollout/turns.ts';

test('each round begins with another contender', async () => {
  const order: string[] = [];
  const turns = await inTurns(['a', 'b', 'c'], 4, async (name) => order.push(name));
  expect(order.join('')).toBe('abc' + 'bca' + 'cab' + 'abc');
  expect(turns[1]).toEqual({ b: 4, c: 5, a: 6 });
});

test('the CPU time of a turn is shared out among its runs', async () => {
  let now = 100;
  const turn = async () => {
    now += 60;
    return { ms: 25, runs: 4 };
  };
  expect(await timed(turn, () => now)).toEqual({ ms: 25, runs: 4, cpu: 15 });
});

test('a contender is warmed up until its own runs took two seconds of CPU time', async () => {
  const turns: string[] = [];
  await warmUpEach(['slow', 'fast'], async (name) => {
    turns.push(name);
    return name === 'slow' ? { ms: 9000, runs: 1, cpu: 2500 } : { ms: 1, runs: 100, cpu: 7 };
  });
  // 2000 / 700 is a little under three.
  expect(turns).toEqual(['slow', 'fast', 'fast', 'fast']);
});

test('speeds are tokens of CPU time, and speed-ups are of neighbouring turns', () => {
  const time = (ms: number, cpu: number) => ({ ms, runs: 1, cpu });
  const ours = { graph: time(100, 80), fused: time(50, 40), int8: time(25, 20), w8a8: time(20, 16) };
  const row = against([{ ...ours, peer: time(200, 240) }], 'peer', { groups: 1, samples: 2 });
  // Two samples of 48 tokens.
  expect(row.perCpuSecond.median).toBeCloseTo(400, 10);
  const fused = row.ours.find(({ way }) => way === 'fused')!;
  expect(fused.perCpuSecond.median).toBeCloseTo(2400, 10);
  expect(fused.speedup.cpu.median).toBe(6);
  expect(fused.speedup.wall.median).toBe(4);
});
