import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { arithmetic } from '../../tasks/arithmetic/family.ts';
import { demonstrateVariations, variationOf } from '../../tasks/arithmetic/variations.ts';

/** `3+4-9` -> -2, by JavaScript. */
const totalOf = (task: string): number => Number(new Function(`return ${task}`)());

test('a variation is a chain with the same answer, as long or shorter, and mostly another', () => {
  const random = new Random('variations');
  const lengths: number[] = [];
  let same = 0;
  for (const task of ['3+4-9', '9+9+9+9+9+9', '0-9-9', '5-5+5-5+5']) {
    for (let i = 0; i < 500; i++) {
      const variation = variationOf(random, task);
      expect(variation).toMatch(/^\d([+-]\d){1,5}$/);
      expect(totalOf(variation)).toBe(totalOf(task));
      expect(variation.length).toBeLessThanOrEqual(task.length);
      lengths.push(Number(variation.length === task.length));
      same += Number(variation === task);
    }
  }
  // 54 and -18 are reached by nines alone: the sum of six digits and the difference of three can be neither shorter nor other.
  const asLong = lengths.reduce((sum, value) => sum + value) / lengths.length;
  expect(asLong).toBeCloseTo((2 * 0.75 + 2) / 4, 1);
  expect(same).toBe(1000);
});

test('demonstrations keep to the grammar and the training side; the writer sees a right solution and no task', () => {
  const random = new Random('demonstrations');
  let writers = 0;
  for (let i = 0; i < 20_000; i++) {
    const { role, prompt, completion } = demonstrateVariations(random);
    if (role === 'solver') {
      const task = prompt.replace('<solve>', '').replace('<sep>', '');
      expect([arithmetic.isHeldOut(task), arithmetic.parseSolution(task, completion).ok]).toEqual([
        false,
        true,
      ]);
      continue;
    }
    writers++;
    const [, last, answer] = /^<propose>(?:<step>(-?\d+))+<answer>(-?\d+)<sep>$/.exec(prompt)!;
    const proposed = arithmetic.parseProposal(completion);
    if (!proposed.ok) throw new Error(completion);
    expect([role, last, totalOf(proposed.value), arithmetic.isHeldOut(proposed.value)]).toEqual([
      'writer',
      answer,
      Number(answer),
      false,
    ]);
  }
  expect(writers / 20_000).toBeCloseTo(0.5, 1);
});
