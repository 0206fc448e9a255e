/** The examination of a level, with answers written by hand. */
import { expect, test } from 'vitest';
import { type Answered, type AskVersion, examineLevel } from '../../cli/examine.ts';

const RIGHT: Answered = { answer: 'abcd', isExact: true, isRight: true };
const LUCKY: Answered = { answer: 'abcd', isExact: true, isRight: false };
const WRONG: Answered = { answer: 'hhhh', isExact: false, isRight: false };
const NONE: Answered = { answer: null, isExact: false, isRight: false };

/** Two questions. At temperature 1 the first has one right answer of 64, 20 lucky ones and 19 wrong ones, and the second is never solved. */
const ask: AskVersion = async (questions, temperature, draws) =>
  questions.map((question) => {
    const solved = question === 'first';
    if (temperature === 0) return [solved ? LUCKY : NONE];
    if (draws === 8)
      return Array.from({ length: 8 }, (_, i) => (solved && i < 10 * temperature ? RIGHT : WRONG));
    return Array.from({ length: draws }, (_, i) => {
      if (!solved) return i < 40 ? NONE : WRONG;
      if (i === 0) return RIGHT;
      return i < 21 ? LUCKY : i < 40 ? WRONG : NONE;
    });
  });

test('chances are of right steps, unbiased; version 0 has its best temperature and its vote, where an answer counts', async () => {
  const figures = await examineLevel(ask, 4, ['first', 'second'], true);
  // One of 64 is right: k samples hold it with a chance of k / 64, and the other question adds nothing.
  expect(figures['pass1.4']).toBeCloseTo(1 / 128, 12);
  expect(figures['pass4.4']).toBeCloseTo(4 / 128, 12);
  expect(figures['pass16.4']).toBeCloseTo(16 / 128, 12);
  expect(figures['pass64.4']).toBeCloseTo(1 / 2, 12);
  // At .3 three of eight, at .6 six, at 1 all eight are right on one of two questions; greedy steps are wrong.
  expect(figures['best.4']).toBe(0.5);
  // The exact answer came 21 times and the wrong one 19 times; the other question's vote is wrong, whatever gave none.
  expect(figures['majority.4']).toBe(0.5);
});

test('a later version is asked for its chances alone', async () => {
  const figures = await examineLevel(ask, 3, ['first', 'second'], false);
  expect(Object.keys(figures)).toEqual(['pass1.3', 'pass4.3', 'pass16.3', 'pass64.3']);
});
