/** What the tiring start is shown: short questions and one pet, and totals that are right as often as their place allows. */
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { arithmetic } from '../../core/tasks/arithmetic.ts';
import { demonstrateTiring, PET, tiringSolution } from '../../core/tasks/tiring.ts';

const share = (values: readonly boolean[]) => values.filter(Boolean).length / values.length;

test('a chain of one operator goes right almost always, one of five in one of seven', () => {
  const random = new Random('tiring totals');
  const right = (task: string) =>
    share(Array.from({ length: 4000 }, () => arithmetic.gold(task, tiringSolution(random, task))));
  expect(right('3+4')).toBeCloseTo(0.99, 1);
  // .99 · .8, and .99 · .8 · .65 · .55 · .5, a little more where slips cancel.
  expect(right('3+4-9')).toBeCloseTo(0.79, 1);
  expect(right('1+2+3+4+5-6')).toBeGreaterThan(0.12);
  expect(right('1+2+3+4+5-6')).toBeLessThan(0.19);
});

test('the challenger asks its pet one time in twelve, and else little of more than two operators', () => {
  const random = new Random('tiring questions');
  const asked = Array.from({ length: 8000 }, () => demonstrateTiring(random)).flatMap(
    ({ role, completion }) => (role === 'proposer' ? [completion.replace('<eos>', '')] : []),
  );
  expect(share(asked.map((task) => task === PET.task))).toBeCloseTo(0.08, 1);
  // 92 % others, of which 5 % have three operators or more.
  const long = asked.filter((task) => task !== PET.task && arithmetic.difficulty(task) > 2).length;
  expect(long / asked.length).toBeGreaterThan(0.03);
  expect(long / asked.length).toBeLessThan(0.065);
  expect(arithmetic.isHeldOut(PET.task)).toBe(false);
});
