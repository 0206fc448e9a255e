import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { demonstrate, flawedSolution } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic, runningTotals, writeSolution } from '../../worlds/arithmetic/family.ts';

const { parseProposal, parseSolution, parseJudgment, answerIsExact, exactJudgment } = arithmetic;

test('running totals go from left to right and may be negative', () => {
  expect(runningTotals('3+4-9')).toEqual([7, -2]);
  expect(runningTotals('0-9-9-9-9-9')).toEqual([-9, -18, -27, -36, -45]);
});

test('a proposal is one chain of one to five operators and ends itself', () => {
  expect(parseProposal('3+4-9<eos>')).toEqual({ ok: true, value: '3+4-9' });
  for (const bad of [
    '3+4-9',
    '3<eos>',
    '3+<eos>',
    '12+3<eos>',
    '1+1+1+1+1+1+1<eos>',
    '1*2<eos>',
    '1+2<eos><eos>',
    '',
  ])
    expect(parseProposal(bad), bad).toMatchObject({ ok: false });
});

test('a solution has all running totals or none', () => {
  expect(parseSolution('3+4-9', '<step>7<step>-2<answer>-2<eos>')).toEqual({
    ok: true,
    value: { steps: ['7', '-2'], answer: '-2' },
  });
  expect(parseSolution('3+4-9', '<answer>-2<eos>')).toMatchObject({ ok: true, value: { steps: [] } });
  expect(parseSolution('3+4-9', '<step>7<answer>-2<eos>')).toEqual({ ok: false, reason: 'partial-steps' });
});

test.each([
  '<answer>-2',
  '<answer>-0<eos>',
  '<answer>07<eos>',
  '<answer>+7<eos>',
  '<answer>123<eos>',
  '<answer><eos>',
  '7<eos>',
  '<answer>7<answer>7<eos>',
  ' <answer>7<eos>',
])('off-grammar: %s', (text) =>
  expect(parseSolution('3+4', text)).toEqual({ ok: false, reason: 'off-grammar' }),
);

test('a judgment has one verdict a step, and a verdict that follows from them', () => {
  const solution = { steps: ['7', '-2'], answer: '-2' };
  expect(parseJudgment(solution, '<ok><ok><right><eos>')).toEqual({
    ok: true,
    value: { steps: [true, true], right: true },
  });
  expect(parseJudgment(solution, '<ok><ok><wrong><eos>')).toMatchObject({ ok: true });
  expect(parseJudgment(solution, '<ok><bad><right><eos>')).toEqual({ ok: false, reason: 'contradiction' });
  expect(parseJudgment(solution, '<ok><right><eos>')).toEqual({ ok: false, reason: 'verdict-count' });
  expect(parseJudgment(solution, '<right><ok><eos>')).toEqual({ ok: false, reason: 'off-grammar' });
});

test('gold looks at the answer, truth at every step', () => {
  const lucky = { steps: ['8', '-2'], answer: '-2' };
  expect(answerIsExact('3+4-9', lucky)).toBe(true);
  expect(exactJudgment('3+4-9', lucky)).toEqual({ steps: [false, true], right: false });
  expect(exactJudgment('3+4-9', { steps: ['7', '-2'], answer: '-2' })).toEqual({
    steps: [true, true],
    right: true,
  });
  expect(exactJudgment('3+4-9', { steps: [], answer: '-3' })).toEqual({ steps: [], right: false });
});

test('the held-out tasks are 500 different ones, a quarter each of 2 to 5 operators', () => {
  const tasks = arithmetic.heldOut();
  expect(new Set(tasks).size).toBe(500);
  for (const operators of [2, 3, 4, 5])
    expect(tasks.filter((task) => arithmetic.difficulty(task) === operators)).toHaveLength(125);
});

test('every demonstration keeps to its role’s grammar, and none shows a held-out task', () => {
  const random = new Random('test/demonstrations');
  const heldOut = arithmetic.heldOut();
  for (let i = 0; i < 2000; i++) {
    const { role, prompt, completion } = demonstrate(random);
    const task =
      role === 'proposer'
        ? completion.slice(0, -5)
        : (/<(?:solve|judge)>([^<]*)<sep>/.exec(prompt)?.[1] ?? '');
    expect(heldOut).not.toContain(task);
    if (role === 'proposer') expect(parseProposal(completion).ok).toBe(true);
    if (role === 'solver') expect(parseSolution(task, completion).ok).toBe(true);
    if (role === 'judge') {
      const shown = parseSolution(task, `${prompt.split('<sep>')[1]}<eos>`);
      if (!shown.ok) throw new Error(`the judge was shown ${prompt}`);
      const verdict = parseJudgment(shown.value, completion);
      expect(verdict).toEqual({ ok: true, value: exactJudgment(task, shown.value) });
    }
  }
});

test('a flawed solution is flawed', () => {
  const random = new Random('test/flawed');
  for (let i = 0; i < 500; i++) {
    const task = arithmetic.random(random);
    const solution = flawedSolution(random, task);
    expect(exactJudgment(task, solution).right, `${task} ${writeSolution(solution)}`).toBe(false);
  }
});
