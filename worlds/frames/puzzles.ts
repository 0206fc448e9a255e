/**
 * Questions that the frames of a clip answer by themselves: some of them are damaged, have shapes put on them or are put into another order, and what was
 * done is asked for. Source: VideoSSR (arXiv:2511.06281), anomaly grounding, object counting and temporal jigsaw.
 */
import type { Sought } from '../../core/game/verbs.ts';
import type { Image } from '../../core/images/image.ts';
import type { Random } from '../../core/random.ts';
import { DAMAGES, type Damage, STAMP_PLACES, STAMPED, stamped } from './edits.ts';

export const PUZZLES = ['stretch', 'counts', 'order'] as const;
export type PuzzleKind = (typeof PUZZLES)[number];

export const kindOf = (sought: Sought): PuzzleKind =>
  sought === 'counts' || sought === 'order' ? sought : 'stretch';

export interface Puzzle {
  readonly sought: Sought;
  /** The first and the last damaged frame, from 1; how many of each of STAMPED; or which of the frames that are shown, from 1, is the first, the second and so on. */
  readonly answer: readonly number[];
  /** The frames in their order -> the frames as they are shown. */
  readonly show: (frames: readonly Image[]) => Image[];
}

/** The most shapes of a kind that are put on a clip. */
const MOST_STAMPS = 3;

/** Draws what is asked. */
export const drawSought = (random: Random, kinds: readonly PuzzleKind[] = PUZZLES): Sought => {
  const kind = random.pick(kinds);
  return kind === 'stretch' ? random.pick(Object.keys(DAMAGES) as Damage[]) : kind;
};

/** Draws a question of a kind about `count` frames. */
export function drawPuzzle(random: Random, sought: Sought, count: number): Puzzle {
  const all = Array.from({ length: count }, (_, frame) => frame);
  if (sought === 'order') {
    const shown = random.shuffle(all);
    return {
      sought,
      answer: all.map((frame) => shown.indexOf(frame) + 1),
      show: (frames) => shown.map((frame) => frames[frame]!),
    };
  }
  if (sought === 'counts') {
    const answer = STAMPED.map(() => 1 + random.int(MOST_STAMPS));
    const places = random.shuffle(
      all.flatMap((frame) => Array.from({ length: STAMP_PLACES }, (_, place) => ({ frame, place }))),
    );
    const stamps = STAMPED.flatMap((shape, i) => Array.from({ length: answer[i]! }, () => shape)).map(
      (shape, i) => ({ shape, ...places[i]! }),
    );
    return {
      sought,
      answer,
      show: (frames) =>
        frames.map((image, frame) =>
          stamped(
            image,
            stamps.filter((stamp) => stamp.frame === frame),
          ),
        ),
    };
  }
  // Fewer than half of the frames: of two halves nobody could tell which is damaged.
  const length = 1 + random.int(Math.max(1, Math.ceil(count / 2) - 1));
  const from = random.int(count - length + 1);
  return {
    sought,
    answer: [from + 1, from + length],
    show: (frames) =>
      frames.map((image, frame) => (frame >= from && frame < from + length ? DAMAGES[sought](image) : image)),
  };
}

/** Can these numbers be an answer to what is asked about `count` frames? */
export function canAnswer(sought: Sought, numbers: readonly number[], count: number): boolean {
  if (!numbers.every((n) => Number.isSafeInteger(n) && n >= 0)) return false;
  if (sought === 'counts') return numbers.length === STAMPED.length;
  const areFrames = numbers.every((n) => n >= 1 && n <= count);
  if (sought === 'order') return areFrames && numbers.length === count && new Set(numbers).size === count;
  return areFrames && numbers.length === 2 && numbers[0]! <= numbers[1]!;
}
