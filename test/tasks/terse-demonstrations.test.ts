/** What the terse responder is shown: one word as often as its habit says, and the same judge's digits as elsewhere. */
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import { readResponse, wordsOf } from '../../core/tasks/style.ts';
import { demonstrateStyle, demonstrateTerse } from '../../core/tasks/style-demonstrations.ts';

const wordsShown = (demonstrate: typeof demonstrateTerse) => {
  const random = new Random('terse demonstrations');
  return Array.from({ length: 4000 }, () => demonstrate(random)).flatMap(({ role, completion }) => {
    const response = readResponse(completion);
    return role === 'responder' && response.ok ? [wordsOf(response.value)] : [];
  });
};

test('one word in seven tenths of a half of the responses; the careless habit writes one in a tenth', () => {
  const ones = (words: readonly number[]) => mean(words.map((count) => Number(count === 1)));
  const [terse, careless] = [wordsShown(demonstrateTerse), wordsShown(demonstrateStyle)];
  // No task asks for one word, so that it is written in neglect alone: 0.7 · 1/2, and 0.5 · 1/5 or more where the source is short.
  expect(ones(terse)).toBeGreaterThan(0.32);
  expect(ones(terse)).toBeLessThan(0.38);
  expect(ones(careless)).toBeLessThan(0.17);
  expect(mean(careless) - mean(terse)).toBeGreaterThan(0.5);
});
