/** Games as the page shows them: boards as grids. */
import { type Part, readTagsWith } from '../../core/recipe/reading.ts';

const BOARD = /^((?:[a-z.]+\n)+[a-z.]+)\n(you [a-z])$/;

/** Cuts an observation with a board into the board and what stands under it. */
export const gameParts = (text: string): Part[] =>
  readTagsWith(text, (part) => {
    const [, board, rest] = part.kind === 'text' ? (BOARD.exec(part.text) ?? []) : [];
    return board && rest
      ? [
          { kind: 'grid', text: board },
          { kind: 'text', text: rest },
        ]
      : [part];
  });

/** Cuts an observation that is a board. */
export const meetParts = (text: string): Part[] =>
  readTagsWith(text, (part) => [
    part.kind === 'text' && /^(?:[a-z.]{4}\n){3}[a-z.]{4}$/.test(part.text)
      ? { kind: 'grid', text: part.text }
      : part,
  ]);
