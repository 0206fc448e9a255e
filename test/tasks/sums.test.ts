/** Documents with sums: what can be worked out, what cannot, and what their warm start is shown. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { demonstrateSums } from '../../tasks/documents/sum-demonstrations.ts';
import {
  drawPosition,
  drawSums,
  isComputable,
  isHeldOutPosition,
  parsePosition,
  parseThought,
  thoughtIsExact,
  workOut,
  writePosition,
  writeThought,
} from '../../tasks/documents/sums.ts';
import { anyText } from './any-text.ts';

const FACTS = 'be3 da7 ko2 mi5 tu8';

test('a sum is worked out from the facts, by last digits', () => {
  expect(workOut(`${FACTS}:be+ko-da=`)).toEqual({ steps: ['3+2=5', '5-7=8'], digit: '8' });
  expect(workOut(`${FACTS}:zu5 da+tu+mi=`)).toEqual({ steps: ['7+8=5', '5+5=0'], digit: '0' });
  expect(workOut(`${FACTS}:be+ko-da=8 zu5 ko-tu-be=`)).toEqual({ steps: ['2-8=4', '4-3=1'], digit: '1' });
  // A name that nothing is said of, what is no sum of three, and a sentence on another name.
  for (const nothing of [`${FACTS}:be+xa-da=`, `${FACTS}:be+ko=`, `${FACTS}:zu`, `${FACTS}:`, ''])
    expect(workOut(nothing)).toBeNull();
});

test('a position is the text before a digit, and the digit', () => {
  const task = `${FACTS}:be+ko-da=?8`;
  expect(parsePosition(task)).toEqual({ before: `${FACTS}:be+ko-da=`, next: '8' });
  expect(writePosition(parsePosition(task))).toBe(task);
  expect([isComputable(task), isComputable(`${FACTS}:zu?5`)]).toEqual([true, false]);
});

test('a thought is steps with an end, and exact where it works the digit out', () => {
  const exact = '3+2=5<step>5-7=8<answer>';
  expect(parseThought(exact)).toEqual({ ok: true, value: ['3+2=5', '5-7=8'] });
  expect(writeThought(['3+2=5', '5-7=8'])).toBe(exact);
  for (const text of ['<answer>', '3+2=5', '3+2=5<step><answer>', '3+2=15<answer>', '3+2=5<answer><answer>'])
    expect(parseThought(text), text).toEqual({ ok: false, reason: 'off-grammar' });
  const before = `${FACTS}:be+ko-da=`;
  expect(thoughtIsExact(before, ['3+2=5', '5-7=8'])).toBe(true);
  expect(thoughtIsExact(before, ['3+2=5'])).toBe(false);
  expect(thoughtIsExact(`${FACTS}:zu`, ['3+2=5', '5-7=8'])).toBe(false);
});

test('documents: two sums that are right and two digits from nothing, on their side of the split', () => {
  const random = new Random('sums');
  const digits = new Set<string>();
  for (let i = 0; i < 200; i++) {
    const heldOut = i % 2 === 1;
    const { text, positions } = drawSums(random, heldOut);
    expect(positions).toHaveLength(4);
    const sums = positions.filter(({ before }) => workOut(before) !== null);
    expect(sums).toHaveLength(2);
    for (const { before, next } of positions) expect(text.startsWith(before + next)).toBe(true);
    for (const { before, next } of sums) expect(next).toBe(workOut(before)!.digit);
    for (const position of positions) {
      expect(isHeldOutPosition(writePosition(position))).toBe(heldOut);
      if (!sums.includes(position)) {
        digits.add(position.next);
        const name = position.before.slice(-2);
        expect(text.slice(0, text.indexOf(':'))).not.toContain(name);
      }
    }
  }
  expect(digits.size).toBe(10);
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

test('demonstrations: documents and thoughts on the training side, of which two in five at sums work the digit out', () => {
  const random = new Random('demonstrations');
  let [thoughts, right, wrong] = [0, 0, 0];
  for (let i = 0; i < 1000; i++) {
    const { role, prompt, completion } = demonstrateSums(random);
    expect(role).toBe('author');
    expect(isHeldOutPosition(prompt)).toBe(false);
    expect(completion.endsWith('<eos>')).toBe(true);
    if (!prompt.endsWith('<step>')) continue;
    thoughts++;
    const before = prompt.slice(0, -'<step>'.length);
    const [, thought, digit] = /^(.+<answer>)(\d)<eos>$/.exec(completion)!;
    const parsed = parseThought(thought!);
    if (!parsed.ok) throw new Error(completion);
    const worked = workOut(before);
    if (!worked) continue;
    // The digit is the document's, whatever was thought.
    expect(digit).toBe(worked.digit);
    if (thoughtIsExact(before, parsed.value)) right++;
    else wrong++;
  }
  expect(thoughts / 1000).toBeCloseTo(0.5, 1);
  expect(right / (right + wrong)).toBeCloseTo(0.4, 1);
});
