import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isHeldOutKey } from '../../core/recipe/split.ts';
import type { Move } from '../../worlds/grids/board.ts';
import {
  bestLakeMoves,
  type Lake,
  lake,
  lakeDistance,
  lakeValues,
  outcomes,
} from '../../worlds/grids/lake.ts';
import { bestPushMoves, boxPush, type PushWorld, push, pushDistance } from '../../worlds/grids/push.ts';

const LETTERS = ['u', 'r', 'd', 'l'] as const;
const DELTA = { u: [0, -1], r: [1, 0], d: [0, 1], l: [-1, 0] } as const;

/** Second opinion: best chance by plain recursion over x and y. */
function chance(rows: readonly string[], x: number, y: number, turns: number, slip: number): number {
  const cell = rows[y]![x]!;
  if (cell === 'g') return 1;
  if (cell === 'o' || turns === 0) return 0;
  const to = (i: number) => {
    const [dx, dy] = DELTA[LETTERS[(i + 4) % 4]!];
    const inside = x + dx >= 0 && x + dx < 4 && y + dy >= 0 && y + dy < 4;
    return inside ? chance(rows, x + dx, y + dy, turns - 1, slip) : chance(rows, x, y, turns - 1, slip);
  };
  const goes = [0, 1, 2, 3].map(to);
  return Math.max(
    ...goes.map((go, i) => (1 - slip) * go + (slip / 2) * (goes[(i + 1) % 4]! + goes[(i + 3) % 4]!)),
  );
}

test('lake, hand-worked: one step from the goal on slippery ice', () => {
  // Top left corner, goal to the right, hole below. Going right: 1/3 goal, 1/3 stays (up), 1/3 drowns (down).
  const map = ['.g..', 'o...', '....', '....'].join('');
  expect(lakeValues(map, 2 / 3, 1)[1]![0]).toBeCloseTo(1 / 3, 12);
  // Up: stays 1/3 (up) + 1/3 (left), goal 1/3 (right): never drowns, so after n turns 1 - (2/3)^n.
  expect(lakeValues(map, 2 / 3, 5)[5]![0]).toBeCloseTo(1 - (2 / 3) ** 5, 12);
  expect(bestLakeMoves(map, 0, 5, 2 / 3)).toEqual(['u']);
  expect(bestLakeMoves(map, 0, 5, 0)).toContain('r');
  expect(lakeDistance(map, 15)).toBe(5);
  expect(lakeDistance('.og.oo..........', 0)).toBeNull();
});

test('lake: values agree with plain recursion', () => {
  for (const [seed, slip] of [
    ['a', 0],
    ['b', 2 / 3],
    ['c', 0.3],
  ] as const) {
    const { map, at } = lake({ holes: 4 }).reset(seed).state;
    const rows = [0, 4, 8, 12].map((i) => map.slice(i, i + 4));
    for (const turns of [1, 3, 5])
      expect(lakeValues(map, slip, turns)[turns]![at]).toBeCloseTo(
        chance(rows, at % 4, Math.floor(at / 4), turns, slip),
        12,
      );
  }
});

test('lake: best moves lead from every drawn start to the goal in the shortest time', () => {
  const world = lake({ holes: 4 });
  for (let i = 0; i < 20; i++) {
    let now = world.reset(String(i));
    const distance = lakeDistance(now.state.map, now.state.at)!;
    for (let left = distance; left > 0; left--) {
      expect(now.done).toBe(false);
      now = world.step(now.state, bestLakeMoves(now.state.map, now.state.at, left, 0)[0]!);
    }
    expect(now).toMatchObject({ rewards: [1], done: true });
  }
});

test('lake: slips come as often as stated, and to the sides alone', () => {
  expect(outcomes('u', 0.5)).toEqual([
    ['u', 0.5],
    ['r', 0.25],
    ['l', 0.25],
  ]);
  const world = lake({ slip: 2 / 3 });
  const open: Lake = { seed: '', map: `g${'.'.repeat(15)}`, at: 10, turns: 0, done: false };
  const ends = Array.from({ length: 600 }, (_, i) => world.step({ ...open, seed: String(i) }, 'u').state.at);
  expect(new Set(ends)).toEqual(new Set([6, 9, 11]));
  // Four standard errors.
  for (const end of [6, 9, 11])
    expect(Math.abs(ends.filter((at) => at === end).length - 200)).toBeLessThan(4 * Math.sqrt((600 * 2) / 9));
});

/** Second opinion: distances by relaxing all pairs of player and box until nothing changes, on coordinates. */
function pushDistances(world: PushWorld): (at: number, box: number) => number {
  const free = (x: number, y: number) => x >= 0 && y >= 0 && x < 5 && y < 5 && world.floor[y * 5 + x] !== 'w';
  const best = new Map<string, number>();
  const value = (at: number, box: number) =>
    box === world.target ? 0 : (best.get(`${at},${box}`) ?? Infinity);
  for (let changed = true; changed; ) {
    changed = false;
    for (let at = 0; at < 25; at++)
      for (let box = 0; box < 25; box++) {
        if (at === box || world.floor[at] === 'w' || world.floor[box] === 'w') continue;
        for (const [dx, dy] of Object.values(DELTA)) {
          const [x, y] = [(at % 5) + dx, Math.floor(at / 5) + dy];
          if (!free(x, y)) continue;
          const pushes = y * 5 + x === box;
          if (pushes && !free(x + dx, y + dy)) continue;
          const after = value(y * 5 + x, pushes ? (y + dy) * 5 + x + dx : box) + 1;
          if (after < value(at, box)) {
            best.set(`${at},${box}`, after);
            changed = true;
          }
        }
      }
  }
  return value;
}

test('push, hand-worked: beside the box, behind it, and in a corner', () => {
  const floor = '.'.repeat(25);
  // Player, box, target in a row.
  expect(pushDistance({ floor, at: 10, box: 11, target: 12 })).toBe(1);
  expect(bestPushMoves({ floor, at: 10, box: 11, target: 12 })).toEqual(['r']);
  expect(pushDistance({ floor, at: 11, box: 0, target: 12 })).toBeNull();
  expect(bestPushMoves({ floor, at: 11, box: 0, target: 12 })).toEqual([]);
  expect(push({ floor, at: 1, box: 0, target: 12 }, 'l')).toMatchObject({ at: 1, box: 0 });
  expect(push({ floor: `..w${'.'.repeat(22)}`, at: 0, box: 1, target: 12 }, 'r')).toMatchObject({
    at: 0,
    box: 1,
  });
});

test('push: distances agree with relaxation, and best moves keep to them', () => {
  const world = boxPush({ walls: 5 });
  for (let i = 0; i < 4; i++) {
    let now = world.reset(`distance/${i}`);
    const oracle = pushDistances(now.state);
    const distance = pushDistance(now.state)!;
    expect(distance).toBe(oracle(now.state.at, now.state.box));
    for (let left = distance; left > 0; left--) {
      const moves: Move[] = bestPushMoves(now.state);
      for (const move of LETTERS) {
        const after = push(now.state, move);
        expect(moves.includes(move)).toBe(oracle(after.at, after.box) === left - 1);
      }
      now = world.step(now.state, moves[0]!);
    }
    expect(now).toMatchObject({ rewards: [1], done: true });
  }
});

test('worlds are on the wanted side of the split, and as far as asked', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.boolean(), (seed, heldOut) => {
      const { map } = lake({ heldOut }).reset(String(seed)).state;
      expect(isHeldOutKey('lake', map)).toBe(heldOut);
      const { floor, target, box, ...rest } = boxPush({ heldOut, distance: [3, 8] }).reset(
        String(seed),
      ).state;
      expect(isHeldOutKey('push', `${floor}/${target}/${box}`)).toBe(heldOut);
      const distance = pushDistance({ floor, target, box, at: rest.at })!;
      expect(distance >= 3 && distance <= 8).toBe(true);
    }),
    { numRuns: 12 },
  );
});
