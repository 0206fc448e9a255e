/** Puzzles on frames, and clips. What was done to frames is found here by comparing pixels. */
import { describe, expect, test } from 'vitest';
import type { Image } from '../../core/images/image.ts';
import { keptImage } from '../../core/images/image.ts';
import { imagesNamed } from '../../core/images/patches.ts';
import { Random } from '../../core/random.ts';
import { answerTo, canvasClips, clips, randomTask, readClip } from '../../worlds/canvas/clips.ts';
import { DAMAGES, STAMPED, stamped } from '../../worlds/frames/edits.ts';
import { canAnswer, drawPuzzle, drawSought, kindOf } from '../../worlds/frames/puzzles.ts';

/** A picture of 24 × 24 pixels of one colour, but for its first pixel. */
const plain = (shade: number): Image => {
  const pixels = new Uint8Array(3 * 24 * 24).fill(shade);
  pixels.set([10, 20, 30]);
  return { width: 24, height: 24, pixels };
};
const FRAMES = [0, 1, 2, 3, 4, 5].map((frame) => plain(40 + frame));
const pixelAt = ({ width, pixels }: Image, x: number, y: number) => [
  ...pixels.subarray(3 * (y * width + x), 3 * (y * width + x) + 3),
];

test('damages by hand', () => {
  const image = plain(100);
  expect(pixelAt(DAMAGES.inverted(image), 0, 0)).toEqual([245, 235, 225]);
  expect(pixelAt(DAMAGES.inverted(image), 5, 7)).toEqual([155, 155, 155]);
  expect(pixelAt(DAMAGES.swapped(image), 0, 0)).toEqual([30, 20, 10]);
  expect(pixelAt(DAMAGES.mirrored(image), 23, 0)).toEqual([10, 20, 30]);
  expect(pixelAt(DAMAGES.turned(image), 23, 23)).toEqual([10, 20, 30]);
  expect(pixelAt(image, 0, 0)).toEqual([10, 20, 30]);
});

/** Pixels of cyan in each of the nine places of a picture. */
const cyanIn = (image: Image): number[] =>
  Array.from({ length: 9 }, (_, place) => {
    const [top, left] = [8 * Math.floor(place / 3), 8 * (place % 3)];
    let count = 0;
    for (let y = 0; y < 8; y++)
      for (let x = 0; x < 8; x++) count += Number(String(pixelAt(image, left + x, top + y)) === '0,255,255');
    return count;
  });
/** Pixels of a shape seven pixels high, counted by hand on squared paper. */
const PIXELS = { circle: 37, square: 49, triangle: 25 } as const;

test('a shape is put at its place, and pictures of any size have nine', () => {
  const image = stamped(plain(100), [
    { shape: 'circle', place: 0 },
    { shape: 'triangle', place: 5 },
    { shape: 'square', place: 7 },
  ]);
  expect(cyanIn(image)).toEqual([37, 0, 0, 0, 0, 25, 0, 49, 0]);
  const tiny = { width: 2, height: 5, pixels: new Uint8Array(30) };
  expect(stamped(tiny, [{ shape: 'square', place: 8 }]).pixels).toHaveLength(30);
});

describe('a puzzle', () => {
  const random = new Random('puzzles');
  const drawn = Array.from({ length: 200 }, () => drawPuzzle(random, drawSought(random), FRAMES.length));

  test('is of every kind about equally often', () => {
    for (const kind of ['stretch', 'counts', 'order'])
      expect(drawn.filter(({ sought }) => kindOf(sought) === kind).length).toBeGreaterThan(45);
  });

  test('about damage names the frames that differ, fewer than half', () => {
    for (const { sought, answer, show } of drawn.filter((one) => kindOf(one.sought) === 'stretch')) {
      const shown = show(FRAMES);
      const differs = shown.flatMap((image, i) =>
        Buffer.compare(image.pixels, FRAMES[i]!.pixels) ? [i + 1] : [],
      );
      expect([differs[0], differs.at(-1)]).toEqual(answer);
      expect(differs.length).toBe(answer[1]! - answer[0]! + 1);
      expect(differs.length).toBeLessThan(3);
      const at = answer[0]! - 1;
      expect(shown[at]).toEqual(DAMAGES[sought as 'turned'](FRAMES[at]!));
    }
  });

  test('about shapes counts those that are seen', () => {
    for (const { answer, show } of drawn.filter(({ sought }) => sought === 'counts')) {
      const seen = show(FRAMES).flatMap(cyanIn);
      expect(STAMPED.map((shape) => seen.filter((count) => count === PIXELS[shape]).length)).toEqual(answer);
      expect(answer.every((count) => count >= 1 && count <= 3)).toBe(true);
    }
  });

  test('about order says which of the shown frames comes first, second and so on', () => {
    for (const { answer, show } of drawn.filter(({ sought }) => sought === 'order')) {
      const shown = show(FRAMES);
      expect(answer.map((number) => shown[number - 1])).toEqual(FRAMES);
    }
  });
});

test('what can be an answer', () => {
  expect(canAnswer('turned', [2, 2], 3)).toBe(true);
  for (const numbers of [[2], [3, 2], [0, 1], [2, 4], [1, 2, 3], [1.5, 2]])
    expect(canAnswer('mirrored', numbers, 3)).toBe(false);
  expect([canAnswer('counts', [0, 3, 12], 3), canAnswer('counts', [1, 2], 3)]).toEqual([true, false]);
  expect(
    [
      [3, 1, 2],
      [3, 1, 1],
      [3, 1],
      [4, 1, 2],
    ].map((each) => canAnswer('order', each, 3)),
  ).toEqual([true, false, false, false]);
});

const BY_HAND = '7f3a01c2: small red circle falls at 2; big blue square at 3,0 | What shape falls?';
const speaker = { renderer: () => expect.unreachable('a clip is not asked in messages') };

describe('a clip', () => {
  test('shows what falls a row lower each time, and what stands still', () => {
    const frames = canvasClips.frames!(BY_HAND);
    expect(frames).toHaveLength(5);
    const images = frames.map((text) => keptImage(imagesNamed(text)[0]!.image));
    /** Is any pixel of a cell nearly of a colour? Grain moves the three colours alike, by 16 at most. */
    const has = (image: Image, row: number, column: number, paint: readonly number[]) =>
      Array.from({ length: 64 }, (_, i) => pixelAt(image, 8 * column + (i % 8), 8 * row + (i >> 3))).some(
        (pixel) => pixel.every((value, colour) => Math.abs(value - paint[colour]!) <= 16),
      );
    for (const [i, image] of images.entries()) {
      expect([image.width, image.height]).toEqual([24, 40]);
      expect([0, 1, 2, 3, 4].filter((row) => has(image, row, 2, [215, 50, 45]))).toEqual([i]);
      expect(has(image, 3, 0, [55, 85, 215])).toBe(true);
    }
  });

  test('is asked what falls', () => {
    expect(clips.solverPrompt(BY_HAND)).toBe(`${canvasClips.frames!(BY_HAND).join('')}What shape falls? `);
    expect([answerTo(BY_HAND), answerTo(BY_HAND.replace('shape', 'colour'))]).toEqual(['circle', 'red']);
    expect(clips.answerIsExact(BY_HAND, { steps: [], answer: 'circle' })).toBe(true);
    expect(clips.answerIsExact(BY_HAND, { steps: [], answer: 'square' })).toBe(false);
    for (const text of ['', '7f3a01c2: a', BY_HAND.replace('3,0', '3,2'), BY_HAND.replace('3,0', '5,0')])
      expect([readClip(text.split(' | ')[0]!), clips.solverPrompt(text)]).toEqual([null, '']);
  });

  test('is drawn on either side of the split, and another one on the same', () => {
    const random = new Random('clips');
    for (const side of [false, true]) {
      const task = randomTask(random, side);
      expect(clips.isHeldOut(task)).toBe(side);
      const other = canvasClips.otherPicture!(task, 'key');
      expect(other.split(' | ')[1]).toBe(task.split(' | ')[1]);
      expect(other).not.toBe(task);
      expect(clips.isHeldOut(other)).toBe(side);
    }
  });

  test('is watched by its frames as they are shown, and numbers come back', () => {
    const { ask, read } = canvasClips.words.watch;
    const about = { task: BY_HAND, sought: 'order', frames: ['<a>', '<b>'] } as const;
    expect(ask(about, speaker)).toBe('<a><b>In which order do the pictures belong? ');
    expect(read('2,1<eos>', about, speaker)).toEqual({ ok: true, value: [2, 1] });
    for (const text of ['2,1', '2,<eos>', '<eos>', '21<eos>', 'red<eos>'])
      expect(read(text, about, speaker).ok).toBe(false);
  });
});
