import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { demonstrateRevising, revisionAid } from '../../worlds/arithmetic/revising.ts';

test('an attempt without its stop token, finished or not, and the bit', () => {
  expect(revisionAid('<step>7<answer>7<eos>', true)).toBe('<step>7<answer>7<right>');
  expect(revisionAid('<step>7<step>1', false)).toBe('<step>7<step>1<wrong>');
  expect(revisionAid('<step>7<answer>7<eos>', null)).toBe('<step>7<answer>7');
});

/** `3+4-9` -> -2, by JavaScript. */
const totalOf = (task: string): number => Number(new Function(`return ${task}`)());

test('demonstrations keep to the grammar and the training side, tell the bit truly, and keep more right attempts than wrong ones', () => {
  const random = new Random('revising');
  const seen = { right: 0, wrong: 0, alone: 0 };
  const kept = { right: 0, wrong: 0 };
  for (let i = 0; i < 2000; i++) {
    const { role, prompt, completion } = demonstrateRevising(random);
    const [task, aid] = prompt.replace('<solve>', '').split('<sep>') as [string, string];
    expect([role, arithmetic.isHeldOut(task), arithmetic.parseSolution(task, completion).ok]).toEqual([
      'solver',
      false,
      true,
    ]);
    const told = /^(.*<answer>(.+))<(right|wrong)>$/.exec(aid);
    if (!told) {
      expect(aid).toBe('');
      seen.alone++;
      continue;
    }
    const bit = told[3] as 'right' | 'wrong';
    expect(bit === 'right').toBe(Number(told[2]) === totalOf(task));
    seen[bit]++;
    kept[bit] += Number(`${told[1]}<eos>` === completion);
  }
  // Half are alone. Nine of ten right ones are kept and two of five wrong ones, and those that the sums come to again.
  expect(seen.alone / 2000).toBeCloseTo(0.5, 1);
  expect(kept.right / seen.right).toBeGreaterThan(0.88);
  expect(kept.wrong / seen.wrong).toBeGreaterThan(0.36);
  expect(kept.wrong / seen.wrong).toBeLessThan(0.56);
});
