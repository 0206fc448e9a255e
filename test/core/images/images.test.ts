/** Images in lists of ids and in texts: worked by hand, and hashed by another implementation. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Image, KeptImages, keepImage, keptImage } from '../../../core/images/image.ts';
import { withImages } from '../../../core/images/image-tokenizer.ts';
import {
  expectSees,
  imagesIn,
  imageText,
  patchesIn,
  patchNumbers,
  patchWidth,
  piecesOf,
} from '../../../core/images/patches.ts';
import { openRenderer } from '../../../core/renderer/renderer.ts';
import { characterTokenizer } from '../../../core/text/characters.ts';
import { tokenizerOf } from '../../../core/text/policy-text.ts';
import { openTokenizer } from '../../../core/text/tokenizer.ts';

/** Every pixel tells where it is: red its column, green its row, blue 7. */
const ramp = (width: number, height: number): Image => ({
  width,
  height,
  pixels: Uint8Array.from({ length: 3 * width * height }, (_, i) => {
    const pixel = Math.floor(i / 3);
    return [pixel % width, Math.floor(pixel / width), 7][i % 3]!;
  }),
});

const hashOf = ({ width, height, pixels }: Image) =>
  createHash('sha256').update(`P6\n${width} ${height}\n255\n`).update(pixels).digest('hex');

const vision = { rows: 4, columns: 4, token: 1 };
const ids = (image: Image) => piecesOf(imageText(image))[1] as number[];

test('an image is known by the sha256 of its pixmap', () => {
  const image = ramp(24, 17);
  expect(keepImage(image)).toBe(hashOf(image));
  expect(keptImage(hashOf(image))).toEqual(image);
  expect(() => keptImage('0'.repeat(64))).toThrow(expect.objectContaining({ code: 'image.unknown' }));
});

test.each([
  ['no width', { width: 0, height: 8, pixels: new Uint8Array(0) }],
  ['half a pixel', { width: 1.5, height: 2, pixels: new Uint8Array(9) }],
  ['fewer bytes than pixels', { width: 8, height: 8, pixels: new Uint8Array(191) }],
  ['a longer side than can be told', { width: 2041, height: 1, pixels: new Uint8Array(3 * 2041) }],
])('an image of %s is refused', (_, image) => {
  expect(() => keepImage(image)).toThrow(expect.objectContaining({ code: 'image.size' }));
});

test('the images that were not used for the longest time are forgotten, those in use are not', () => {
  const of = (seed: number): Image => {
    const pixels = new Uint8Array(3 * 2040 * 2040);
    pixels[0] = seed;
    return { width: 2040, height: 2040, pixels };
  };
  // Of 12.5 MB each two fit.
  const kept = new KeptImages(32 * 1024 * 1024);
  const [first, second] = [kept.keep(of(1)), kept.keep(of(2))];
  kept.get(first);
  kept.keep(of(3));
  expect(kept.get(first).pixels[0]).toBe(1);
  expect(() => kept.get(second)).toThrow(expect.objectContaining({ code: 'image.unknown' }));
});

test('patches tell their place and the words of the hash, row by row', () => {
  const image = ramp(25, 24);
  const hash = hashOf(image);
  expect(imageText(image)).toBe(`<image:${hash}:3x4>`);
  const word = (i: number) => Number.parseInt(hash.slice(8 * (i % 8), 8 * (i % 8) + 8), 16);
  const shown = ids(image);
  expect(shown).toHaveLength(12);
  expect(shown[0]).toBe(2 ** 48 + word(0));
  expect(shown[3]).toBe(2 ** 48 + 3 * 2 ** 32 + word(3));
  expect(shown[9]).toBe(2 ** 48 + 2 * 2 ** 40 + 2 ** 32 + word(9));
  expect(Math.max(...shown)).toBeLessThan(Number.MAX_SAFE_INTEGER);
  // One beside the other, in a sequence.
  const other = ids(ramp(8, 8));
  expect(imagesIn([5, ...shown, ...other, 6])).toEqual([
    { image: hash, at: 1, rows: 3, columns: 4 },
    { image: hashOf(ramp(8, 8)), at: 13, rows: 3, columns: 3 },
  ]);
  expect(patchesIn([5, ...shown], vision).get(6)).toEqual({ image: hash, row: 1, column: 1 });
});

test('one bit of a pixel changes the ids', () => {
  const image = ramp(24, 24);
  const before = ids(image);
  const pixels = image.pixels.slice();
  pixels[1000]! ^= 1;
  expect(ids({ ...image, pixels })).not.toEqual(before);
});

test.each<[string, (shown: number[], other: number[]) => number[]]>([
  ['without its last patch', (shown) => shown.slice(0, -1)],
  ['without its first patch', (shown) => shown.slice(1)],
  ['with a token in it', (shown) => [...shown.slice(0, 5), 3, ...shown.slice(5)]],
  ['with the word of another in its second row', (shown, other) => shown.with(9, other[9]!)],
  ['of two rows', (shown) => shown.slice(0, 8)],
])('an image %s is refused', (_, change) => {
  const broken = change(ids(ramp(32, 24)), ids(ramp(32, 23)));
  expect(() => imagesIn([1, ...broken, 2])).toThrow(expect.objectContaining({ code: 'image.ids' }));
});

test('an image of more patches than the policy has positions for is refused by name', () => {
  expect(() => patchesIn(ids(ramp(33, 24)), vision)).toThrow(/3 × 5 patches.*at most 4 × 4/);
});

test('a patch is its pixels from -1 to 1, grey beyond the edge, then its row and its column', () => {
  const image = ramp(26, 20);
  const hash = keepImage(image);
  const numbers = patchNumbers([{ image: hash, row: 2, column: 3 }], vision);
  expect(numbers).toHaveLength(patchWidth(vision));
  expect(patchWidth(vision)).toBe(200);
  // Its pixels are columns 24 and 25 of rows 16 to 19.
  const at = (y: number, x: number) => [...numbers.subarray(3 * (8 * y + x), 3 * (8 * y + x) + 3)];
  const as = (...colours: number[]) => colours.map((value) => Math.fround((2 * value - 255) / 255));
  expect(at(0, 0)).toEqual(as(24, 16, 7));
  expect(at(3, 1)).toEqual(as(25, 19, 7));
  expect(at(3, 2)).toEqual([0, 0, 0]);
  expect(at(4, 0)).toEqual([0, 0, 0]);
  expect([...numbers.subarray(192)]).toEqual([0, 0, 1, 0, 0, 0, 0, 1]);
});

test('a text that shows images is encoded and decoded; a policy that does not see refuses it', () => {
  const { json } = characterTokenizer();
  const plain = openTokenizer(json);
  const seeing = withImages(plain, true);
  const text = `a${imageText(ramp(24, 24))}b${imageText(ramp(8, 30))}?`;
  const encoded = seeing.encode(text);
  expect(encoded).toEqual([
    ...plain.encode('a'),
    ...ids(ramp(24, 24)),
    ...plain.encode('b'),
    ...ids(ramp(8, 30)),
    ...plain.encode('?'),
  ]);
  expect(seeing.decode(encoded)).toBe(text);
  expect(seeing.encode('<image:none>')).toEqual(plain.encode('<image:none>'));
  expect(() => seeing.encode(`<image:${'0'.repeat(64)}:2x9>`)).toThrow(
    expect.objectContaining({ code: 'image.grid' }),
  );
  const bytes = (value: object) => new TextEncoder().encode(JSON.stringify(value));
  const config = { max_position_embeddings: 64 };
  const files = { 'tokenizer.json': bytes(json), 'config.json': bytes(config) };
  expect(() => tokenizerOf(files, 'blind').encode(text)).toThrow(
    expect.objectContaining({ code: 'policy.blind' }),
  );
  // Nobody has this image: to a policy that does not see it is what the tokenizer makes of its characters.
  const nobodys = `Write <image:${'0'.repeat(64)}:255x255> once`.repeat(40);
  expect(tokenizerOf(files, 'blind').encode(nobodys)).toEqual(plain.encode(nobodys));
  expect(tokenizerOf(files, 'blind').encodeWhole(nobodys)).toEqual(plain.encodeWhole(nobodys));
  const sees = { ...files, 'config.json': bytes({ ...config, vision: { rows: 8 } }) };
  expect(tokenizerOf(sees, 'sees').encode(text)).toEqual(encoded);
});

test('a text names no more patches than a sequence may have tokens', () => {
  const largest = `<image:${'0'.repeat(64)}:64x64>`;
  expect(piecesOf(`a${largest}b`).map((piece) => piece.length)).toEqual([1, 4096, 1]);
  expect(() => piecesOf(`${largest}<image:${'0'.repeat(64)}:3x3>`)).toThrow(
    expect.objectContaining({ code: 'image.patches', message: expect.stringMatching(/4105 patches.*4096/) }),
  );
});

test('what a policy does not see is refused by the size that it sees', () => {
  const who = { policy: 'mine', recipe: 'grpo on t.jsonl' };
  expectSees({ rows: 4, columns: 4 }, vision, who);
  expect(() => expectSees({ rows: 3, columns: 3 }, undefined, who)).toThrow(
    'The policy mine does not see, and grpo on t.jsonl shows images.',
  );
  for (const grid of [
    { rows: 5, columns: 3 },
    { rows: 3, columns: 5 },
  ])
    expect(() => expectSees(grid, vision, who)).toThrow(/Expected at most 32 × 32/);
});

test('an answer after a prompt that ends soon after an image is read without it', () => {
  const tokenizer = withImages(openTokenizer(characterTokenizer().json), true);
  const renderer = openRenderer({
    kind: 'plain',
    template: () => '',
    tokenizer,
    stops: [],
    stopStrings: [],
    controlTokens: [],
    vocabSize: tokenizer.vocabSize,
  });
  const shown = ids(ramp(24, 24));
  for (const asked of ['', 'a', 'abc', 'abcdef'])
    expect(renderer.textAfter([...shown, ...tokenizer.encode(asked)], tokenizer.encode('red'))).toBe('red');
});
