/** Views of a picture that is too large to be seen at once: the whole at half of its size, and its quarters as they are. */
import type { Image } from '../../core/images/image.ts';

/** A picture of half the height and width; `colourAt`: one of the three colours of a pixel of it. */
function ofHalf({ width, height }: Image, colourAt: (x: number, y: number, colour: number) => number): Image {
  const half = { width: width / 2, height: height / 2 };
  const pixels = new Uint8Array(3 * half.width * half.height);
  for (let y = 0; y < half.height; y++)
    for (let x = 0; x < half.width; x++)
      for (let colour = 0; colour < 3; colour++)
        pixels[3 * (y * half.width + x) + colour] = colourAt(x, y, colour);
  return { ...half, pixels };
}

const reader =
  ({ width, pixels }: Image) =>
  (x: number, y: number, colour: number): number =>
    pixels[3 * (y * width + x) + colour]!;

/** The whole at half of its height and width, which are even: each pixel is the mean of four, rounded down. */
export function halved(image: Image): Image {
  const at = reader(image);
  return ofHalf(image, (x, y, colour) => {
    const [left, top] = [2 * x, 2 * y];
    const sum =
      at(left, top, colour) +
      at(left + 1, top, colour) +
      at(left, top + 1, colour) +
      at(left + 1, top + 1, colour);
    return Math.floor(sum / 4);
  });
}

/** A quarter of a picture whose sides are even. `part`: from 1 to 4, row by row. */
export function quarter(image: Image, part: number): Image {
  const at = reader(image);
  const left = part % 2 ? 0 : image.width / 2;
  const top = part < 3 ? 0 : image.height / 2;
  return ofHalf(image, (x, y, colour) => at(left + x, top + y, colour));
}
