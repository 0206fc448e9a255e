/** How a camera was held: the orientation that Exif notes (tag 274), by which those who show an image turn it. Source: CIPA DC-008, 4.6.4 and 4.6.5. */
import type { Image } from './image.ts';

const TAG = 274;
/** A count of one number of two bytes. */
const SHORT = 3;
const ENTRY = 12;
const BEGIN = [...'Exif\0\0'].map((character) => character.charCodeAt(0));

/** The orientation that an Exif segment notes, 1 to 8; undefined where it is another segment, notes none, or is damaged. */
export function orientationIn(segment: Uint8Array): number | undefined {
  if (!BEGIN.every((byte, i) => segment[i] === byte)) return undefined;
  const tiff = segment.subarray(BEGIN.length);
  const little = tiff[0] === 0x49;
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.length);
  try {
    const directory = view.getUint32(4, little);
    for (let i = 0; i < view.getUint16(directory, little); i++) {
      const entry = directory + 2 + i * ENTRY;
      if (view.getUint16(entry, little) !== TAG || view.getUint16(entry + 2, little) !== SHORT) continue;
      const value = view.getUint16(entry + 8, little);
      return value >= 1 && value <= 8 ? value : undefined;
    }
  } catch {
    // An address that leads out of the segment.
  }
  return undefined;
}

/** Where the pixel at column x and line y of the turned image stands in the image of `width` × `height` pixels: column and line. */
const SOURCE: Readonly<
  Record<number, (x: number, y: number, width: number, height: number) => readonly [number, number]>
> = {
  2: (x, y, width) => [width - 1 - x, y],
  3: (x, y, width, height) => [width - 1 - x, height - 1 - y],
  4: (x, y, _, height) => [x, height - 1 - y],
  5: (x, y) => [y, x],
  6: (x, y, _, height) => [y, height - 1 - x],
  7: (x, y, width, height) => [width - 1 - y, height - 1 - x],
  8: (x, y, width) => [width - 1 - y, x],
};

/** The image upright: turned and mirrored by the orientation of its file. */
export function upright(image: Image, orientation: number): Image {
  const source = SOURCE[orientation];
  if (!source) return image;
  const [width, height] = orientation >= 5 ? [image.height, image.width] : [image.width, image.height];
  const pixels = new Uint8Array(image.pixels.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [from, line] = source(x, y, image.width, image.height);
      const at = 3 * (line * image.width + from);
      pixels.set(image.pixels.subarray(at, at + 3), 3 * (y * width + x));
    }
  return { width, height, pixels };
}
