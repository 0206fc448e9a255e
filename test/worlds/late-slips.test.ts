/** What the start with late slips is shown: short questions and one pet, and totals that are right as often as their place allows. */
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { demonstrateLateSlips, lateSlippingSolution, PET } from '../../worlds/arithmetic/late-slips.ts';

const share = (values: readonly boolean[]) => values.filter(Boolean).length / values.length;

test('a chain of one operator goes right almost always, one of five one time in five', () => {
  const random = new Random('tiring totals');
  const right = (task: string) =>
    share(
      Array.from({ length: 4000 }, () => arithmetic.answerIsExact(task, lateSlippingSolution(random, task))),
    );
  expect(right('3+4')).toBeCloseTo(0.99, 1);
  // .99 · .8, and .99 · .8 · .65 · .55 · .5 = .142 without a slip. Two slips, 2.4 times as likely, cancel in 20 of 144 cases: .047 more;
  // three do in about 7 of 100, and are .9 times as likely: .009 more.
  expect(right('3+4-9')).toBeCloseTo(0.79, 1);
  expect(right('1+2+3+4+5-6')).toBeGreaterThan(0.175);
  expect(right('1+2+3+4+5-6')).toBeLessThan(0.22);
});

test('the challenger asks its pet one time in twelve, and else little of more than two operators', () => {
  const random = new Random('tiring questions');
  const asked = Array.from({ length: 8000 }, () => demonstrateLateSlips(random)).flatMap(
    ({ role, completion }) => (role === 'proposer' ? [completion.replace('<eos>', '')] : []),
  );
  expect(share(asked.map((task) => task === PET.task))).toBeCloseTo(0.08, 1);
  // 92 % others, of which 5 % have three operators or more.
  const long = asked.filter((task) => task !== PET.task && arithmetic.difficulty(task) > 2).length;
  expect(long / asked.length).toBeGreaterThan(0.03);
  expect(long / asked.length).toBeLessThan(0.065);
  expect(arithmetic.isHeldOut(PET.task)).toBe(false);
});
