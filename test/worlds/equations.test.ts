import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import {
  equationSteps,
  equations,
  flawedEquation,
  parseEquation,
  randomEquation,
  rootOf,
  writeEquation,
} from '../../worlds/equations/family.ts';

/** Second opinion: tries every x. */
function rootByTrial(task: string): number | undefined {
  const { a, b, c } = parseEquation(task)!;
  for (let x = -1200; x <= 1200; x++) if (a * x + b === c) return x;
  return undefined;
}

test('hand-worked: 3x - 4 = 11 gives 3x = 15 and x = 5', () => {
  const equation = parseEquation('3*x-4=11')!;
  expect(equation).toEqual({ a: 3, b: -4, c: 11 });
  expect(equationSteps(equation)).toEqual(['3*x=15', 'x=5']);
  expect(rootOf(equation)).toBe(5);
  expect(writeEquation(equation)).toBe('3*x-4=11');
  expect(Object.is(rootOf(parseEquation('-3*x+4=4')!), 0)).toBe(true);
});

test.each(['0*x+1=1', '3*x+0=3', '3*x+4=11', '3x+1=7', '3*x+1=07', '3*x+1=-0', '3*x+100=1', '2*x+2=1002'])(
  'is no task: %s',
  (text) => expect(equations.parseProposal(`${text}<eos>`).ok).toBe(false),
);

test('the oracle agrees with trial of all x', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 1e6 }), (coefficient, seed) => {
      const task = randomEquation(new Random(`equations/${seed}`), { coefficient, constant: 30, root: 20 });
      const root = rootByTrial(task)!;
      expect(equations.answerIsExact(task, { steps: [], answer: String(root) })).toBe(true);
      expect(equations.answerIsExact(task, { steps: [], answer: String(root + 1) })).toBe(false);
    }),
    { numRuns: 200 },
  );
});

test('steps are judged by their root, one by one', () => {
  const judge = (text: string) => {
    const parsed = equations.parseSolution('3*x-4=11', text);
    if (!parsed.ok) return parsed.reason;
    return equations.exactJudgment('3*x-4=11', parsed.value);
  };
  expect(judge('<step>3*x=15<step>x=5<answer>5<eos>')).toEqual({ steps: [true, true], right: true });
  expect(judge('<step>6*x=30<step>x=5<answer>5<eos>')).toEqual({ steps: [true, true], right: true });
  expect(judge('<step>3*x=7<step>x=5<answer>5<eos>')).toEqual({ steps: [false, true], right: false });
  expect(judge('<step>3*x=15<step>x=5<answer>4<eos>')).toEqual({ steps: [true, true], right: false });
  expect(judge('<answer>5<eos>')).toEqual({ steps: [], right: true });
  expect(judge('<step>3*x=15<answer>5<eos>')).toBe('partial-steps');
  expect(judge('<step>x=5<step>3*x=15<answer>5<eos>')).toBe('off-grammar');
  expect(judge('<answer>5<eos><eos>')).toBe('off-grammar');
});

test.each([
  ['isolate', [false, false]],
  ['divide', [true, false]],
  ['answer', [true, true]],
] as const)('an error in "%s" shows where it was made', (flaw, steps) => {
  const random = new Random('equations/flaws');
  for (let i = 0; i < 30; i++) {
    const task = randomEquation(random);
    expect(equations.exactJudgment(task, flawedEquation(random, task, flaw))).toEqual({
      steps,
      right: false,
    });
  }
});

test('larger settings are harder', () => {
  const mean = (coefficient: number, constant: number, root: number) => {
    const random = new Random('equations/range');
    const drawn = Array.from({ length: 100 }, () => randomEquation(random, { coefficient, constant, root }));
    return drawn.reduce((sum, task) => sum + equations.difficulty(task), 0) / drawn.length;
  };
  expect(mean(9, 90, 40)).toBeGreaterThan(mean(2, 5, 4) + 1);
});
