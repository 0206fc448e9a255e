import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { FIRST_STAGE, puzzleOf, puzzleScore } from '../../recipes/mr-rlvr/puzzles.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';

const mrRlvr = shipped.find('mr-rlvr');

/** The running totals of a task, by JavaScript on its beginnings. */
const totals = (task: string): number[] =>
  [5, 7, 9, 11, 13].flatMap((end) =>
    end - 2 <= task.length ? [Number(new Function(`return ${task.slice(0, end - 2)}`)())] : [],
  );
const stepsIn = (shown: string) => shown.split('<step>').slice(1);
const sorted = (steps: readonly (string | number)[]) => steps.map(Number).sort((a, b) => a - b);

test('the score is the share of the steps in question that are right', () => {
  const target = ['7', '-2', '4', '4', '3'];
  expect(puzzleScore({ places: [1, 4, 2] }, { steps: ['7', '-2', '4', '4', '9'] }, target)).toBe(2 / 3);
  expect(puzzleScore({ places: [0, 1, 2, 3, 4] }, { steps: ['-2', '7', '4', '4', '3'] }, target)).toBe(0.6);
  expect(puzzleScore({ places: [1, 4, 2] }, { steps: [] }, target)).toBe(0);
});

test('a puzzle hides three of five steps, or shows all in another order', () => {
  const task = '3+4-9+6+1-2';
  const right = totals(task);
  expect(right).toEqual([7, -2, 4, 5, 3]);
  const puzzles = Array.from({ length: 200 }, (_, i) => puzzleOf({ group: `g${i}`, task }));
  for (const { kind, shown, places } of puzzles) {
    const steps = stepsIn(shown);
    if (kind === 'sort') {
      expect(places).toEqual([0, 1, 2, 3, 4]);
      expect(sorted(steps)).toEqual(sorted(right));
    } else {
      expect(new Set(places).size).toBe(3);
      expect(steps).toEqual(right.map((total, place) => (places.includes(place) ? '' : String(total))));
    }
  }
  const sorts = puzzles.filter(({ kind }) => kind === 'sort');
  expect(sorts.length / puzzles.length).toBeCloseTo(0.5, 1);
  expect(new Set(sorts.map(({ shown }) => shown)).size).toBeGreaterThan(50);
});

/** Of eight answers four are right, three are wrong in the last step, and one is no answer. */
function write(prompt: string, i: number): string {
  const task = /^<solve>(.*?)<sep>/.exec(prompt)![1]!;
  if (i === 7) return '<answer><eos>';
  const steps = totals(task).map((total, place) => total + Number(i >= 4 && place === 4) * 50);
  return `${steps.map((step) => `<step>${step}`).join('')}<answer>${steps.at(-1)}<eos>`;
}

async function play(more: WriteOptions = {}) {
  const { plan, groups, tokenizer } = await playWritten(mrRlvr, write, { tasks: 16, groupSize: 8, ...more });
  const part = plan.updates[0]?.parts[0] as PolicyPart | undefined;
  const rewardsOf = (of: (typeof groups)[number]) => of.samples.map(({ rewards: { reward } }) => reward);
  const prompts = groups.map(({ samples }) => tokenizer.decode(samples[0]!.prompt));
  return { plan, groups, items: part?.items ?? [], rewardsOf, prompts };
}
const second = { index: FIRST_STAGE + 1 };
const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 3));

test('puzzles are paid by the step, and advantages are taken among the answers to one', async () => {
  const { groups, items, rewardsOf, prompts } = await play();
  for (const [g, group] of groups.entries()) {
    const { kind, shown, places } = puzzleOf(group);
    expect(prompts[g]).toBe(`<solve>${group.task}<sep>${shown}<sep>`);
    // The last step is one of five that are sorted, and one of three that are hidden, or none of them.
    const wrong = kind === 'sort' ? 4 / 5 : places.includes(4) ? 2 / 3 : 1;
    expect(rewardsOf(group)).toEqual(close([1, 1, 1, 1, wrong, wrong, wrong, 0]));
  }
  const sort = groups.find((group) => puzzleOf(group).kind === 'sort')!;
  const mine = items.filter(({ sample }) => sort.samples.some(({ id }) => id === sample.id));
  // 1 four times, 0.8 three times, 0: mean 0.8; squares 4 · 0.04 + 0.64 = 0.8, by seven.
  const deviation = Math.sqrt(0.8 / 7);
  expect(mine.map(({ advantage }) => advantage)).toEqual(
    close([1, 1, 1, 1, 0, 0, 0, -4].map((times) => (times * 0.2) / deviation)),
  );
  expect(items).toHaveLength(16 * 8);
});

test('figures say how puzzles of each kind are solved', async () => {
  const { plan, groups } = await play();
  // (4 · 1 + 3 · 4/5 + 0) / 8.
  expect(plan.figures!.sorted).toBeCloseTo(0.8);
  const last = groups
    .map((group) => puzzleOf(group))
    .filter(({ kind }) => kind === 'fill')
    .map(({ places }) => (4 + 3 * (places.includes(4) ? 2 / 3 : 1)) / 8);
  expect(plan.figures!.filled).toBeCloseTo(last.reduce((sum, value) => sum + value) / last.length);
  expect(plan.figures).not.toHaveProperty('dead');
});

test('in the second stage answers to other tasks are paid, and without puzzles in the first one, too', async () => {
  const first = await play();
  const later = await play(second);
  const alone = await play({ variant: 'rlvr' });
  const corpus = await play({ variant: 'corpus-answers' });
  const tasksOf = ({ groups }: typeof first) => groups.map(({ task }) => task);
  for (const played of [later, alone, corpus]) {
    expect(played.prompts).toEqual(tasksOf(played).map((task) => `<solve>${task}<sep>`));
    for (const group of played.groups) expect(played.rewardsOf(group)).toEqual([1, 1, 1, 1, 0, 0, 0, 0]);
    expect(played.plan.figures).toEqual({ dead: 0 });
  }
  // Two rounds are a pass over the labelled tasks.
  const labelled = new Set([...tasksOf(alone), ...tasksOf(await play({ variant: 'rlvr', index: 2 }))]);
  expect(labelled.size).toBe(32);
  expect(tasksOf(later).every((task) => labelled.has(task))).toBe(true);
  expect([...tasksOf(first), ...tasksOf(corpus)].some((task) => labelled.has(task))).toBe(false);
  expect([...labelled, ...tasksOf(first)].every((task) => arithmetic.difficulty(task) === 5)).toBe(true);
  expect([...labelled, ...tasksOf(first)].some((task) => arithmetic.isHeldOut(task))).toBe(false);
});

test('a task that no answer solves is counted as dead', async () => {
  const wrong = (prompt: string, i: number) =>
    /^<solve>[0-4]/.test(prompt) ? write(prompt, 4 + (i % 4)) : write(prompt, i);
  const { plan, groups } = await playWritten(mrRlvr, wrong, { tasks: 16, groupSize: 8, ...second });
  const dead = groups.filter(({ task }) => Number(task[0]) < 5).length;
  expect(dead).toBeGreaterThan(0);
  expect(plan.figures).toEqual({ dead: dead / 16 });
});

test('drawn targets pay the steps of the solution in another order, and figures go by the solution', async () => {
  const drawn = await play({ variant: 'random-targets' });
  for (const [g, group] of drawn.groups.entries())
    expect(drawn.prompts[g]).toBe(`<solve>${group.task}<sep>${puzzleOf(group).shown}<sep>`);
  const paid = drawn.groups.map((group) => drawn.rewardsOf(group)[0]!);
  expect(paid.filter((reward) => reward === 1).length).toBeLessThan(6);
  expect(drawn.plan.figures!.sorted).toBeCloseTo(0.8);
  // The second stage is that of the method.
  const later = await play({ variant: 'random-targets', ...second });
  for (const group of later.groups) expect(later.rewardsOf(group)).toEqual([1, 1, 1, 1, 0, 0, 0, 0]);
});

test('the controls pay puzzles by the format and by a coin', async () => {
  const format = await play({ rewardFunction: 'format' });
  for (const group of format.groups) expect(format.rewardsOf(group)).toEqual([1, 1, 1, 1, 1, 1, 1, 0]);
  const coin = await play({ rewardFunction: 'random' });
  const rewards = coin.groups.flatMap((group) => coin.rewardsOf(group));
  expect(new Set(rewards)).toEqual(new Set([0, 1]));
});
