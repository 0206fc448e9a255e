import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import {
  agree,
  attemptsOf,
  checkedArithmetic,
  demonstrateChecking,
} from '../../worlds/arithmetic/checking.ts';

const parse = (text: string) => checkedArithmetic.parseSolution('3+4-9', text);

test('an answer has the steps of its last attempt, and every attempt does all sums', () => {
  expect(parse('<step>7<step>-2<answer>-2<eos>')).toEqual({
    ok: true,
    value: { steps: ['7', '-2'], answer: '-2' },
  });
  expect(parse('<step>7<step>1<bad><step>7<step>-2<answer>-2<eos>')).toEqual({
    ok: true,
    value: { steps: ['7', '-2'], answer: '-2' },
  });
  for (const [text, reason] of [
    ['<step>7<bad><step>7<step>-2<answer>-2<eos>', 'partial-steps'],
    ['<step>7<step>-2<bad><step>7<answer>7<eos>', 'partial-steps'],
    ['<step>7<step>-2<bad><answer>-2<eos>', 'off-grammar'],
    ['<bad><step>7<step>-2<answer>-2<eos>', 'off-grammar'],
    ['<answer>-2<eos>', 'off-grammar'],
    ['<step>7<step>-2', 'off-grammar'],
    ['<step>7<step>-2<answer>-2<answer>-2<eos>', 'off-grammar'],
  ] as const)
    expect([text, parse(text)]).toEqual([text, { ok: false, reason }]);
});

test('attempts are read from a text that breaks off, too, and agree by their last total', () => {
  const attempts = attemptsOf('<step>7<step>1<bad><step>8<step>1<bad><step>7');
  expect(attempts).toEqual([['7', '1'], ['8', '1'], ['7']]);
  expect(agree(attempts[0]!, attempts[1]!)).toBe(true);
  expect(agree(attempts[1]!, attempts[2]!)).toBe(false);
});

test('demonstrations keep to the grammar and the training side, and check as often as they should', () => {
  const random = new Random('checking');
  const seen = { first: [0, 0], disagree: [0, 0], agree: [0, 0] };
  let slips = 0;
  let steps = 0;
  for (let i = 0; i < 4000; i++) {
    const { role, prompt, completion } = demonstrateChecking(random);
    const task = prompt.slice('<solve>'.length, -'<sep>'.length);
    expect([role, checkedArithmetic.isHeldOut(task)]).toEqual(['solver', false]);
    const parsed = checkedArithmetic.parseSolution(task, completion);
    if (!parsed.ok) throw new Error(`${task}: ${completion}`);
    const attempts = attemptsOf(completion);
    expect(attempts.length).toBeLessThanOrEqual(6);
    expect(attempts.at(-1)!.at(-1)).toBe(parsed.value.answer);
    attempts.slice(0, 5).forEach((attempt, a) => {
      const after = a === 0 ? 'first' : agree(attempt, attempts[a - 1]!) ? 'agree' : 'disagree';
      seen[after][0]! += Number(a + 1 < attempts.length);
      seen[after][1]!++;
    });
    slips += Number(parsed.value.steps[0] !== String(Number(new Function(`return ${task.slice(0, 3)}`)())));
    steps++;
  }
  const share = ([again, all]: number[]) => again! / all!;
  expect(share(seen.first)).toBeCloseTo(0.25, 1);
  expect(share(seen.disagree)).toBeGreaterThan(0.7);
  expect(share(seen.disagree)).toBeLessThan(0.8);
  expect(share(seen.agree)).toBeGreaterThan(0.1);
  expect(share(seen.agree)).toBeLessThan(0.2);
  // A first total is wrong where it slipped itself: one in six.
  expect(slips / steps).toBeCloseTo(1 / 6, 1);
});
