/** What no policy can have sampled, one thing wrong at a time. */
import { expect, test } from 'vitest';
import { completionFault } from '../../core/audit/read-completion.ts';

const END = 9;
const settings = { maxNew: 4, temperature: 1, stop: [END] };
const of = (ids: readonly number[], stopped: boolean, logprobs: readonly number[] = ids.map(() => -1)) =>
  completionFault({ ids: [...ids], logprobs: [...logprobs], stopped }, settings);

test('completions that end, and such as are cut off at the limit, are possible', () => {
  expect(of([1, 2, END], true)).toBeNull();
  expect(of([1, 2, 3, 4], false)).toBeNull();
  expect(of([1, 2, 3, END], true, [0, -0, -128, -5e-324])).toBeNull();
});

test.each<[string, readonly number[], boolean, RegExp]>([
  ['goes on after its end, to another end', [1, END, END], true, /goes on after its end, at token 2/],
  ['goes on after its end', [1, END, 2, 3], false, /goes on after its end/],
  ['is longer than the limit', [1, 2, 3, 4, 5], false, /5 tokens, and at most 4/],
  ['breaks off', [1, 2], false, /breaks off after 2 of 4/],
  ['says that it ended and did not', [1, 2, 3, 4], true, /stop flag says true/],
  ['ended and says that it did not', [1, END], false, /stop flag says false/],
])('one that %s is not', (_, ids, stopped, message) => {
  expect(of(ids, stopped)).toMatchObject({ class: 'token', message: expect.stringMatching(message) });
});

test.each([5e-324, 0.1, -128.0001, -1e308, -Infinity, Infinity, Number.NaN])(
  'a log-probability of %s is not',
  (x) => {
    expect(of([1, 2, END], true, [-1, x, -1])).toMatchObject({ class: 'log-probability' });
  },
);
