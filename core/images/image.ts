/**
 * Images by their hash. An image is its pixels: who brings a file decodes it once, and every place after that has the same numbers. The process keeps
 * the images that it was given lately, so that a prompt needs to name them only.
 */
import { wrongInput } from '../errors.ts';
import { sha256Hex } from '../random.ts';

export interface Image {
  /** Pixels, from 1 to LONGEST_SIDE. */
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel, row by row [height * width * 3]. */
  readonly pixels: Uint8Array;
}

/** The most pixels of a side: a row of patches is told in a byte (patches.ts). */
export const LONGEST_SIDE = 2040;

/** The most bytes of images that a program of Node keeps: as many as those of all files of a command may have. */
export const MOST_IMAGE_BYTES = 256 * 1024 * 1024;

const isSide = (side: number): boolean => Number.isInteger(side) && side >= 1 && side <= LONGEST_SIDE;

/** An image as the bytes of a portable pixmap (PPM, type P6), by which it is hashed, and as which it is stored. */
export function pixmap({ width, height, pixels }: Image): Uint8Array<ArrayBuffer> {
  const header = new TextEncoder().encode(`P6\n${width} ${height}\n255\n`);
  const bytes = new Uint8Array(header.length + pixels.length);
  bytes.set(header);
  bytes.set(pixels, header.length);
  return bytes;
}

/** The most bytes of a pixmap whose sides may be told. */
export const MOST_PIXMAP_BYTES = 3 * LONGEST_SIDE * LONGEST_SIDE + 32;
const HEADER = /^P6\n(\d{1,4}) (\d{1,4})\n255\n/;
const LONGEST_HEADER = 'P6\n2040 2040\n255\n'.length;

/** The image of a pixmap as `pixmap` writes it; null for other bytes. */
export function readPixmap(bytes: Uint8Array): Image | null {
  const [header, width, height] =
    HEADER.exec(String.fromCharCode(...bytes.subarray(0, LONGEST_HEADER))) ?? [];
  if (header === undefined) return null;
  const image = { width: Number(width), height: Number(height), pixels: bytes.slice(header.length) };
  return isSide(image.width) && isSide(image.height) && image.pixels.length === 3 * image.width * image.height
    ? image
    : null;
}

/** Images by the sha256 of their pixmaps. Beyond `mostBytes` of pixels, those that were not used for the longest time are forgotten. */
export class KeptImages {
  /** The one that was used last at the end. */
  readonly #images = new Map<string, Image>();
  #bytes = 0;
  mostBytes: number;

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes;
  }

  keep(image: Image): string {
    const { width, height, pixels } = image;
    if (!isSide(width) || !isSide(height) || pixels.length !== 3 * width * height)
      throw wrongInput('image.size', `An image of ${width} × ${height} pixels has ${pixels.length} bytes.`, {
        expected: `sides from 1 to ${LONGEST_SIDE} and three bytes for each pixel`,
      });
    const sha256 = sha256Hex(pixmap(image));
    if (!this.has(sha256)) this.#bytes += pixels.length;
    this.#use(sha256, image);
    for (const [oldest, { pixels: old }] of this.#images) {
      if (this.#bytes <= this.mostBytes || oldest === sha256) break;
      this.#images.delete(oldest);
      this.#bytes -= old.length;
    }
    return sha256;
  }

  has(sha256: string): boolean {
    return this.#images.has(sha256);
  }

  get(sha256: string): Image {
    const image = this.#images.get(sha256);
    if (!image)
      throw wrongInput('image.unknown', `There is no image with the sha256 ${sha256} in this process.`, {
        expected: 'an image that a prompt of this process shows',
        next: 'Write the prompt again where its image is at hand.',
      });
    this.#use(sha256, image);
    return image;
  }

  #use(sha256: string, image: Image): void {
    this.#images.delete(sha256);
    this.#images.set(sha256, image);
  }
}

/** Those of this process: as many bytes as an isolate has room for. */
const kept = new KeptImages(32 * 1024 * 1024);

/** Keeps up to so many bytes of images from now on: for programs that have more room than an isolate. */
export function keepImagesUpTo(bytes: number): void {
  kept.mostBytes = Math.max(kept.mostBytes, bytes);
}

/** Keeps an image, and returns the sha256 of its pixmap. Throws `image.size` where its sides and its pixels do not fit. */
export const keepImage = (image: Image): string => kept.keep(image);

/** Has this process the image of that hash? */
export const isKept = (sha256: string): boolean => kept.has(sha256);

/** The image of that hash. Throws `image.unknown` where this process was not given it, or has forgotten it. */
export const keptImage = (sha256: string): Image => kept.get(sha256);
