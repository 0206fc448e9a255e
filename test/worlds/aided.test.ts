import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import {
  aidedPrompt,
  demonstrateAided,
  hintedSteps,
  hintPrompt,
  parseHint,
  referenceSolution,
} from '../../worlds/arithmetic/aided.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';

/** 3 + 4 = 7, 7 - 9 = -2, -2 + 5 = 3, 3 + 1 = 4. */
const TASK = '3+4-9+5+1';

test('prompts: an aid after the task, and for hints the reference and the level', () => {
  expect(aidedPrompt(TASK, '<step>7')).toBe('<solve>3+4-9+5+1<sep><step>7<sep>');
  expect(referenceSolution(TASK)).toEqual({ steps: ['7', '-2', '3', '4'], answer: '4' });
  expect(hintPrompt('3+4', 2)).toBe('<propose>3+4<sep><step>7<answer>7<sep>2<sep>');
});

test('a level tells a quarter more of the steps, at least one and never all', () => {
  expect([1, 2, 3].map((level) => hintedSteps('1+1+1+1+1+1', level as 1))).toEqual([2, 3, 4]);
  expect([1, 2, 3].map((level) => hintedSteps(TASK, level as 1))).toEqual([1, 2, 3]);
  expect([1, 2, 3].map((level) => hintedSteps('1+1+1', level as 1))).toEqual([1, 1, 1]);
});

test('a hint has some of the steps and nothing else', () => {
  expect(parseHint(TASK, '<step>7<step>-2<eos>')).toEqual({ ok: true, value: '<step>7<step>-2' });
  for (const text of ['<eos>', '<step>7', '<step>7<answer>7<eos>', '<step>07<eos>'])
    expect(parseHint(TASK, text)).toEqual({ ok: false, reason: 'off-grammar' });
  expect(parseHint('3+4-9', '<step>7<step>-2<eos>')).toEqual({ ok: false, reason: 'too-long' });
});

test('demonstrations keep to the grammar and to the training side; half of the drafts are kept', () => {
  const random = new Random('aided');
  let [drafts, kept] = [0, 0];
  for (let i = 0; i < 2000; i++) {
    const { role, prompt, completion } = demonstrateAided(random);
    const [task, aid] = prompt.replace(/^<\w+>/, '').split('<sep>') as [string, string];
    expect(arithmetic.isHeldOut(task)).toBe(false);
    if (role === 'hinter') {
      expect(parseHint(task, completion).ok).toBe(true);
      continue;
    }
    expect(arithmetic.parseSolution(task, completion).ok).toBe(true);
    if (aid.includes('<answer>')) {
      drafts++;
      kept += Number(`${aid}<eos>` === completion);
    } else if (aid) expect(completion.startsWith(`${aid}<step>`)).toBe(true);
  }
  // Half of the drafts, and those that the sums come to again.
  expect(drafts).toBeGreaterThan(500);
  expect(kept / drafts).toBeGreaterThan(0.5);
  expect(kept / drafts).toBeLessThan(0.75);
});
