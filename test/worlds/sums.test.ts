/** Documents with sums: what can be worked out, what cannot, and what their warm start is shown. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { demonstrateSums } from '../../worlds/documents/sum-demonstrations.ts';
import {
  drawPosition,
  drawSums,
  isComputable,
  isHeldOutPosition,
  operationsOf,
  parsePosition,
  parseThought,
  thoughtIsExact,
  workOut,
  writePosition,
  writeThought,
} from '../../worlds/documents/sums.ts';
import { anyText } from './any-text.ts';

test('a sum at the end of a text is worked out by its running totals, which have one digit', () => {
  expect(workOut('3+4-2+1-5=')).toEqual(['7', '5', '6', '1']);
  expect(workOut('zu5 3+4-2+1-5=1 9-3-4=')).toEqual(['6', '2']);
  // A name, a sum that is no longer at the end, totals of 11 and -1, one operation and five of them.
  for (const nothing of ['3+4-2=5 zu', '3+4-2=5', '3+8-2=', '3-4+2=', '3+4=', '1+1+1+1+1+1=', ''])
    expect(workOut(nothing), nothing).toBeNull();
});

test('a position is the text before a digit, and the digit', () => {
  const task = 'zu5 3+4-2+1-5=?1';
  expect(parsePosition(task)).toEqual({ before: 'zu5 3+4-2+1-5=', next: '1' });
  expect(writePosition(parsePosition(task))).toBe(task);
  expect([isComputable(task), isComputable('3+4-2+1-5=1 zu?5')]).toEqual([true, false]);
  expect([operationsOf(task), operationsOf('3+4-1=6 zu?5')]).toEqual([4, 0]);
});

test('a thought is digits with an end, and exact where it goes through all running totals', () => {
  const exact = '7<step>5<step>6<step>1<answer>';
  expect(parseThought(exact)).toEqual({ ok: true, value: ['7', '5', '6', '1'] });
  expect(writeThought(['7', '5', '6', '1'])).toBe(exact);
  for (const text of ['<answer>', '7<step>5', '7<step><answer>', '7<step>15<answer>', '7<answer><answer>'])
    expect(parseThought(text), text).toEqual({ ok: false, reason: 'off-grammar' });
  const before = 'zu5 3+4-2+1-5=';
  expect(thoughtIsExact(before, ['7', '5', '6', '1'])).toBe(true);
  expect(thoughtIsExact(before, ['7'])).toBe(false);
  expect(thoughtIsExact(before, ['7', '5', '6', '2'])).toBe(false);
  expect(thoughtIsExact('3+4-2+1-5=1 zu', ['5'])).toBe(false);
});

test('documents: two sums that are right and two digits from nothing, on their side of the split', () => {
  const random = new Random('sums');
  const noise = new Set<string>();
  const lengths = new Set<number>();
  for (let i = 0; i < 400; i++) {
    const heldOut = i % 2 === 1;
    const { text, positions } = drawSums(random, heldOut);
    expect(text).toMatch(/^\S+ \S+ \S+ \S+$/);
    expect(positions).toHaveLength(4);
    const sums = positions.filter(({ before }) => workOut(before) !== null);
    expect(sums).toHaveLength(2);
    for (const position of positions) {
      const { before, next } = position;
      expect(text.startsWith(before + next)).toBe(true);
      if (!sums.includes(position)) {
        noise.add(next);
        continue;
      }
      const sum = before.slice(before.lastIndexOf(' ') + 1);
      lengths.add(sum.length / 2 - 1);
      // By another reading of the sum than the family's: its signed digits, added.
      expect(
        sum
          .match(/[+-]?\d/g)!
          .map(Number)
          .reduce((a, b) => a + b, 0),
      ).toBe(Number(next));
      expect(isHeldOutPosition(writePosition(position))).toBe(heldOut);
    }
  }
  expect(noise.size).toBe(10);
  expect([...lengths].sort()).toEqual([2, 3, 4]);
  const drawn = Array.from({ length: 600 }, () => isComputable(drawPosition(random)));
  expect(drawn.filter(Boolean).length / 600).toBeCloseTo(0.5, 1);
});

test('no text makes the family throw', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      workOut(text);
      parsePosition(text);
      parseThought(text);
      isComputable(text);
      isHeldOutPosition(text);
    }),
    { numRuns: 300 },
  );
});

test('demonstrations: documents and thoughts without held-out sums; of thoughts at sums four in ten are whole, four stop early', () => {
  const random = new Random('demonstrations');
  let [thoughts, whole, first, stray] = [0, 0, 0, 0];
  for (let i = 0; i < 2000; i++) {
    const { role, prompt, completion } = demonstrateSums(random);
    expect(role).toBe('author');
    expect(completion.endsWith('<eos>')).toBe(true);
    for (const [sum] of (prompt + completion).matchAll(/\d(?:[+-]\d){2,4}=/g))
      expect(isHeldOutPosition(`${sum}?0`)).toBe(false);
    if (!prompt.endsWith('<step>')) continue;
    thoughts++;
    const before = prompt.slice(0, -'<step>'.length);
    const [, thought, digit] = /^(.+<answer>)(\d)<eos>$/.exec(completion)!;
    const parsed = parseThought(thought!);
    if (!parsed.ok) throw new Error(completion);
    const totals = workOut(before);
    if (!totals) continue;
    // The digit is the document's, whatever was thought.
    expect(digit).toBe(totals.at(-1));
    if (thoughtIsExact(before, parsed.value)) whole++;
    else if (parsed.value.join() === totals[0]) first++;
    else stray++;
  }
  expect(thoughts / 2000).toBeCloseTo(0.8, 1);
  expect(whole / (whole + first + stray)).toBeCloseTo(0.4, 1);
  expect(first / (whole + first + stray)).toBeCloseTo(0.4, 1);
});
