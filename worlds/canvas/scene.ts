/**
 * What is on a canvas: shapes with a size, a colour and a place, as text and as pixels.
 *
 *     4x3 7f3a01c2: big red circle at 1,2; small blue cross at 3,0
 *
 * is a canvas of four rows and three columns of cells, of 8 × 8 pixels each, the noise of its pixels, and its shapes by row and column from the top left.
 */
import type { Image } from '../../core/images/image.ts';
import { Random } from '../../core/random.ts';

export const SIZES = ['small', 'big'] as const;
/** Red, green and blue, from 0 to 255. */
export const PAINTS = {
  red: [215, 50, 45],
  green: [50, 165, 70],
  blue: [55, 85, 215],
  yellow: [230, 205, 60],
  purple: [150, 60, 175],
  white: [235, 235, 235],
} as const;
export type Colour = keyof typeof PAINTS;
export const COLOURS = Object.keys(PAINTS) as Colour[];

/** Is a pixel of a square of `side` pixels, an odd number, in the shape? `x` and `y` are its distances from the middle. */
type Form = (x: number, y: number, side: number) => boolean;
export const FORMS = {
  square: () => true,
  circle: (x, y, side) => 4 * (x * x + y * y) <= side * (side - 1),
  triangle: (x, y, side) => 4 * Math.abs(x) <= 2 * y + side - 1,
  cross: (x, y, side) => Math.min(Math.abs(x), Math.abs(y)) <= (side > 5 ? 1 : 0),
} as const satisfies Record<string, Form>;
export type Shape = keyof typeof FORMS;
export const SHAPES = Object.keys(FORMS) as Shape[];

export interface Thing {
  readonly size: (typeof SIZES)[number];
  readonly colour: Colour;
  readonly shape: Shape;
  readonly row: number;
  readonly column: number;
}

export interface Scene {
  readonly rows: number;
  readonly columns: number;
  /** Eight hexadecimal digits, from which the noise of the pixels follows and where each shape stands within its cell. */
  readonly noise: string;
  /** At least one, in the order of their cells. */
  readonly things: readonly Thing[];
}

const FEWEST_CELLS = 3;
const MOST_CELLS = 6;
const MOST_THINGS = 6;

/** Pixels of a cell's side, and of a shape's. */
const CELL = 8;
/** A cell is a patch. */
export const LARGEST_CANVAS = { rows: MOST_CELLS, columns: MOST_CELLS } as const;
const SIDES = { small: 5, big: 7 } as const;

const thingText = ({ size, colour, shape, row, column }: Thing): string =>
  `${size} ${colour} ${shape} at ${row},${column}`;

/** What is on the canvas, without its noise. */
export const contentOf = ({ rows, columns, things }: Scene): string =>
  `${rows}x${columns}: ${things.map(thingText).join('; ')}`;

export const writeScene = (scene: Scene): string => contentOf(scene).replace(':', ` ${scene.noise}:`);

const CELLS = `[${FEWEST_CELLS}-${MOST_CELLS}]`;
const THING = `(?:${SIZES.join('|')}) (?:${COLOURS.join('|')}) (?:${SHAPES.join('|')}) at \\d,\\d`;
const SCENE = new RegExp(`^(${CELLS})x(${CELLS}) ([0-9a-f]{8}): (${THING}(?:; ${THING})*)$`);

/** The inverse of `writeScene`; null where the text is no scene. */
export function readScene(text: string): Scene | null {
  const match = SCENE.exec(text) as unknown as [string, string, string, string, string] | null;
  if (!match) return null;
  const things = match[4].split('; ').map((each) => {
    const [size, colour, shape, , at] = each.split(' ') as [Thing['size'], Colour, Shape, 'at', string];
    const [row, column] = at.split(',').map(Number) as [number, number];
    return { size, colour, shape, row, column };
  });
  const scene = { rows: Number(match[1]), columns: Number(match[2]), noise: match[3], things };
  const cells = things.map(({ row, column }) => row * scene.columns + column);
  const isInOrder = cells.every((cell, i) => i === 0 || cell > cells[i - 1]!);
  const isInside = things.every(({ row, column }) => row < scene.rows && column < scene.columns);
  return isInOrder && isInside && things.length <= MOST_THINGS ? scene : null;
}

const someCells = (random: Random): number => FEWEST_CELLS + random.int(MOST_CELLS - FEWEST_CELLS + 1);

/** A canvas with two to six shapes, by default of 24 to 48 pixels in height and width. `cells`: the length of a side. */
export function randomScene(random: Random, cells = someCells): Scene {
  const [rows, columns] = [cells(random), cells(random)];
  const noise = random.uint32().toString(16).padStart(8, '0');
  const taken = random.shuffle(Array.from({ length: rows * columns }, (_, cell) => cell));
  const count = 2 + random.int(MOST_THINGS - 1);
  const things = taken
    .slice(0, count)
    .sort((a, b) => a - b)
    .map((cell) => ({
      size: random.pick(SIZES),
      colour: random.pick(COLOURS),
      shape: random.pick(SHAPES),
      row: Math.floor(cell / columns),
      column: cell % columns,
    }));
  return { rows, columns, noise, things };
}

/** Half the span of noise, which is added to the three colours of a pixel alike. */
const GRAIN = 16;

/** The picture of a scene: shapes before a dark or a lighter grey, each anywhere within its cell, and grain over everything. */
export function drawScene({ rows, columns, noise, things }: Scene): Image {
  const random = new Random(`canvas/${noise}`);
  const [width, height] = [CELL * columns, CELL * rows];
  const pixels = new Uint8Array(3 * width * height).fill(40 + random.int(60));
  for (const { size, colour, shape, row, column } of things) {
    const side = SIDES[size];
    const middle = (side - 1) / 2;
    const [top, left] = [
      CELL * row + random.int(CELL - side + 1),
      CELL * column + random.int(CELL - side + 1),
    ];
    const isInside: Form = FORMS[shape];
    for (let y = 0; y < side; y++)
      for (let x = 0; x < side; x++)
        if (isInside(x - middle, y - middle, side))
          pixels.set(PAINTS[colour], 3 * ((top + y) * width + left + x));
  }
  for (let pixel = 0, word = 0; pixel < width * height; pixel++) {
    // Four pixels take the bytes of one random number.
    word = pixel % 4 ? word >>> 8 : random.uint32();
    const grain = ((word & 0xff) >> 3) - GRAIN;
    for (let at = 3 * pixel; at < 3 * pixel + 3; at++)
      pixels[at] = Math.max(0, Math.min(255, pixels[at]! + grain));
  }
  return { width, height, pixels };
}
