/** Grid worlds as the page shows them: boards as grids, moves as arrows, and where an episode ended. */
import { type Part, readTagsWith } from '../../core/recipe/reading.ts';
import { isMove, type Move } from './board.ts';
import { gridOutcome, openGrid } from './play.ts';

const ARROWS: Readonly<Record<Move, string>> = { u: '↑', r: '→', d: '↓', l: '←' };
const BOARD = /^[a-z.]+(?:\n[a-z.]+)+$/;

const isBoard = (text: string) =>
  BOARD.test(text) && new Set(text.split('\n').map((row) => row.length)).size === 1;

const arrowsOf = (text: string) =>
  text
    .split(' ')
    .map((word) => (isMove(word) ? ARROWS[word] : word))
    .join(' ');

export const gridParts = (text: string): Part[] =>
  readTagsWith(text, (part) => {
    if (part.kind === 'text' && isBoard(part.text)) return [{ kind: 'grid', text: part.text }];
    return [part.kind === 'answer' ? { kind: 'answer', text: arrowsOf(part.text) } : part];
  });

/** The kind of world and its first board. */
export const gridTitle = (task: string): Part[] => [
  { kind: 'text', text: task.split(' ')[0]! },
  { kind: 'grid', text: openGrid(task).start().observation },
];

/** The board after the last turn, and the outcome of the episode. */
export function gridEnding(task: string, turns: readonly string[]): Part[] {
  const game = openGrid(task);
  let now = game.start();
  for (const text of turns) now = game.turn(now, text);
  const { success, actions } = gridOutcome(openGrid(task), turns);
  const end = success ? 'the goal is reached' : now.done ? 'the episode ended without the goal' : 'not ended';
  return [
    { kind: 'grid', text: now.observation },
    { kind: 'note', text: `${end}, ${actions} ${actions === 1 ? 'action' : 'actions'}` },
  ];
}
