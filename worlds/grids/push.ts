/**
 * One box on a 5 x 5 floor with walls: push it onto the target. A push against a wall is legal and moves nothing. Boxes cannot be pulled, so that a
 * wrong push can make a world unsolvable. The box on the target earns 1.
 */
import { deriveId, Random } from '../../core/random.ts';
import { drawUntil, isHeldOutKey } from '../../core/recipe/split.ts';
import type { Environment, Situation } from '../environment.ts';
import { ILLEGAL_REWARD } from '../environment.ts';
import { isMove, MOVE_NAMES, type Move, neighbour, shortest, shown } from './board.ts';

const SIDE = 5;
const CELLS = SIDE * SIDE;

/** What the cells of an observation are. */
export const PUSH_CELLS: Readonly<Record<string, string>> = {
  p: 'agent',
  q: 'agent on the place',
  b: 'box',
  t: 'place of the box',
  w: 'wall',
  '.': 'floor',
};

export interface PushWorld {
  /** 25 of `.` floor and `w` wall, in reading order. */
  readonly floor: string;
  readonly target: number;
  readonly at: number;
  readonly box: number;
}

export interface Push extends PushWorld {
  readonly turns: number;
  readonly done: boolean;
}

export interface PushSettings {
  readonly walls: number;
  /** Least and most moves of a shortest solution: the difficulty. */
  readonly distance: readonly [number, number];
  readonly maxTurns: number;
  readonly heldOut: boolean;
}

/** Where player and box are after a move. */
export function push<T extends PushWorld>(world: T, move: Move): T {
  const at = neighbour(SIDE, world.at, move);
  if (at === null || world.floor[at] === 'w') return world;
  if (at !== world.box) return { ...world, at };
  const box = neighbour(SIDE, at, move);
  return box === null || world.floor[box] === 'w' ? world : { ...world, at, box };
}

const pack = ({ at, box }: PushWorld) => at * CELLS + box;
const unpack = (world: PushWorld, packed: number): PushWorld => ({
  floor: world.floor,
  target: world.target,
  at: Math.floor(packed / CELLS),
  box: packed % CELLS,
});

/** Fewest moves to the goal; null when it is out of reach. */
export const pushDistance = (world: PushWorld): number | null =>
  shortest(
    pack(world),
    (packed) => packed % CELLS === world.target,
    (packed) => MOVE_NAMES.map((move) => pack(push(unpack(world, packed), move))),
  );

/** The moves that bring the goal nearer by one; none where it is out of reach or reached. */
export function bestPushMoves(world: PushWorld): Move[] {
  const distance = pushDistance(world);
  if (distance === null || distance === 0) return [];
  return MOVE_NAMES.filter((move) => pushDistance(push(world, move)) === distance - 1);
}

function drawWorld(random: Random, settings: PushSettings): PushWorld {
  const [least, most] = settings.distance;
  return drawUntil(
    () => {
      const [at, box, target, ...rest] = random.shuffle(Array.from({ length: CELLS }, (_, i) => i));
      const walls = new Set(rest.slice(0, settings.walls));
      const floor = Array.from({ length: CELLS }, (_, i) => (walls.has(i) ? 'w' : '.')).join('');
      return { floor, target: target!, at: at!, box: box! };
    },
    (world) => {
      // The start is left out of the key: the same room from another start would reveal half of the answer.
      if (isHeldOutKey('push', `${world.floor}/${world.target}/${world.box}`) !== settings.heldOut)
        return false;
      const distance = pushDistance(world);
      return distance !== null && distance >= least && distance <= most;
    },
  );
}

function show(state: Push, reward: number, legal: boolean): Situation<Push> {
  const cells = [...state.floor];
  cells[state.target] = 't';
  cells[state.box] = 'b';
  cells[state.at] = state.at === state.target ? 'q' : 'p';
  return shown(state, cells, SIDE, reward, legal);
}

/** Box pushing under given settings. `q` in the observation is the player on the target. */
export function boxPush(settings: Partial<PushSettings> = {}): Environment<Push> {
  const full: PushSettings = { walls: 3, distance: [2, 6], maxTurns: 12, heldOut: false, ...settings };
  return {
    name: 'push',
    players: 1,
    maxTurns: full.maxTurns,
    reset(seed) {
      const world = drawWorld(new Random(deriveId('push', seed)), full);
      return show({ ...world, turns: 0, done: false }, 0, true);
    },
    step(state, action) {
      if (state.done) return show(state, 0, false);
      const turns = state.turns + 1;
      const late = turns >= full.maxTurns;
      if (!isMove(action)) return show({ ...state, turns, done: late }, ILLEGAL_REWARD, false);
      const next = push(state, action);
      const solved = next.box === next.target;
      return show({ ...next, turns, done: late || solved }, solved ? 1 : 0, true);
    },
  };
}
