/** A small grid as rows of characters, and the four moves on it. */
import type { Situation } from '../environment.ts';

export const MOVES = { u: [-1, 0], r: [0, 1], d: [1, 0], l: [0, -1] } as const;
export type Move = keyof typeof MOVES;
/** In circular order: neighbours are perpendicular. */
export const MOVE_NAMES: readonly Move[] = ['u', 'r', 'd', 'l'];

export const isMove = (text: string): text is Move => text in MOVES && text.length === 1;

/** The cell one move away on a square grid, null across the edge. Cells count in reading order. */
export function neighbour(side: number, cell: number, move: Move): number | null {
  const [down, right] = MOVES[move];
  const row = Math.floor(cell / side) + down;
  const column = (cell % side) + right;
  return row < 0 || column < 0 || row >= side || column >= side ? null : row * side + column;
}

/** Cells as text of `side` lines. */
const lines = (cells: readonly string[], side: number): string =>
  Array.from({ length: side }, (_, r) => cells.slice(r * side, (r + 1) * side).join('')).join('\n');

/** What the player of a grid is shown after a move; when it is over, there is no further one. */
export const shown = <S extends { readonly done: boolean }>(
  state: S,
  cells: readonly string[],
  side: number,
  reward: number,
  legal: boolean,
): Situation<S> => ({
  state,
  player: 0,
  observation: lines(cells, side),
  actions: state.done ? [] : MOVE_NAMES,
  rewards: [reward],
  done: state.done,
  legal,
});

/** Breadth-first distance from a state to the first that is a goal; null where there is none. */
export function shortest(
  start: number,
  isGoal: (state: number) => boolean,
  next: (state: number) => readonly number[],
): number | null {
  const seen = new Set([start]);
  let frontier = [start];
  for (let distance = 0; frontier.length > 0; distance++) {
    if (frontier.some(isGoal)) return distance;
    const beyond: number[] = [];
    for (const state of frontier.flatMap(next)) {
      if (seen.has(state)) continue;
      seen.add(state);
      beyond.push(state);
    }
    frontier = beyond;
  }
  return null;
}
