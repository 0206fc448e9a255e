import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { answersAlone, corruptedSteps, withTraces } from '../../recipes/weak-sup/forms.ts';
import { chainLabels, noisyLabel } from '../../recipes/weak-sup/labels.ts';
import { arithmetic, randomTask } from '../../worlds/arithmetic/family.ts';
import { policyPart } from './play-solver.ts';

const weakSup = shipped.find('weak-sup');

/** The sum of a chain, term by term. */
const sum = (task: string): number =>
  [...task.matchAll(/[+-]?\d/g)].reduce((total, [term]) => total + Number(term), 0);
const totals = (task: string): number[] =>
  [...task.matchAll(/[+-]\d/g)].map(({ index }) => sum(task.slice(0, index + 2)));

/** Four answers to a task: exact, exact, one too many, and no answer. The prompt has begun them. */
const play = (more: WriteOptions = {}) =>
  playWritten(
    weakSup,
    (prompt, i) => {
      const [, task, begun] = /^<solve>(.+)<sep>(<step>|<answer>)$/.exec(prompt)!;
      const steps = totals(task!);
      const answer = steps.at(-1)! + [0, 0, 1][i % 4]!;
      if (i % 4 === 3) return 'x<eos>';
      if (begun === '<answer>') return `${answer}<eos>`;
      return `${steps.map(String).join('<step>')}<answer>${answer}<eos>`;
    },
    { tasks: 16, groupSize: 4, ...more },
  );
const rewardsOf = async (more?: WriteOptions) =>
  (await play(more)).groups.map(({ task, samples }) => ({
    task,
    rewards: samples.map(({ rewards }) => rewards.reward),
  }));

test('an answer is begun with a step or with the answer itself, and read from there', () => {
  expect(withTraces.solverPrompt('3+4-9')).toBe('<solve>3+4-9<sep><step>');
  expect(answersAlone.solverPrompt('3+4-9')).toBe('<solve>3+4-9<sep><answer>');
  expect(withTraces.parseSolution('3+4-9', '7<step>-2<answer>-2<eos>')).toEqual({
    ok: true,
    value: { steps: ['7', '-2'], answer: '-2' },
  });
  expect(answersAlone.parseSolution('3+4-9', '-2<eos>')).toEqual({
    ok: true,
    value: { steps: [], answer: '-2' },
  });
  expect(answersAlone.parseSolution('3+4-9', '7<step>-2<answer>-2<eos>').ok).toBe(false);
});

test('few labels: eight tasks again and again, paid by the exact answer', async () => {
  const groups = await rewardsOf();
  expect(new Set(groups.map(({ task }) => task)).size).toBe(8);
  const [first] = groups;
  expect(groups.filter(({ task }) => task === first!.task)).toHaveLength(2);
  for (const { rewards } of groups) expect(rewards).toEqual([1, 1, 0, 0]);
});

test('credit: rewards less their mean, over their deviation', async () => {
  // 1, 1, 0, 0: mean 1/2, deviation √(4 · ¼ / 3).
  const items = policyPart((await play()).plan).items.slice(0, 4);
  const deviation = Math.sqrt(1 / 3);
  expect(items.map(({ advantage }) => advantage)).toEqual(
    [0.5, 0.5, -0.5, -0.5].map((above) => expect.closeTo(above / deviation, 4)),
  );
});

test('noisy labels: the same wrong number in every round, for two tasks in five', async () => {
  const random = new Random('noise');
  const tasks = Array.from({ length: 2000 }, () => randomTask(random));
  const errors = tasks.map((task) => Number(noisyLabel(task)) - sum(task));
  expect(errors.filter((error) => error !== 0).length / 2000).toBeCloseTo(0.4, 1);
  expect(new Set(errors)).toEqual(new Set([-3, -2, -1, 0, 1, 2, 3]));
  for (const { task, rewards } of await rewardsOf({ rewardFunction: 'noisy', tasks: 40 })) {
    const error = Number(noisyLabel(task)) - sum(task);
    expect(rewards).toEqual([Number(error === 0), Number(error === 0), Number(error === 1), 0]);
  }
});

test('the majority is paid on 64 tasks, exact labels on fresh ones', async () => {
  const majority = await rewardsOf({ rewardFunction: 'majority', tasks: 70 });
  expect(new Set(majority.map(({ task }) => task)).size).toBe(64);
  for (const { rewards } of majority) expect(rewards).toEqual([1, 1, 0, 0]);
  const fresh = await rewardsOf({ rewardFunction: 'exact', tasks: 70 });
  expect(new Set(fresh.map(({ task }) => task)).size).toBe(70);
});

test('the tasks with labels are the run’s own and none is held out', async () => {
  const of = (seed: number) => chainLabels.pool({ round: { settings: { seed } } } as never, 64);
  expect(of(1)).toEqual(of(1));
  expect(of(1)).not.toEqual(of(2));
  expect(of(1).some((task) => arithmetic.isHeldOut(task))).toBe(false);
});

test('answers without steps are a variant: the prompt begins the answer', async () => {
  const { groups, tokenizer } = await play({ variant: 'answers' });
  for (const { samples } of groups)
    for (const { prompt, rewards } of samples.slice(0, 2)) {
      expect(tokenizer.decode(prompt)).toMatch(/<sep><answer>$/);
      expect(rewards.reward).toBe(1);
    }
});

test('a reader sees what the prompt has begun', () => {
  const kinds = (text: string) =>
    weakSup.describe!.parts!('solver', text).map(({ kind, text: part }) => [kind, part]);
  expect(kinds('7<step>-2<answer>-2<eos>')).toEqual([
    ['step', '7'],
    ['step', '-2'],
    ['answer', '-2'],
  ]);
  expect(kinds('-2<eos>')).toEqual([['answer', '-2']]);
  expect(kinds('<solve>3+4-9<sep><step>')[0]).toEqual(['text', '3+4-9']);
});

test('corrupted steps: the last that is shown is one too high, and what follows from it is one too high as well', () => {
  // Totals 7, -2, 3: the second is shown as -1, and 5 more are 4.
  expect(corruptedSteps('3+4-9+5')).toEqual({ prefix: '<step>7<step>-1', follows: '4' });
  expect(corruptedSteps('3+4-9')).toEqual({ prefix: '<step>8', follows: '-1' });
});
