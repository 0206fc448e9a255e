/**
 * Patches: squares of an image that take one position of a sequence each, and go through one learned projection into its embeddings (as in Fuyu-8B,
 * Adept, 2023). In lists of token ids a patch is a number beyond every vocabulary, which tells its place and a word of the image's sha256. All that
 * is derived from token ids, such as seeds, caches and the keys of records, therefore depends on the image as well.
 */
import { wrongInput } from '../errors.ts';
import { LONGEST_CONTEXT, type TokenIds } from '../policy/policy.ts';
import { type Image, isKept, keepImage, keptImage, LONGEST_SIDE } from './image.ts';

/** Pixels of a patch's side. */
export const PATCH = 8;
const PATCH_NUMBERS = 3 * PATCH * PATCH;

/** How a policy sees. */
export interface Vision {
  /** Rows and columns of patches that it has positions for. */
  readonly rows: number;
  readonly columns: number;
  /** The token whose embedding every patch begins with. */
  readonly token: number;
}

/** The fewest rows and columns of an image. A smaller one is padded: its hash has eight words, and each patch tells one. */
const FEWEST = 3;
const WORDS = 8;
const HEX_OF_WORD = 8;

const FIRST_PATCH = 2 ** 48;
const ROW = 2 ** 40;
const COLUMN = 2 ** 32;

/** A patch of an image, by its row and column from the top left. */
export interface Patch {
  /** The sha256 of the image. */
  readonly image: string;
  readonly row: number;
  readonly column: number;
}

/** Rows and columns of patches that an image is cut into. */
export interface Grid {
  readonly rows: number;
  readonly columns: number;
}

const cells = (pixels: number): number => Math.max(FEWEST, Math.ceil(pixels / PATCH));

/** Throws `image.size` for an image without pixels, and for one of more patches than any sequence may have tokens. */
export function expectFewPatches(width: number, height: number): void {
  if (width >= 1 && height >= 1 && Math.max(width, height) <= LONGEST_SIDE) {
    if (cells(width) * cells(height) <= LONGEST_CONTEXT) return;
  }
  throw wrongInput('image.size', `An image has ${width} × ${height} pixels.`, {
    expected: `sides from 1 to ${LONGEST_SIDE}, and at most ${LONGEST_CONTEXT} patches of ${PATCH} × ${PATCH}`,
    next: 'Make it smaller.',
  });
}

export const isPatch = (id: number): boolean => id >= FIRST_PATCH;

/** The tokens of ids: every patch has the one that the policy begins it with. */
export const tokensOf = (ids: TokenIds, vision: Vision | undefined): TokenIds =>
  vision ? ids.map((id) => (isPatch(id) ? vision.token : id)) : ids;

/** The place of an image in a text of a file of tasks. */
export const IMAGE_PLACE = '<image>';
/** The project's texts of images, which a prompt may hold. */
const IMAGE_TEXT = /<image:([0-9a-f]{64}):(\d{1,3})x(\d{1,3})>/g;

/** Keeps an image, and returns the text by which a prompt shows it: `<image:SHA256:ROWSxCOLUMNS>`. */
export const imageText = (image: Image): string =>
  `<image:${keepImage(image)}:${cells(image.height)}x${cells(image.width)}>`;

/** The images that a text shows. */
export const imagesNamed = (text: string): (Grid & { readonly image: string })[] =>
  [...text.matchAll(IMAGE_TEXT)].map(([, image, rows, columns]) => ({
    image: image!,
    rows: Number(rows),
    columns: Number(columns),
  }));

/** The images of a text, without what it says. */
export const imagesAlone = (text: string): string => imagesNamed(text).map(textOfShown).join('');

/** A text with `<image>` in the place of each image, as files of tasks have it. */
export const withPlaces = (text: string): string => text.replace(IMAGE_TEXT, IMAGE_PLACE);

/** Does a text show an image that this process has? */
export const showsKept = (text: string): boolean => imagesNamed(text).some(({ image }) => isKept(image));

/** Throws `policy.blind` where a policy that does not see is to be shown images, and `image.too-large` where they have more patches than it has positions for. */
export function expectSees(
  { rows, columns }: Grid,
  vision: Vision | undefined,
  { policy, recipe }: { readonly policy: string; readonly recipe: string },
): void {
  if (!vision)
    throw wrongInput('policy.blind', `The policy ${policy} does not see, and ${recipe} shows images.`, {
      expected: 'a policy whose config.json has `vision`',
      next: 'Train one that began as canvas: leave --policy out, or import models/canvas.',
    });
  if (rows > vision.rows || columns > vision.columns)
    throw wrongInput(
      'image.too-large',
      `The images of ${recipe} have up to ${PATCH * rows} × ${PATCH * columns} pixels in height and width.`,
      {
        expected: `at most ${PATCH * vision.rows} × ${PATCH * vision.columns}, as much as the policy ${policy} has positions for`,
        next: 'Make them smaller.',
      },
    );
}

/**
 * A text in pieces, every second of which is the ids of an image's patches, row by row. Throws `image.grid` for an image of too few or too many rows or
 * columns, and `image.patches` where there are more patches than any sequence may have tokens: eighty characters name up to 65,025 of them.
 */
export function piecesOf(text: string): (string | number[])[] {
  const pieces: (string | number[])[] = [];
  let [at, patches] = [0, 0];
  for (const { index, 0: whole, 1: image, 2: rows, 3: columns } of text.matchAll(IMAGE_TEXT)) {
    const grid = { rows: Number(rows), columns: Number(columns) };
    patches += grid.rows * grid.columns;
    if (patches > LONGEST_CONTEXT)
      throw wrongInput('image.patches', `The images of a prompt have ${patches} patches or more.`, {
        expected: `at most ${LONGEST_CONTEXT}, as many as the longest sequence has tokens`,
        next: 'Show fewer images, or smaller ones.',
      });
    pieces.push(text.slice(at, index), patchIds(image!, grid));
    at = index + whole.length;
  }
  return [...pieces, text.slice(at)];
}

function patchIds(image: string, { rows, columns }: Grid): number[] {
  if (rows < FEWEST || columns < FEWEST || rows > 255 || columns > 255)
    throw wrongInput('image.grid', `An image of ${rows} × ${columns} patches is shown.`, {
      expected: `from ${FEWEST} to 255 rows and columns`,
    });
  return Array.from({ length: rows * columns }, (_, i) => {
    const at = HEX_OF_WORD * (i % WORDS);
    const word = Number.parseInt(image.slice(at, at + HEX_OF_WORD), 16);
    return FIRST_PATCH + Math.floor(i / columns) * ROW + (i % columns) * COLUMN + word;
  });
}

const rowOf = (id: number): number => Math.floor((id - FIRST_PATCH) / ROW);
const columnOf = (id: number): number => Math.floor((id % ROW) / COLUMN);
const wordOf = (id: number): string => (id % COLUMN).toString(16).padStart(HEX_OF_WORD, '0');

/** An image in a list of ids, whose patches begin at index `at`. */
interface Shown extends Grid {
  readonly image: string;
  readonly at: number;
}

/** The images of a list of ids. Throws `image.ids` where patches are no whole image. */
export function imagesIn(ids: TokenIds): Shown[] {
  const found: Shown[] = [];
  for (let at = 0; at < ids.length; at++) {
    if (!isPatch(ids[at]!)) continue;
    let columns = 1;
    while (at + columns < ids.length && isBeside(ids[at + columns]!, 0, columns)) columns++;
    let length = columns;
    while (
      at + length < ids.length &&
      isBeside(ids[at + length]!, Math.floor(length / columns), length % columns)
    )
      length++;
    const image = ids
      .slice(at, at + WORDS)
      .map(wordOf)
      .join('');
    const shown = { image, at, rows: length / columns, columns };
    const isWhole =
      Number.isInteger(shown.rows) &&
      shown.rows >= FEWEST &&
      columns >= FEWEST &&
      patchIds(image, shown).every((id, i) => id === ids[at + i]);
    if (!isWhole)
      throw wrongInput('image.ids', `The ids from index ${at} on are patches of no whole image.`, {
        expected: 'all patches of an image, row by row',
      });
    found.push(shown);
    at += length - 1;
  }
  return found;
}

const isBeside = (id: number, row: number, column: number): boolean =>
  isPatch(id) && rowOf(id) === row && columnOf(id) === column;

/** The text of an image in a list of ids. */
export const textOfShown = ({ image, rows, columns }: Omit<Shown, 'at'>): string =>
  `<image:${image}:${rows}x${columns}>`;

/**
 * The patches of a list of ids by their indices. Throws `image.ids` where they are no whole images, and `image.too-large` for an image of more rows or
 * columns than the policy has positions for.
 */
export function patchesIn(ids: TokenIds, vision: Vision): ReadonlyMap<number, Patch> {
  const patches = new Map<number, Patch>();
  for (const { image, at, rows, columns } of imagesIn(ids)) {
    if (rows > vision.rows || columns > vision.columns)
      throw wrongInput('image.too-large', `An image has ${rows} × ${columns} patches.`, {
        expected: `at most ${vision.rows} × ${vision.columns}, as many as the policy has positions for`,
        next: 'Make the image smaller.',
      });
    for (let i = 0; i < rows * columns; i++)
      patches.set(at + i, { image, row: Math.floor(i / columns), column: i % columns });
  }
  return patches;
}

/** How many numbers a patch goes into the projection with: its pixels, and which row and which column it is in. */
export const patchWidth = ({ rows, columns }: Vision): number => PATCH_NUMBERS + rows + columns;

/**
 * The numbers of patches [patches, patchWidth]: red, green and blue of each pixel, row by row, from 0 and 255 to -1 and 1, and 0 beyond the image's edge;
 * then 1 at the patch's row and at its column, 0 elsewhere. So the projection has an embedding for each row and each column among its columns.
 */
export function patchNumbers(patches: readonly Patch[], vision: Vision): Float32Array {
  const width = patchWidth(vision);
  const numbers = new Float32Array(patches.length * width);
  for (const [p, { image, row, column }] of patches.entries()) {
    const { width: across, height, pixels } = keptImage(image);
    const from = p * width;
    for (let y = 0; y < Math.min(PATCH, height - PATCH * row); y++)
      for (let x = 0; x < Math.min(PATCH, across - PATCH * column); x++)
        for (let colour = 0; colour < 3; colour++) {
          const value = pixels[3 * ((PATCH * row + y) * across + PATCH * column + x) + colour]!;
          numbers[from + 3 * (PATCH * y + x) + colour] = (2 * value - 255) / 255;
        }
    numbers[from + PATCH_NUMBERS + row] = 1;
    numbers[from + PATCH_NUMBERS + vision.rows + column] = 1;
  }
  return numbers;
}
