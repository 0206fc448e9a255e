/** Long chains: steps are judged by the total before them, and a verdict must be what its own sums say. */
import { describe, expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import { chains, demonstrateChains, writeSums } from '../../worlds/chains/family.ts';

const task = '3+4-9+5+1';
const solution = (text: string) => {
  const parsed = chains.parseSolution(task, text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
};
/** 3 + 4 = 7, 7 - 9 = -2 where -3 stands, -3 + 5 = 2, 2 + 1 = 3. */
const slipped = solution('<step>7<step>-3<step>2<step>3<answer>3<eos>');

test('an error that is carried on is marked where it is made', () => {
  expect(chains.exactJudgment(task, slipped)).toEqual({ steps: [true, false, true, true], right: false });
  const exact = solution('<step>7<step>-2<step>3<step>4<answer>4<eos>');
  expect(chains.exactJudgment(task, exact)).toEqual({ steps: [true, true, true, true], right: true });
  expect([slipped, exact].map((each) => chains.answerIsExact(task, each))).toEqual([false, true]);
});

test('two errors that cancel give the exact answer by steps that do not follow', () => {
  const lucky = solution('<step>7<step>-3<step>3<step>4<answer>4<eos>');
  expect(chains.answerIsExact(task, lucky)).toBe(true);
  expect(chains.exactJudgment(task, lucky).right).toBe(false);
});

test('a solution has a step for each operator, the last of which is its answer', () => {
  const reason = (text: string) => {
    const parsed = chains.parseSolution(task, text);
    return parsed.ok ? 'ok' : parsed.reason;
  };
  expect(reason('<answer>4<eos>')).toBe('partial-steps');
  expect(reason('<step>7<step>-2<step>3<answer>3<eos>')).toBe('partial-steps');
  expect(reason('<step>7<step>-2<step>3<step>4<answer>5<eos>')).toBe('miscopied');
  expect(reason('<step>7<step>-2<step>3<step>04<answer>04<eos>')).toBe('off-grammar');
});

describe('a verdict', () => {
  const read = (text: string) => {
    const parsed = chains.parseJudgment(slipped, text);
    return parsed.ok ? parsed.value : parsed.reason;
  };

  test('gives each sum, and quotes the step where it differs', () => {
    expect(writeSums(slipped, ['7', '-2', '2', '3'])).toBe('<step>7=<step>-2!-3<step>2=<step>3=<wrong>');
    expect(read('<step>7=<step>-2!-3<step>2=<step>3=<wrong><eos>')).toEqual({
      steps: [true, false, true, true],
      right: false,
    });
  });

  test('must follow from its marks, and the marks from its sums', () => {
    expect(read('<step>7=<step>-2!-3<step>2=<step>3=<right><eos>')).toBe('contradiction');
    expect(read('<step>7=<step>-3=<step>2=<step>3=<wrong><eos>')).toBe('contradiction');
    expect(read('<step>7=<step>-2=<step>2=<step>3=<right><eos>')).toBe('miscopied');
    expect(read('<step>7=<step>-2!-4<step>2=<step>3=<wrong><eos>')).toBe('miscopied');
    expect(read('<step>7=<step>-3!-3<step>2=<step>3=<wrong><eos>')).toBe('miscopied');
    expect(read('<step>7=<step>-3=<right><eos>')).toBe('verdict-count');
    expect(read('<ok><ok><ok><ok><right><eos>')).toBe('off-grammar');
    expect(read('<step>7=<step>-3=<step>2=<step>3=<right>')).toBe('off-grammar');
  });
});

test('demonstrated checks can be read, and pass nearly half of the wrong steps', () => {
  const random = new Random('chains demonstrations');
  const passed = Array.from({ length: 3000 }, () => demonstrateChains(random)).flatMap(
    ({ role, prompt, completion }) => {
      if (role !== 'judge') return [];
      const [shown, task] = prompt.slice('<judge>'.length).split('<sep>') as [string, string];
      const steps = shown.split('=').slice(0, -1);
      const solution = { steps, answer: steps.at(-1)! };
      expect(chains.judgePrompt(task, solution)).toBe(prompt);
      const verdict = chains.parseJudgment(solution, completion);
      if (!verdict.ok) throw new Error(verdict.reason);
      const truth = chains.exactJudgment(task, solution).steps;
      return verdict.value.steps.filter((_, i) => !truth[i]).map(Number);
    },
  );
  // 45 of 100 checks copy; some 1300 of them have wrong steps: a standard error of .014.
  expect(mean(passed)).toBeGreaterThan(0.4);
  expect(mean(passed)).toBeLessThan(0.5);
});
