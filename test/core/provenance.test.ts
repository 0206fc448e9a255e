import { expect, test } from 'vitest';
import { equalInConstantTime } from '../../core/audit/provenance.ts';

/** A text that counts how many of its characters are looked at. */
function counted(text: string) {
  let looks = 0;
  const counting = {
    length: text.length,
    charCodeAt: (i: number) => {
      looks++;
      return text.charCodeAt(i);
    },
  };
  return { counting: counting as unknown as string, looks: () => looks };
}

test.each([
  ['first', `x${'a'.repeat(63)}`],
  ['last', `${'a'.repeat(63)}x`],
  ['no', 'a'.repeat(64)],
])('a comparison takes as long where the %s character differs', (_, given) => {
  const { counting, looks } = counted(given);
  expect(equalInConstantTime(counting, 'a'.repeat(64))).toBe(given === 'a'.repeat(64));
  expect(looks()).toBe(64);
});

test('texts of other lengths differ', () => {
  expect(equalInConstantTime('a', 'aa')).toBe(false);
  expect(equalInConstantTime('', '')).toBe(true);
});
