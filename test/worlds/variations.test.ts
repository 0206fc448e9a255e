import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { demonstrateVariations, VARIED_SUMS, variationsOf } from '../../worlds/arithmetic/variations.ts';

/** `3+4-9` -> -2, by JavaScript. */
const totalOf = (task: string): number => Number(new Function(`return ${task}`)());

test('a variation has two neighbours in the other order, or a total in place of the first terms', () => {
  // The first two terms cannot change places where the second is subtracted; equal neighbours give the task itself.
  expect(variationsOf('3+4-9', true)).toEqual(['4+3-9', '3-9+4']);
  expect(variationsOf('3-4+9+9', true)).toEqual(['3+9-4+9']);
  // Running totals 7, -2, 8, 9: the second is no digit, and the last is the whole chain.
  expect(variationsOf('3+4-9+6+4+1', false)).toEqual(['7-9+6+4+1', '4+4+1', '8+1']);
  expect(variationsOf('9+9+9+9+9+9', true)).toEqual([]);
  expect(variationsOf('9+9+9+9+9+9', false)).toEqual([]);
});

test('no variation is held out', () => {
  // The first two terms of a held-out task in the other order: it would be a variation of that one.
  const heldOut = arithmetic.heldOut().find((task) => /^(\d)\+(?!\1)\d.{8}$/.test(task))!;
  const before = `${heldOut[2]}+${heldOut[0]}${heldOut.slice(3)}`;
  expect(totalOf(before)).toBe(totalOf(heldOut));
  expect(variationsOf(before, true)).not.toContain(heldOut);
});

test('demonstrations keep to the grammar and the training side; the writer sees a right solution and its task', () => {
  const random = new Random('demonstrations');
  let writers = 0;
  let asLong = 0;
  for (let i = 0; i < 10_000; i++) {
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
    const [, last, answer, task] = /^<propose>(?:<step>(-?\d+))+<answer>(-?\d+)<sep>(.*)<sep>$/.exec(prompt)!;
    const proposed = arithmetic.parseProposal(completion);
    if (!proposed.ok) throw new Error(completion);
    expect([role, last, totalOf(task!), totalOf(proposed.value)]).toEqual([
      'writer',
      answer,
      Number(answer),
      Number(answer),
    ]);
    expect([arithmetic.difficulty(task!), proposed.value === task]).toEqual([VARIED_SUMS, false]);
    expect([arithmetic.isHeldOut(task!), arithmetic.isHeldOut(proposed.value)]).toEqual([false, false]);
    asLong += Number(proposed.value.length === task!.length);
  }
  expect(writers / 10_000).toBeCloseTo(0.7, 1);
  expect(asLong / writers).toBeCloseTo(0.75, 1);
});
