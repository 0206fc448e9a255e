import { expect, test } from 'vitest';
import { keptImage, pixmap } from '../../core/images/image.ts';
import { withImages } from '../../core/images/image-tokenizer.ts';
import { imagesNamed, textOfShown } from '../../core/images/patches.ts';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { sha256Hex } from '../../core/random.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { posedIn, puzzlePrompt } from '../../recipes/videossr/pose.ts';
import { puzzlePay } from '../../recipes/videossr/recipe.ts';
import { closeness, inOrder, overlap } from '../../recipes/videossr/scores.ts';
import { canvasClips } from '../../worlds/canvas/clips.ts';
import { watchingTokenizer } from '../../worlds/canvas/watching.ts';
import { filled, PROMPTS } from '../../worlds/questions/prompts.ts';
import { playPictures } from './play-pictures.ts';

test('scores by hand', () => {
  // Frame 3 of the frames 2 to 4; all of 2 and 3 among 1 to 5; nothing.
  expect([
    overlap([2, 3], [3, 4]),
    overlap([1, 5], [2, 3]),
    overlap([1, 2], [3, 3]),
    overlap([4, 4], [4, 4]),
  ]).toEqual([expect.closeTo(1 / 3, 12), 0.4, 0, 1]);
  // 1 − 1/1, 1 − 0/3 and 1 − 1/2; and no less than 0.
  expect([closeness([2, 3, 3], [1, 3, 2]), closeness([9, 3, 2], [1, 3, 2])]).toEqual([
    expect.closeTo(0.5, 12),
    expect.closeTo(2 / 3, 12),
  ]);
  // Two neighbours exchanged are 2 of 12 away; backwards 4 + 2 + 0 + 2 + 4.
  const order = [3, 1, 5, 2, 4];
  expect([inOrder(order, order), inOrder([1, 3, 5, 2, 4], order), inOrder([4, 2, 5, 1, 3], order)]).toEqual([
    1,
    expect.closeTo(5 / 6, 12),
    0,
  ]);
  const puzzle = { sought: 'turned', answer: [3, 4] } as const;
  expect([
    puzzlePay(puzzle, '2,3', false),
    puzzlePay(puzzle, '2,3', true),
    puzzlePay(puzzle, '3,4', true),
  ]).toEqual([expect.closeTo(1 / 3, 12), 0, 1]);
  expect(puzzlePay(puzzle, null, false)).toBe(0);
});

const shownIn = (prompt: string) => imagesNamed(prompt).map(textOfShown);

/** A round of one puzzle about order. `says`: the answers to it, by the numbers of the shown pictures in their right order. */
async function playOrder(says: (right: readonly number[]) => readonly string[], rewardFunction?: string) {
  const prompts: string[] = [];
  const answer = (frames: readonly string[]) =>
    playPictures({
      recipe: 'videossr',
      variant: 'order-only',
      ...(rewardFunction === undefined ? {} : { rewardFunction }),
      says: (role, prompt, i) => {
        expect(role).toBe('solver');
        prompts.push(prompt);
        const shown = shownIn(prompt);
        return says(frames.map((frame) => shown.indexOf(frame) + 1))[i]!;
      },
      finds: () => expect.unreachable('nothing is measured'),
    });
  // Which clip it is does not depend on what is answered.
  const { groups } = await answer(['', '', '', '', '']);
  const frames = canvasClips.frames!(groups[0]!.task);
  return { ...(await answer(frames)), frames, prompts };
}
/** Right, two neighbours exchanged, what cannot be read, and backwards. */
const answers = (right: readonly number[]): string[] => {
  const [first, second, ...rest] = right;
  return [right.join(), [second, first, ...rest].join(), '1,1', right.toReversed().join()];
};

test('an order earns by how far frames stand from their places, and a strict reward pays the right one alone', async () => {
  const { groups, plan, prompts, frames } = await playOrder(answers);
  const [{ samples, answersExact }] = groups as [(typeof groups)[0]];
  expect([...shownIn(prompts[0]!)].sort()).toEqual([...frames].sort());
  expect(samples.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'off-grammar', 'ok']);
  expect(samples.map(({ rewards }) => rewards.reward)).toEqual([1, expect.closeTo(5 / 6, 12), 0, 0]);
  expect(answersExact).toEqual([true, false, null, false]);
  // Mean 11/24; sample deviation √(0.854167/3) = 0.533594.
  const part = plan.updates[0]!.parts[0] as PolicyPart;
  expect(part.items.map(({ advantage }) => advantage)).toEqual(
    [1.01513, 0.702782, -0.858957, -0.858957].map((a) => expect.closeTo(a, 4)),
  );
  expect(part.kl).toEqual({ weight: 0.001, estimator: 'k3', reference: { set: 'main', version: 0 } });
  expect(plan.figures).toEqual({ orders: expect.closeTo(11 / 24, 12), deadGroups: 0 });
  const strict = await playOrder(answers, 'strict');
  expect(strict.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0, 0, 0]);
  // Figures say what answers are, and not what was paid.
  expect(strict.plan.figures).toEqual(plan.figures);
});

test('a blind policy is shown another puzzle of the kind, and paid for the same', () => {
  const task = '7f3a01c2: small red circle falls at 2; big blue square at 3,0 | What shape falls?';
  const pairs = Array.from({ length: 60 }, (_, i) => {
    const [seen, blind] = [false, true].map((isBlind) =>
      posedIn(canvasClips, task, `g${i}`, { blind: isBlind }),
    );
    expect(blind!.answer).toEqual(seen!.answer);
    expect(blind!.shown.sought).toBe(seen!.sought);
    expect(seen!.shown.answer).toEqual(seen!.answer);
    return String(blind!.shown.answer) === String(blind!.answer);
  });
  // By chance a stretch is the same in one of nine, and counts in one of 27.
  expect(pairs.filter(Boolean).length).toBeLessThan(15);
});

test('variants play puzzles of one kind', () => {
  const task = '7f3a01c2: small red circle falls at 2; big blue square at 3,0 | What shape falls?';
  const sought = (kinds: readonly ('stretch' | 'counts' | 'order')[]) =>
    new Set(Array.from({ length: 40 }, (_, i) => posedIn(canvasClips, task, `k${i}`, { kinds }).sought));
  expect([...sought(['counts'])]).toEqual(['counts']);
  expect([...sought(['stretch'])].sort()).toEqual(['inverted', 'mirrored', 'swapped', 'turned']);
});

test('of a file’s pictures a puzzle is asked in words, and numbers are read', () => {
  const { text, places, sentences, read } = PROMPTS.watch;
  const known = { frames: () => '<its own>' } as unknown as Parameters<typeof places>[1];
  const asked = (sought: 'turned' | 'order', frames: readonly string[] | null) =>
    filled(text, places({ task: '', sought, frames }, known, sentences!));
  expect(asked('turned', ['<a>', '<b>'])).toMatch(
    /^<a><b>These are the frames of a clip\. A stretch of them is upside down\. .*first and its last frame.*<answer>2, 3<\/answer>\.$/,
  );
  expect(asked('order', null)).toMatch(
    /^<its own>These are .* shuffled at random\. .*<answer>2, 3, 1<\/answer>\.$/,
  );
  const said = (written: string) => read(written, { task: '', sought: 'order', frames: null }, known);
  expect(said('It is <answer>3, 1,2</answer>')).toEqual({ ok: true, value: [3, 1, 2] });
  expect(said('<answer>third</answer>').ok).toBe(false);
});

test('frames that lie in the store of a run are read from there', async () => {
  const images = [10, 20, 30].map((shade) => ({
    width: 24,
    height: 24,
    pixels: Uint8Array.from({ length: 3 * 24 * 24 }, (_, i) => (shade + 5 * i) % 256),
  }));
  const stored = new Map(images.map((image) => [sha256Hex(pixmap(image)), pixmap(image)]));
  const frames = [...stored.keys()].map((image) => textOfShown({ image, rows: 3, columns: 3 }));
  const game = { ...canvasClips, frames: () => frames };
  const read: string[] = [];
  const context = {
    tokenizer: withImages(openTokenizer(watchingTokenizer().json), true),
    renderer: () => expect.unreachable('a clip is not asked in messages'),
    readStored: async (sha256: string) => {
      read.push(sha256);
      return stored.get(sha256)!;
    },
  };
  const posed = posedIn(game, 'any', 'key', { kinds: ['order'] });
  const shown = shownIn(await puzzlePrompt(game, context, 'any', posed));
  expect(read.sort()).toEqual([...stored.keys()].sort());
  expect(posed.answer.map((number) => shown[number - 1])).toEqual(frames);
  expect(keptImage(read[0]!).pixels).toEqual(
    images.find((image) => sha256Hex(pixmap(image)) === read[0])!.pixels,
  );
});
