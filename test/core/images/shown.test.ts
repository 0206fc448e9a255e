/** Images are read where a process lacks them, and stored by the process that drew them. */
import { createHash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { type Image, isKept, keptImage, pixmap, readPixmap } from '../../../core/images/image.ts';
import { imageText, piecesOf } from '../../../core/images/patches.ts';
import { bringImages, imagesShown } from '../../../core/images/shown.ts';

const image = (seed: number): Image => ({ width: 5, height: 4, pixels: new Uint8Array(60).fill(seed) });
const ppm = ({ width, height, pixels }: Image) =>
  new Uint8Array(Buffer.concat([Buffer.from(`P6\n${width} ${height}\n255\n`), pixels]));
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const idsOf = (sha256: string) => [7, ...(piecesOf(`<image:${sha256}:3x3>`)[1] as number[]), 8];

test('what this process lacks is read once, and what it drew is stored', async () => {
  const bytes = ppm(image(1));
  const elsewhere = hashOf(bytes);
  expect(isKept(elsewhere)).toBe(false);
  const read = vi.fn(async () => bytes);
  const put = vi.fn(async () => {});
  const drawn = piecesOf(imageText(image(2)))[1] as number[];
  await bringImages([idsOf(elsewhere), [1, 2], idsOf(elsewhere), drawn], { read, put });
  expect(read.mock.calls).toEqual([[elsewhere]]);
  expect(put.mock.calls).toEqual([[hashOf(ppm(image(2))), ppm(image(2))]]);
  expect(keptImage(elsewhere)).toEqual(image(1));
  await bringImages([idsOf(elsewhere)], { read });
  expect(read).toHaveBeenCalledTimes(1);
});

test.each([
  ['another image', ppm(image(3))],
  ['no image', new TextEncoder().encode('{"messages": []}')],
  ['nothing', new Uint8Array()],
])('an object that holds %s is refused', async (_, bytes) => {
  const sha256 = hashOf(ppm(image(4)));
  await expect(bringImages([idsOf(sha256)], { read: async () => bytes })).rejects.toMatchObject({
    code: 'image.damaged',
  });
  expect(isKept(sha256)).toBe(false);
});

test('a pixmap is read as it was written, and other bytes are none', () => {
  expect(readPixmap(pixmap(image(5)))).toEqual(image(5));
  for (const text of ['P6\n5 4\n255\n', 'P5\n1 1\n255\nabc', 'P6\n0 1\n255\n', 'P6\n1 1\n255\nabcd'])
    expect(readPixmap(new TextEncoder().encode(text))).toBeNull();
});

test('images of lists of ids, each once', () => {
  const [a, b] = [hashOf(ppm(image(6))), hashOf(ppm(image(7)))];
  expect(imagesShown([idsOf(a), [1], [...idsOf(b), ...idsOf(a)]])).toEqual([a, b]);
});
