/** What can be done to a picture of any size so that it keeps its size: damages, and shapes that are put on it. */
import type { Image } from '../../core/images/image.ts';
import { upright } from '../../core/images/orientation.ts';
import { FORMS } from '../canvas/scene.ts';

/** The picture with each colour of a pixel made of its three, from 0 to 255. */
function repainted(
  { width, height, pixels }: Image,
  paint: (red: number, green: number, blue: number) => readonly [number, number, number],
): Image {
  const painted = new Uint8Array(pixels.length);
  for (let at = 0; at < pixels.length; at += 3)
    painted.set(paint(pixels[at]!, pixels[at + 1]!, pixels[at + 2]!), at);
  return { width, height, pixels: painted };
}

/** Damages, of those that VideoSSR has (arXiv:2511.06281). */
export const DAMAGES = {
  inverted: (image: Image) => repainted(image, (red, green, blue) => [255 - red, 255 - green, 255 - blue]),
  swapped: (image: Image) => repainted(image, (red, green, blue) => [blue, green, red]),
  mirrored: (image: Image) => upright(image, 2),
  turned: (image: Image) => upright(image, 3),
} as const;
export type Damage = keyof typeof DAMAGES;

/** A picture has so many places in a row and in a column at which shapes can be put on it. */
const PLACES = 3;
export const STAMP_PLACES = PLACES * PLACES;
export const STAMPED = ['circle', 'square', 'triangle'] as const;
/** Red, green and blue of what is put on a picture, which nothing on a canvas has. */
const PAINT = [0, 255, 255];

export interface Stamp {
  readonly shape: (typeof STAMPED)[number];
  /** From 0 to STAMP_PLACES - 1, row by row from the top left. */
  readonly place: number;
}

/** A picture with shapes on it, each nearly a third as high as its shorter side. */
export function stamped({ width, height, pixels }: Image, stamps: readonly Stamp[]): Image {
  const painted = pixels.slice();
  const cell = Math.max(1, Math.floor(Math.min(width, height) / PLACES));
  // An odd number of pixels, so that a shape has a middle.
  const side = Math.max(1, cell - (cell % 2 ? 2 : 1));
  const middle = (side - 1) / 2;
  for (const { shape, place } of stamps) {
    const [top, left] = [cell * Math.floor(place / PLACES), cell * (place % PLACES)];
    for (let y = 0; y < side && top + y < height; y++)
      for (let x = 0; x < side && left + x < width; x++)
        if (FORMS[shape](x - middle, y - middle, side))
          painted.set(PAINT, 3 * ((top + y) * width + left + x));
  }
  return { width, height, pixels: painted };
}
