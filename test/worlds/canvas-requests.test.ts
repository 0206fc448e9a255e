/** Requests for drawings with a mark that a tool shows. */
import { describe, expect, test } from 'vitest';
import { keptImage } from '../../core/images/image.ts';
import { imagesNamed } from '../../core/images/patches.ts';
import { Random } from '../../core/random.ts';
import { demonstrateRequest } from '../../worlds/canvas/requesting.ts';
import {
  attemptAfter,
  attemptOf,
  BEGUN,
  lessonOf,
  markPicture,
  otherMark,
  readRequest,
  requestPrompt,
  requests,
  scoreOf,
} from '../../worlds/canvas/requests.ts';
import { withoutStop } from '../../worlds/worked.ts';

const TASK = 'red circle: big mark, small blue cross';
const RIGHT = ' small blue cross at 0,1; big red circle at 2,2';
const drawn = (program: string | null, looked = false) => ({ looked, program });

test('a request names a mark, and the tool shows it', () => {
  expect(readRequest(TASK)).toEqual({
    mark: ' red circle',
    asked: 'big mark, small blue cross',
    wanted: 'big red circle, small blue cross',
  });
  expect(requestPrompt(TASK)).toBe('Draw: big mark, small blue cross. ');
  for (const text of [
    '',
    'red circle: big red circle',
    'red: big mark',
    'red circle: mark',
    'big red circle: big mark',
  ])
    expect([readRequest(text), requestPrompt(text)]).toEqual([null, '']);
  const shown = keptImage(imagesNamed(markPicture(TASK))[0]!.image);
  expect([shown.width, shown.height]).toEqual([24, 24]);
  // Grain moves the three colours alike, by 16 at most.
  const isRed = (at: number) =>
    [215, 50, 45].every((value, colour) => Math.abs(shown.pixels[at + colour]! - value) <= 16);
  // A circle seven pixels high has 37.
  expect(Array.from({ length: 576 }, (_, i) => 3 * i).filter(isRed)).toHaveLength(37);
  const other = otherMark(TASK, 'key');
  expect([requestPrompt(other), other.startsWith('red circle')]).toEqual([requestPrompt(TASK), false]);
});

test('an attempt looks once at most, and ends with a program', () => {
  const look = attemptAfter(BEGUN, 'Look at the mark.<eos>');
  expect(look).toEqual({ attempt: drawn(null, true), ends: false, outcome: 'ok' });
  expect(attemptAfter(look.attempt, 'Look at the mark.<eos>')).toEqual({
    attempt: drawn(null, true),
    ends: true,
    outcome: 'off-grammar',
  });
  expect(attemptAfter(look.attempt, `${RIGHT}<eos>`)).toEqual({
    attempt: drawn(RIGHT, true),
    ends: true,
    outcome: 'ok',
  });
  expect(attemptOf(['Look at the mark.<eos>', ' red<eos>'])).toEqual(drawn(null, true));
});

test('scores by hand: what is wanted and drawn, of the more of the two', () => {
  const score = (program: string | null) => scoreOf(TASK, drawn(program));
  expect(score(RIGHT)).toBe(1);
  expect(score(' big red circle at 0,0')).toBe(0.5);
  expect(score(`${RIGHT}; big white square at 3,3`)).toBeCloseTo(2 / 3, 12);
  expect(score(' big red circle at 0,0; big red circle at 1,1')).toBe(0.5);
  expect(score(' small red circle at 0,0; big blue cross at 1,1')).toBe(0);
  expect(score(null)).toBe(0);
  const exact = (answer: string) => requests.answerIsExact(TASK, { steps: [], answer });
  expect([exact(RIGHT), exact(`${RIGHT}; big white square at 3,3`)]).toEqual([true, false]);
});

test('lessons by hand', () => {
  const wrong = ' big green circle at 0,0; small blue cross at 1,1';
  expect(lessonOf(drawn(RIGHT, true), drawn(wrong))).toBe(
    'Lesson: look first; with big red circle; without big green circle. ',
  );
  expect(lessonOf(drawn(RIGHT, true), drawn(null, true))).toBe(
    'Lesson: with small blue cross, big red circle. ',
  );
  expect(lessonOf(drawn(RIGHT), drawn(`${RIGHT}; big white square at 3,3`, true))).toBe(
    'Lesson: without big white square. ',
  );
  expect(lessonOf(drawn(RIGHT), drawn(' big red circle at 0,0; small blue cross at 3,3'))).toBe('');
});

describe('demonstrations', () => {
  const random = new Random('requests');
  const shown = Array.from({ length: 400 }, () => demonstrateRequest(random));

  test('heed lessons: shapes that a lesson wants are drawn, and others are not', () => {
    const taught = shown.filter(({ prompt }) => prompt.startsWith('Lesson:'));
    expect(taught.length).toBeGreaterThan(100);
    for (const { prompt, completion } of taught) {
      const lesson = prompt.slice(0, prompt.indexOf('. '));
      if (completion.startsWith('Look')) continue;
      const listed = (word: string) => new RegExp(` ${word} ([^;]*)`).exec(lesson)?.[1]?.split(', ') ?? [];
      const program = withoutStop(completion)!;
      for (const thing of listed('with')) expect(program).toContain(` ${thing} at`);
      for (const thing of listed('without')) expect(program).not.toContain(` ${thing} at`);
    }
  });

  test('are of requests that are not held out', () => {
    const side = requests.heldOut()[0]!;
    expect(shown.map(({ prompt }) => prompt)).not.toContain(requestPrompt(side));
    expect(requests.isHeldOut(side)).toBe(true);
  });
});
