/** What an episode looks like, as numbers: a stand-in for what a video model says of it. */
import type { Image } from '../../core/images/image.ts';
import { PATCH } from '../../core/images/patches.ts';

/** The mean red, green and blue of each patch, from 0 to 1 [3 × patches]. */
function patchColours({ width, height, pixels }: Image): number[] {
  const columns = width / PATCH;
  const sums = new Array<number>(3 * columns * (height / PATCH)).fill(0);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const patch = Math.floor(pixel / width / PATCH) * columns + Math.floor((pixel % width) / PATCH);
    for (let colour = 0; colour < 3; colour++) sums[3 * patch + colour]! += pixels[3 * pixel + colour]!;
  }
  return sums.map((sum) => sum / (255 * PATCH * PATCH));
}

/** The mean of the colours of all frames of an episode, and those of its last frame [6 × patches]. */
export function episodeColours(frames: readonly Image[]): number[] {
  const colours = frames.map(patchColours);
  const means = colours[0]!.map((_, i) => colours.reduce((sum, frame) => sum + frame[i]!, 0) / frames.length);
  return [...means, ...colours.at(-1)!];
}
