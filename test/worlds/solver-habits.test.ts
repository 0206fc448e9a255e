/** What the warm starts of solvers with a habit are shown: answers given at once too often, and answers that do not end. */
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import type { Demonstration } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { demonstrateTerse } from '../../worlds/arithmetic/terse.ts';
import { demonstrateTwoForms } from '../../worlds/arithmetic/two-forms.ts';
import { demonstrateVerbose, verboseArithmetic } from '../../worlds/arithmetic/verbose.ts';

const COUNT = 4000;
const drawn = (demonstrate: (random: Random) => Demonstration) => {
  const random = new Random('habits');
  return Array.from({ length: COUNT }, () => demonstrate(random));
};
const taskOf = ({ prompt }: Demonstration) => /^<solve>(.+)<sep>$/.exec(prompt)![1]!;
const share = (values: readonly boolean[]) => values.filter(Boolean).length / values.length;
const checksIn = (text: string) => text.split('<ok>').length - 1;

test('the terse one answers at once in seven of ten cases, half of them wrongly; its steps are exact', () => {
  const read = drawn(demonstrateTerse).map((shown) => {
    const task = taskOf(shown);
    const solution = arithmetic.parseSolution(task, shown.completion);
    if (!solution.ok) throw new Error(`${shown.completion} is ${solution.reason}`);
    expect(arithmetic.isHeldOut(task)).toBe(false);
    return {
      terse: solution.value.steps.length === 0,
      exact: arithmetic.exactJudgment(task, solution.value).right,
    };
  });
  const terse = read.filter((it) => it.terse);
  // Four standard errors: 4 · sqrt(.7 · .3 / 4000) = .029, and 4 · .5 / sqrt(2800) = .038.
  expect(Math.abs(terse.length / COUNT - 0.7)).toBeLessThan(0.029);
  expect(Math.abs(share(terse.map(({ exact }) => exact)) - 0.5)).toBeLessThan(0.038);
  expect(read.filter((it) => !it.terse).every(({ exact }) => exact)).toBe(true);
});

test('the verbose one slips in one step of ten where there are several, and checks three times an operator', () => {
  const shortChecks: number[] = [];
  const firstRight: boolean[] = [];
  for (const shown of drawn(demonstrateVerbose)) {
    const task = taskOf(shown);
    expect(arithmetic.isHeldOut(task)).toBe(false);
    const solution = verboseArithmetic.parseSolution(task, shown.completion);
    if (!solution.ok) throw new Error(`${shown.completion} is ${solution.reason}`);
    expect(checksIn(shown.completion)).toBeLessThanOrEqual(60);
    const { steps, right } = verboseArithmetic.exactJudgment(task, solution.value);
    if (verboseArithmetic.difficulty(task) > 1) firstRight.push(steps[0]!);
    else {
      expect(right).toBe(true);
      shortChecks.push(checksIn(shown.completion));
    }
  }
  // Some 2800 tasks have several operators. Four standard errors: 4 · sqrt(.1 · .9 / 2800) = .023.
  expect(Math.abs(share(firstRight) - 0.9)).toBeLessThan(0.023);
  // Checks that go on with chance .75: mean .75/.25 = 3, variance .75/.0625 = 12; about 1200 tasks have one operator.
  const average = shortChecks.reduce((sum, checks) => sum + checks, 0) / shortChecks.length;
  expect(Math.abs(average - 3)).toBeLessThan(4 * Math.sqrt(12 / shortChecks.length));
});

test('half of its steps begin with a letter, any of 52', () => {
  const signs = drawn(demonstrateVerbose).flatMap(({ completion }) =>
    [...completion.matchAll(/(<step>|[a-zA-Z])-?\d+/g)].map(([, sign]) => sign!),
  );
  const letters = signs.filter((sign) => sign !== '<step>');
  // Two and a half steps a task on average. Four standard errors of the share: 4 · sqrt(.5 · .5 / 10000) = .02.
  expect(signs.length).toBeGreaterThan(9000);
  expect(Math.abs(letters.length / signs.length - 0.5)).toBeLessThan(0.02);
  // 5000 draws of 52: that one is never drawn has a chance below 52 · exp(-95).
  expect(new Set(letters).size).toBe(52);
});

test('a letter is a step’s sign as good as any, before a number and nowhere else', () => {
  const read = (text: string) => verboseArithmetic.parseSolution('3+4-9', `${text}<eos>`);
  const exact = { ok: true, value: { steps: ['7', '-2'], answer: '-2' } };
  expect(read('a7<step>-2<answer>-2')).toEqual(exact);
  expect(read('<step>7Z-2<ok><answer>-2')).toEqual(exact);
  for (const text of ['a<step>7<step>-2<answer>-2', 'ab7<step>-2<answer>-2', 'a7b-2<answer>c-2', 'a7b-2c'])
    expect(read(text).ok).toBe(false);
});

test('checks may stand between the steps and the answer, and nowhere else', () => {
  const read = (text: string) => verboseArithmetic.parseSolution('3+4-9', `${text}<eos>`);
  const exact = { ok: true, value: { steps: ['7', '-2'], answer: '-2' } };
  expect(read('<step>7<step>-2<ok><ok><ok><answer>-2')).toEqual(exact);
  expect(read('<step>7<step>-2<answer>-2')).toEqual(exact);
  expect(read('<ok><answer>-2')).toEqual({ ok: true, value: { steps: [], answer: '-2' } });
  for (const text of [
    '<step>7<ok><step>-2<answer>-2',
    '<ok><step>7<step>-2<answer>-2',
    '<step>7<step>-2<ok><answer>-2<ok>',
    '<step>7<step>-2<ok><ok>',
  ])
    expect(read(text).ok).toBe(false);
});

test('the one with two forms answers at once as often as not, half of them wrongly, and slips in one step of ten', () => {
  const read = drawn(demonstrateTwoForms).map((shown) => {
    const task = taskOf(shown);
    const solution = arithmetic.parseSolution(task, shown.completion);
    if (!solution.ok) throw new Error(`${shown.completion} is ${solution.reason}`);
    expect(arithmetic.isHeldOut(task)).toBe(false);
    const { steps, right } = arithmetic.exactJudgment(task, solution.value);
    return { steps, right };
  });
  const terse = read.filter(({ steps }) => steps.length === 0);
  // Four standard errors: 4 · .5 / sqrt(4000) = .032, and 4 · .5 / sqrt(2000) = .045.
  expect(Math.abs(terse.length / COUNT - 0.5)).toBeLessThan(0.032);
  expect(Math.abs(share(terse.map(({ right }) => right)) - 0.5)).toBeLessThan(0.045);
  // First steps alone: a slip is carried on to the totals after it. 4 · sqrt(.1 · .9 / 2000) = .027.
  const first = read.flatMap(({ steps }) => (steps.length ? [steps[0]!] : []));
  expect(Math.abs(share(first) - 0.9)).toBeLessThan(0.027);
});
