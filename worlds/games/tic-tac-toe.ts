/**
 * Tic-tac-toe for two players, with perfect play by minimax. Actions are cells 1 … 9 in reading order; a win earns 1 and
 * costs 1, a draw nothing.
 */
import type { Environment, Situation } from '../environment.ts';
import { zeroSum } from '../environment.ts';
import { type Faults, faultOf } from './faults.ts';

export interface Board {
  /** Nine of `x`, `o`, `.`; x begins. */
  readonly cells: string;
  readonly faults: Faults;
  readonly done: boolean;
}

const LINES = ['012', '345', '678', '036', '147', '258', '048', '246'].map((line) => [...line].map(Number));

const moverOf = (cells: string): 0 | 1 => (cells.replaceAll('.', '').length % 2 === 0 ? 0 : 1);

/** The player who has three in a row, if one has. */
export function winnerOf(cells: string): 0 | 1 | null {
  for (const [a, b, c] of LINES)
    if (cells[a!] !== '.' && cells[a!] === cells[b!] && cells[b!] === cells[c!])
      return cells[a!] === 'x' ? 0 : 1;
  return null;
}

const isOver = (cells: string) => winnerOf(cells) !== null || !cells.includes('.');

const put = (cells: string, at: number): string =>
  cells.slice(0, at) + 'xo'[moverOf(cells)] + cells.slice(at + 1);

const emptyCells = (cells: string): number[] => [...cells].flatMap((cell, i) => (cell === '.' ? [i] : []));

const values = new Map<string, number>();

/** Outcome under perfect play of both, for the player to move: 1 won, 0 drawn, -1 lost. */
export function minimax(cells: string): number {
  const known = values.get(cells);
  if (known !== undefined) return known;
  // Only the player who moved last can have won.
  let value = winnerOf(cells) !== null ? -1 : emptyCells(cells).length === 0 ? 0 : -1;
  if (!isOver(cells)) value = Math.max(...emptyCells(cells).map((at) => 0 - minimax(put(cells, at))));
  values.set(cells, value);
  return value;
}

/** Every move that keeps the outcome of perfect play. */
export function bestMoves(cells: string): string[] {
  if (isOver(cells)) return [];
  const value = minimax(cells);
  return emptyCells(cells).flatMap((at) => (0 - minimax(put(cells, at)) === value ? [String(at + 1)] : []));
}

function show(state: Board, rewards: readonly number[], legal: boolean): Situation<Board> {
  const { cells, done } = state;
  const player = moverOf(cells);
  return {
    state,
    player,
    observation: `${cells.slice(0, 3)}\n${cells.slice(3, 6)}\n${cells.slice(6)}\nyou ${'xo'[player]}`,
    actions: done ? [] : emptyCells(cells).map((at) => String(at + 1)),
    rewards,
    done,
    legal,
  };
}

export const ticTacToe: Environment<Board> = {
  name: 'tic-tac-toe',
  players: 2,
  // Nine moves, and two refused ones of each player before a third ends the game.
  maxTurns: 13,
  reset: () => show({ cells: '.........', faults: [0, 0], done: false }, [0, 0], true),
  step(state, action) {
    if (state.done) return show(state, [0, 0], false);
    const player = moverOf(state.cells);
    const at = /^[1-9]$/.test(action) ? Number(action) - 1 : -1;
    if (state.cells[at] !== '.') {
      const { rewards, ...after } = faultOf(player, state.faults, 1);
      return show({ ...state, ...after }, rewards, false);
    }
    const cells = put(state.cells, at);
    const winner = winnerOf(cells);
    const next = { ...state, cells, done: isOver(cells) };
    return show(next, winner === null ? [0, 0] : zeroSum(winner), true);
  },
};
