import { expect, test } from 'vitest';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { feedbackOn, firstFault, partOfTokens } from '../../worlds/arithmetic/feedback.ts';

// The totals of 3+4-9+5 are 7, -2, 3.
const TASK = '3+4-9+5';
const attempt = (steps: readonly string[], answer: string) => ({ steps, answer });

test('the first fault is the first part that is not exact', () => {
  expect(firstFault(TASK, attempt(['7', '-2', '3'], '3'))).toBeNull();
  expect(firstFault(TASK, attempt([], '3'))).toBeNull();
  // 8 - 9 = -1 and -1 + 5 = 4 are rightly worked out from a wrong total.
  expect(firstFault(TASK, attempt(['8', '-1', '4'], '4'))).toBe(0);
  expect(firstFault(TASK, attempt(['7', '-1', '4'], '4'))).toBe(1);
  expect(firstFault(TASK, attempt(['7', '-2', '4'], '4'))).toBe(2);
  expect(firstFault(TASK, attempt(['7', '-2', '3'], '4'))).toBe(3);
  expect(firstFault(TASK, attempt([], '4'))).toBe(0);
});

test('feedback repeats what is right and corrects the fault, and tells all where nothing would be left', () => {
  expect(feedbackOn(TASK, attempt(['7', '-2', '3'], '3'))).toBeNull();
  expect(feedbackOn(TASK, attempt(['8', '-1', '4'], '4'))).toBe('<step>7');
  expect(feedbackOn(TASK, attempt(['7', '-1', '4'], '4'))).toBe('<step>7<step>-2');
  const whole = '<step>7<step>-2<step>3<answer>3';
  expect(feedbackOn(TASK, attempt(['7', '-2', '4'], '4'))).toBe(whole);
  expect(feedbackOn(TASK, attempt(['7', '-2', '3'], '4'))).toBe(whole);
  expect(feedbackOn(TASK, attempt([], '4'))).toBe(whole);
  expect(arithmetic.parseSolution(TASK, `${whole}<eos>`)).toMatchObject({ ok: true });
});

test('tokens belong to the part whose tag came last', () => {
  // Tags 1 (step) and 2 (answer): two steps of two tokens, an answer and the stop.
  expect(partOfTokens([1, 7, 1, 8, 9, 2, 9, 5], [1, 2])).toEqual([0, 0, 1, 1, 1, 2, 2, 2]);
  expect(partOfTokens([7, 1, 8], [1, 2])).toEqual([-1, 0, 0]);
  expect(partOfTokens([], [1])).toEqual([]);
});
