/**
 * A frozen lake of 4 x 4 cells: reach the goal and avoid the holes, on ice on which an action may slip to either side. The random events are part of
 * the seed: the same seed and actions give the same episode. Reaching the goal earns 1; every other end earns 0.
 */
import { deriveId, Random } from '../../core/random.ts';
import { drawUntil, isHeldOutKey } from '../../core/recipe/split.ts';
import type { Environment, Situation } from '../environment.ts';
import { ILLEGAL_REWARD } from '../environment.ts';
import { isMove, MOVE_NAMES, type Move, neighbour, shortest, shown } from './board.ts';

const SIDE = 4;
const CELLS = SIDE * SIDE;

export interface Lake {
  readonly seed: string;
  /** 16 of `.` ice, `o` hole, `g` goal, in reading order. */
  readonly map: string;
  readonly at: number;
  readonly turns: number;
  readonly done: boolean;
}

/** What the cells of an observation are. */
export const LAKE_CELLS: Readonly<Record<string, string>> = {
  p: 'agent',
  g: 'goal',
  o: 'hole',
  x: 'agent in a hole',
  '.': 'ice',
};

export interface LakeSettings {
  readonly holes: number;
  /** Probability of going to one of the two sides instead, each with half of it; FrozenLake's is 2/3. */
  readonly slip: number;
  readonly maxTurns: number;
  /** Whether worlds come from the held-out side of the split instead of the other. */
  readonly heldOut: boolean;
}

/** Three goes that may follow an action, with their probabilities. */
export function outcomes(move: Move, slip: number): readonly (readonly [Move, number])[] {
  const i = MOVE_NAMES.indexOf(move);
  const side = (turn: number) => MOVE_NAMES[(i + turn) % 4]!;
  return [
    [move, 1 - slip],
    [side(1), slip / 2],
    [side(3), slip / 2],
  ];
}

/** Where an action leads, given this turn’s random event. */
function slipped(action: Move, slip: number, seed: string, turn: number): Move {
  const goes = outcomes(action, slip);
  const luck = new Random(deriveId('lake/slip', seed, turn));
  return goes[luck.weighted(goes.map(([, probability]) => probability))]![0];
}

const go = (at: number, move: Move): number => neighbour(SIDE, at, move) ?? at;

/** Fewest moves from a cell to the goal when no action slips; null where holes block every way. */
export const lakeDistance = (map: string, at: number): number | null =>
  shortest(
    at,
    (cell) => map[cell] === 'g',
    (cell) =>
      map[cell] === '.' ? MOVE_NAMES.map((move) => go(cell, move)).filter((to) => map[to] !== 'o') : [],
  );

/** [turns left + 1][cell]: the highest probability to reach the goal in time, by backward induction. */
export function lakeValues(map: string, slip: number, turns: number): readonly Float64Array[] {
  const values = [Float64Array.from(map, (cell) => (cell === 'g' ? 1 : 0))];
  for (let left = 1; left <= turns; left++) {
    const before = values[left - 1]!;
    values.push(
      Float64Array.from(map, (cell, at) =>
        cell === '.' ? Math.max(...MOVE_NAMES.map((move) => expected(before, at, move, slip))) : before[at]!,
      ),
    );
  }
  return values;
}

const expected = (values: Float64Array, at: number, move: Move, slip: number): number =>
  outcomes(move, slip).reduce((sum, [to, probability]) => sum + probability * values[go(at, to)]!, 0);

/** Actions of optimal play from a state. */
export function bestLakeMoves(map: string, at: number, turnsLeft: number, slip: number): Move[] {
  if (turnsLeft < 1 || map[at] !== '.') return [];
  const values = lakeValues(map, slip, turnsLeft - 1).at(-1)!;
  const worth = MOVE_NAMES.map((move) => expected(values, at, move, slip));
  return MOVE_NAMES.filter((_, i) => worth[i]! >= Math.max(...worth) - 1e-12);
}

/** A map on which the goal can be reached: start, goal and holes on different cells. */
function drawLake(random: Random, { holes, maxTurns, heldOut }: LakeSettings): { map: string; at: number } {
  return drawUntil(
    () => {
      const [at, goal, ...rest] = random.shuffle(Array.from({ length: CELLS }, (_, i) => i));
      const wet = new Set(rest.slice(0, holes));
      const map = Array.from({ length: CELLS }, (_, i) => (i === goal ? 'g' : wet.has(i) ? 'o' : '.')).join(
        '',
      );
      return { map, at: at! };
    },
    ({ map, at }) => {
      const distance = lakeDistance(map, at);
      return distance !== null && distance <= maxTurns && isHeldOutKey('lake', map) === heldOut;
    },
  );
}

function show(state: Lake, reward: number, legal: boolean): Situation<Lake> {
  const cells = [...state.map];
  cells[state.at] = state.map[state.at] === 'o' ? 'x' : 'p';
  return shown(state, cells, SIDE, reward, legal);
}

/** The lake under given settings; the defaults are deterministic. */
export function lake(settings: Partial<LakeSettings> = {}): Environment<Lake> {
  const full: LakeSettings = { holes: 3, slip: 0, maxTurns: 10, heldOut: false, ...settings };
  return {
    name: 'lake',
    players: 1,
    maxTurns: full.maxTurns,
    reset(seed) {
      const { map, at } = drawLake(new Random(deriveId('lake', seed)), full);
      return show({ seed, map, at, turns: 0, done: false }, 0, true);
    },
    step(state, action) {
      if (state.done) return show(state, 0, false);
      const turns = state.turns + 1;
      const late = turns >= full.maxTurns;
      if (!isMove(action)) return show({ ...state, turns, done: late }, ILLEGAL_REWARD, false);
      const at = go(state.at, full.slip > 0 ? slipped(action, full.slip, state.seed, turns) : action);
      const done = late || state.map[at] !== '.';
      return show({ ...state, at, turns, done }, state.map[at] === 'g' ? 1 : 0, true);
    },
  };
}
