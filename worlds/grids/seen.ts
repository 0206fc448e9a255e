/**
 * The room with a box as a robot sees it: a picture of the board in place of its letters.
 *
 *     <solve><image:…><sep>   ->   <answer>u r<eos>
 */
import type { Image } from '../../core/images/image.ts';
import { imageText } from '../../core/images/patches.ts';
import { Random } from '../../core/random.ts';
import { characterTokenizer, TAGS } from '../../core/text/characters.ts';
import type { Demonstration } from '../demonstration.ts';
import { MOVE_NAMES } from './board.ts';
import { demonstratePush } from './demonstrations.ts';

/** The token whose embedding every patch of a picture begins with. */
export const PATCH_TOKEN = '<patch>';
/** Pixels of a cell's side: a cell is a patch. */
const CELL = 8;
/** Rows and columns of a room. */
export const ROOM = { rows: 5, columns: 5 } as const;

/** Red, green and blue of what is in a cell, and how many of its pixels it leaves free on each side. */
const PAINTS: Readonly<Record<string, { readonly paint: readonly number[]; readonly edge: number }>> = {
  '.': { paint: [225, 220, 205], edge: 0 },
  w: { paint: [70, 65, 60], edge: 0 },
  t: { paint: [90, 170, 90], edge: 2 },
  b: { paint: [170, 110, 50], edge: 1 },
  p: { paint: [60, 90, 200], edge: 1 },
  q: { paint: [60, 160, 200], edge: 1 },
};

/** The picture of a board, whose cells are letters. */
export function drawBoard(board: string): Image {
  const rows = board.split('\n');
  const [height, width] = [CELL * rows.length, CELL * rows[0]!.length];
  const pixels = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const { paint, edge } = PAINTS[rows[Math.floor(y / CELL)]![Math.floor(x / CELL)]!]!;
      const isInside = [x % CELL, y % CELL].every((at) => at >= edge && at < CELL - edge);
      pixels.set(isInside ? paint : PAINTS['.']!.paint, 3 * (y * width + x));
    }
  return { width, height, pixels };
}

/** Noise of a room's size. `key`: what it follows from. */
export function drawNoise(key: string): Image {
  const random = new Random(`noise/${key}`);
  const [height, width] = [CELL * ROOM.rows, CELL * ROOM.columns];
  const pixels = Uint8Array.from({ length: 3 * width * height }, () => random.int(256));
  return { width, height, pixels };
}

export const seenBoard = (board: string): string => imageText(drawBoard(board));

export const seenTokenizer = () =>
  characterTokenizer({
    control: [...TAGS, PATCH_TOKEN],
    unknown: '<unk>',
    characters: ` ${MOVE_NAMES.join('')}`,
  });

/** One turn of an episode, as in `grids`, by a robot that sees the room. */
export const demonstrateSeen = (random: Random): Demonstration => demonstratePush(random, seenBoard);
