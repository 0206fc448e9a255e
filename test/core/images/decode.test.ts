/** Files of images: pixels worked by hand, and JPEGs within what another decoder (libvips 8.17) gives. What is wrong is named, and costs little. */
import { expect, test } from 'vitest';
import { decodeImage, MOST_FILE_BYTES, readDataUrl } from '../../../core/images/decode.ts';
import type { Image } from '../../../core/images/image.ts';
import { upright } from '../../../core/images/orientation.ts';
import { chunk, pngFile, pngOf } from './png.ts';

const at = ({ width, pixels }: { width: number; pixels: Uint8Array }, x: number, y: number) => [
  ...pixels.subarray(3 * (y * width + x), 3 * (y * width + x) + 3),
];
const all = async (file: Uint8Array) => {
  const { width, height, pixels } = await decodeImage(file);
  return { width, height, pixels: [...pixels] };
};
const code = (wanted: string) => expect.objectContaining({ code: wanted });

test('a PNG of red, green and blue, by two of its filters', async () => {
  // The second line is the first plus 1, by the filter that counts from the line above.
  const lines = Uint8Array.of(0, 10, 20, 30, 40, 50, 60, 2, 1, 1, 1, 1, 1, 1);
  expect(await all(pngFile({ width: 2, height: 2 }, lines))).toEqual({
    width: 2,
    height: 2,
    pixels: [10, 20, 30, 40, 50, 60, 11, 21, 31, 41, 51, 61],
  });
});

test.each([
  // Two bits a sample: 0, 1, 2, 3 are 0, 85, 170, 255.
  ['two bits of grey', { depth: 2, colour: 0 }, [0, 0b00011011], [0, 85, 170, 255]],
  // Of sixteen bits the high byte is taken.
  ['sixteen bits of grey', { depth: 16, colour: 0 }, [0, 0, 255, 85, 0, 170, 9, 255, 255], [0, 85, 170, 255]],
  // 0 at half an alpha of 128 on white: 255 - (128 * 255 + 127) / 255 = 127.
  ['grey with alpha', { colour: 4 }, [0, 0, 128, 85, 255, 9, 0, 255, 255], [127, 85, 255, 255]],
])('%s', async (_, header, lines, grey) => {
  const { pixels } = await decodeImage(pngFile({ width: 4, height: 1, ...header }, Uint8Array.from(lines)));
  expect([...pixels]).toEqual(grey.flatMap((value) => [value, value, value]));
});

test('a palette whose last colour is transparent, and a colour that stands for nothing, are shown on white', async () => {
  const palette = chunk('PLTE', Uint8Array.of(1, 2, 3, 200, 100, 50));
  const indexed = pngFile({ width: 3, height: 1, depth: 4, colour: 3 }, Uint8Array.of(0, 0x01, 0x00), [
    palette,
    chunk('tRNS', Uint8Array.of(255, 0)),
  ]);
  expect((await all(indexed)).pixels).toEqual([1, 2, 3, 255, 255, 255, 1, 2, 3]);
  const keyed = pngFile({ width: 3, height: 1 }, Uint8Array.of(0, 9, 8, 7, 9, 8, 6, 1, 1, 1), [
    chunk('tRNS', Uint8Array.of(0, 9, 0, 8, 0, 7)),
  ]);
  expect((await all(keyed)).pixels).toEqual([255, 255, 255, 9, 8, 6, 1, 1, 1]);
  const beyond = pngFile({ width: 1, height: 1, colour: 3 }, Uint8Array.of(0, 2), [palette]);
  await expect(decodeImage(beyond)).rejects.toThrow(/its palette has no colour 2/);
});

test('a PNG may have more parts than a function takes arguments', async () => {
  const empty = chunk('IDAT', new Uint8Array());
  const parts = Array.from({ length: 200_000 }, () => empty);
  const file = pngFile({ width: 1, height: 1 }, Uint8Array.of(0, 7, 8, 9), parts);
  expect((await all(file)).pixels).toEqual([7, 8, 9]);
});

test('an interlaced PNG: the first pass has the first pixel, the others the rest', async () => {
  // Of 2 × 2 pixels pass 1 has (0, 0), pass 6 (1, 0), and pass 7 the second line.
  const lines = Uint8Array.of(0, 1, 1, 1, 0, 2, 2, 2, 0, 3, 3, 3, 4, 4, 4);
  expect((await all(pngFile({ width: 2, height: 2, interlaced: true }, lines))).pixels).toEqual(
    [1, 2, 3, 4].flatMap((value) => [value, value, value]),
  );
});

const BASELINE =
  '/9j/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wAARCAAIABADAREAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAAB//EABQQAQAAAAAAAAAAAAAAAAAAAAD/xAAWAQEBAQAAAAAAAAAAAAAAAAAJBwj/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwAPRxtsbkYGO//Z';
const PROGRESSIVE =
  '/9j/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wgARCAAIABADAREAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAABv/EABYBAQEBAAAAAAAAAAAAAAAAAAgGB//aAAwDAQACEAMQAAABDxu2m0YY/wD/xAAUEAEAAAAAAAAAAAAAAAAAAAAQ/9oACAEBAAEFAj//xAAUEQEAAAAAAAAAAAAAAAAAAAAQ/9oACAEDAQE/AT//xAAUEQEAAAAAAAAAAAAAAAAAAAAQ/9oACAECAQE/AT//xAAUEAEAAAAAAAAAAAAAAAAAAAAQ/9oACAEBAAY/Aj//xAAUEAEAAAAAAAAAAAAAAAAAAAAQ/9oACAEBAAE/IT//2gAMAwEAAgADAAAAEG//xAAUEQEAAAAAAAAAAAAAAAAAAAAQ/9oACAEDAQE/ED//xAAUEQEAAAAAAAAAAAAAAAAAAAAQ/9oACAECAQE/ED//xAAUEAEAAAAAAAAAAAAAAAAAAAAQ/9oACAEBAAE/ED//2Q==';
const jpeg = (text: string) => readDataUrl(`data:image/jpeg;base64,${text}`)!.bytes;

test.each([
  ['baseline', BASELINE],
  ['progressive', PROGRESSIVE],
])('a %s JPEG', async (_, text) => {
  const image = await decodeImage(jpeg(text), 'image/jpeg');
  expect([image.width, image.height]).toEqual([16, 8]);
  // Its left half is 200, 40, 20 and its right half 10, 60, 180; libvips reads 201, 40, 20 and 10, 61, 179.
  for (const [x, wanted] of [
    [0, [201, 40, 20]],
    [7, [201, 40, 20]],
    [15, [10, 61, 179]],
  ] as const)
    for (const [i, value] of at(image, x, 3).entries()) expect(Math.abs(value - wanted[i]!)).toBeLessThan(3);
});

/** A directory of TIFF with one entry, the orientation, in either order of bytes. */
function exif(orientation: number, little: boolean): number[] {
  const short = (n: number) => (little ? [n, 0] : [0, n]);
  const long = (n: number) => (little ? [n, 0, 0, 0] : [0, 0, 0, n]);
  const order = little ? [0x49, 0x49] : [0x4d, 0x4d];
  const entry = [...(little ? [0x12, 1] : [1, 0x12]), ...short(3), ...long(1), ...short(orientation), 0, 0];
  const tiff = [...order, ...short(42), ...long(8), ...short(1), ...entry, ...long(0)];
  const held = [...new TextEncoder().encode('Exif'), 0, 0, ...tiff];
  return [0xff, 0xe1, 0, held.length + 2, ...held];
}

test('an image stands upright, however the camera was held', async () => {
  // Two lines of three pixels, and what each orientation makes of them, by hand.
  const lines = (...of: string[]): Image => ({
    width: of[0]!.length,
    height: of.length,
    pixels: new Uint8Array([...of.join('')].flatMap((letter) => new Array(3).fill(letter.charCodeAt(0)))),
  });
  const turned = [
    ['abc', 'def'],
    ['cba', 'fed'],
    ['fed', 'cba'],
    ['def', 'abc'],
    ['ad', 'be', 'cf'],
    ['da', 'eb', 'fc'],
    ['fc', 'eb', 'da'],
    ['cf', 'be', 'ad'],
  ];
  for (const [i, of] of turned.entries())
    expect(upright(lines('abc', 'def'), i + 1), `${i + 1}`).toEqual(lines(...of));
  // The left half of the file is red. Held so that it is to be turned to the right, red is above.
  const file = jpeg(BASELINE);
  for (const little of [true, false]) {
    const held = (orientation: number) =>
      decodeImage(
        Uint8Array.from([...file.subarray(0, 2), ...exif(orientation, little), ...file.subarray(2)]),
      );
    const [right, left, none] = [await held(6), await held(8), await held(9)];
    expect([right.width, right.height, none.width]).toEqual([8, 16, 16]);
    expect([at(right, 3, 0)[0]! > 150, at(left, 3, 0)[0]! > 150]).toEqual([true, false]);
  }
  // An address that leads out of the file is no orientation.
  const lost = exif(6, true).with(14, 200);
  expect(
    (await decodeImage(Uint8Array.from([...file.subarray(0, 2), ...lost, ...file.subarray(2)]))).width,
  ).toBe(16);
});

/** By libjpeg-turbo: 8 × 8 pixels of 200, 40, 20, written as red, green and blue after Adobe's marker of 16 bytes. */
const AS_RGB =
  '/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwADAgIDAgIDAwMDBAMDBAUIBQUEBAUKBwcGCAwKDAwLCgsLDQ4SEA0OEQ4LCxAWEBETFBUVFQwPFxgWFBgSFBUU/8AAEQgACAAIA1IRAEcRAEIRAP/EABUAAQEAAAAAAAAAAAAAAAAAAAgJ/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAwDUgBHAEIAAD8AYAKJvv/Z';

test('a JPEG of red, green and blue as they are, by the marker of Adobe and by the names of its components', async () => {
  const marked = jpeg(AS_RGB);
  const named = Uint8Array.from([...marked.subarray(0, 2), ...marked.subarray(2 + 16)]);
  for (const file of [marked, named]) expect(at(await decodeImage(file), 3, 3)).toEqual([200, 40, 20]);
  // One that is JFIF has other colours, whatever they are called.
  const segment = [0xff, 0xe0, 0, 16, ...new TextEncoder().encode('JFIF'), 0, 1, 1, 0, 0, 1, 0, 1, 0, 0];
  const jfif = Uint8Array.from([...marked.subarray(0, 2), ...segment, ...marked.subarray(2)]);
  // R = Y + 1.402 (Cr - 128), and B = Y + 1.772 (Cb - 128).
  const [red, , blue] = at(await decodeImage(jfif), 3, 3);
  expect(Math.abs(red! - (200 + 1.402 * (20 - 128)))).toBeLessThan(1);
  expect(Math.abs(blue! - (200 + 1.772 * (40 - 128)))).toBeLessThan(1);
});

/** Is it the byte of a baseline frame that tells the bits of a sample? */
const isDepth = (bytes: Uint8Array, at: number) => bytes[at - 4] === 0xff && bytes[at - 3] === 0xc0;
const small = pngFile({ width: 2, height: 2 }, new Uint8Array(14));

test.each([
  ['text', new TextEncoder().encode('What colour is it?'), 'image.kind'],
  ['nothing', new Uint8Array(), 'image.kind'],
  ['a PNG that is cut off', small.subarray(0, -20), 'image.damaged'],
  ['a PNG with a changed byte', small.map((byte, i) => (i === 45 ? byte ^ 1 : byte)), 'image.damaged'],
  ['a PNG with too few pixels', pngFile({ width: 2, height: 2 }, new Uint8Array(7)), 'image.damaged'],
  ['a PNG of no pixels', pngFile({ width: 0, height: 2 }, new Uint8Array()), 'image.size'],
  ['a PNG of too many pixels', pngFile({ width: 2000, height: 2000 }, new Uint8Array(1)), 'image.size'],
  ['a file of too many bytes', new Uint8Array(MOST_FILE_BYTES + 1), 'image.size'],
  ['a JPEG that is cut off', jpeg(BASELINE).subarray(0, -8), 'image.damaged'],
  [
    'a JPEG whose samples have 12 bits',
    jpeg(BASELINE).map((byte, i, all) => (isDepth(all, i) ? 12 : byte)),
    'image.damaged',
  ],
  ['a JPEG without a size', Uint8Array.of(0xff, 0xd8, 0xff, 0xd9), 'image.damaged'],
])('%s is refused by name', async (_, file, wanted) => {
  await expect(decodeImage(file)).rejects.toEqual(code(wanted));
});

test('a JPEG of too many pixels, or of too many scans, is refused before it is decoded', async () => {
  const large = jpeg(BASELINE).slice();
  const frame = large.findIndex((byte, i) => byte === 0xff && large[i + 1] === 0xc0);
  large.set([0xff, 0xff, 0xff, 0xff], frame + 5);
  await expect(decodeImage(large)).rejects.toThrow('An image has 65535 × 65535 pixels.');
  const progressive = jpeg(PROGRESSIVE);
  const scan = progressive.findIndex((byte, i) => byte === 0xff && progressive[i + 1] === 0xda);
  const scans = Array.from({ length: 70 }, () => progressive.subarray(scan, -2));
  const many = Uint8Array.from(
    Buffer.concat([progressive.subarray(0, scan), ...scans, Uint8Array.of(0xff, 0xd9)]),
  );
  await expect(decodeImage(many)).rejects.toEqual(code('image.bomb'));
});

test('an image of another kind than it says is refused', async () => {
  await expect(decodeImage(small, 'image/jpeg')).rejects.toThrow(
    'An image says that it is image/jpeg, and is image/png.',
  );
  await expect(decodeImage(small, 'image/webp')).rejects.toEqual(code('image.type'));
  expect((await decodeImage(small, 'image/png')).width).toBe(2);
  // As many programs call it.
  expect((await decodeImage(jpeg(BASELINE), 'image/jpg')).width).toBe(16);
});

test('what inflates to more than its size is refused after little of it, and a profile is not inflated at all', async () => {
  const bomb = pngFile({ width: 2, height: 2 }, new Uint8Array(16 * 1024 * 1024));
  // From its middle on it does not inflate, which nobody comes to see.
  bomb.fill(0xff, bomb.length / 2, bomb.length - 20);
  await expect(decodeImage(bomb)).rejects.toEqual(code('image.bomb'));
  // A chunk iCCP that is no profile is left out; a decoder that inflated it would fail.
  const profiled = pngFile({ width: 2, height: 2 }, new Uint8Array(14), [
    chunk('iCCP', new TextEncoder().encode('p\0\0not zlib')),
  ]);
  expect((await all(profiled)).pixels).toEqual([...new Uint8Array(12)]);
});

test('data URLs', async () => {
  const image = { width: 1, height: 1, pixels: Uint8Array.of(1, 2, 3) };
  const url = `data:image/png;base64,${Buffer.from(pngOf(image)).toString('base64')}`;
  const { bytes, kind } = readDataUrl(url)!;
  expect(await decodeImage(bytes, kind)).toEqual(image);
  expect(readDataUrl('pics/1.png')).toBeNull();
  expect(() => readDataUrl('data:image/png;base64,é')).toThrow(code('image.url'));
  expect(() => readDataUrl(`data:image/png;base64,${'A'.repeat(2 * MOST_FILE_BYTES)}`)).toThrow(
    code('image.size'),
  );
});
