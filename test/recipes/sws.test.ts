import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { FIRST } from '../../recipes/sws/recipe.ts';
import { failures, isFailed, slope, visited } from '../../recipes/sws/weakness.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';
import { recordsOf, solved } from './records.ts';

const sws = shipped.find('sws');

test('a task is failed that half never solve and that gets no better', () => {
  // Slopes by least squares: of 0, 2, 1 about the middle (-1·0 + 0·2 + 1·1) / 2.
  expect(slope([0, 2, 1])).toBe(0.5);
  expect([slope([3]), slope([])]).toEqual([0, 0]);
  expect([[0, 0, 0], [0.4, 0.25, 0.25], [0.25]].map(isFailed)).toEqual([true, true, true]);
  expect([[0, 0.1, 0.2], [0.5, 0, 0], []].map(isFailed)).toEqual([false, false, false]);
});

test('visits are noted by task, and failures counted by the number of sums', () => {
  const { groups } = recordsOf('sws', [
    { task: '1+2', samples: [solved('a', 1), solved('b', 0)] },
    { task: '3+4-9', samples: [solved('a', 0), solved('b', 0)] },
  ]);
  const once = visited({ '1+2': [0.25], '1+1': [0] }, groups);
  expect(once).toEqual({ '1+2': [0.25, 0.5], '1+1': [0], '3+4-9': [0] });
  expect(failures(once, 3)).toEqual([1, 1, 0]);
});

test('an attempt whose reward is missing says nothing of a task', () => {
  const unrated = { ...solved('a', 0), rewards: { reward: null } };
  const { groups } = recordsOf('sws', [
    { task: '1+2', samples: [solved('b', 1), unrated] },
    { task: '3+4-9', samples: [unrated] },
  ]);
  expect(visited({ '3+4-9': [0.25] }, groups)).toEqual({ '1+2': [1], '3+4-9': [0.25] });
});

const taskOf = (prompt: string) => prompt.slice('<solve>'.length, -'<sep>'.length);
/** Two of eight answers to a chain of five sums are right, one of eight to one of four, and seven of eight to others. */
function write(prompt: string, i: number): string {
  const task = taskOf(prompt);
  const right = i < ({ 5: 2, 4: 1 }[arithmetic.difficulty(task)] ?? 7);
  return `<answer>${runningTotals(task).at(-1)! + Number(!right) * 50}<eos>`;
}
const play = (more: WriteOptions = {}) => playWritten(sws, write, { tasks: 64, groupSize: 8, ...more });

/** What a first phase leaves in which one chain of five sums and three of four were failed. */
const FAILED = {
  '1+1+1+1+1+1': [0.25, 0.25],
  '1+1+1+1+1': [0.1, 0.1],
  '2+1+1+1+1': [0, 0],
  '3+1+1+1+1': [0.4, 0],
  '1+2': [1, 1],
  '3+3': [0.25, 0.375],
};

test('the first phase goes through its tasks and notes how each fared', async () => {
  const { groups, plan } = await play();
  expect(new Set(groups.map(({ task }) => task)).size).toBe(64);
  const noted = plan.recipeState as Record<string, number[]>;
  for (const { task } of groups)
    expect(noted[task]).toEqual([{ 5: 2 / 8, 4: 1 / 8 }[arithmetic.difficulty(task)] ?? 7 / 8]);
  const deep = groups.filter(({ task }) => arithmetic.difficulty(task) >= 4);
  expect(plan.figures!.failed).toBe(deep.length / 64);
  expect((plan.updates[0]!.parts[0] as PolicyPart).items).toHaveLength(64 * 8);
});

test('in the second phase half of the tasks are new, of the depths that were failed, and kept where they are neither easy nor hard', async () => {
  const { groups, plan } = await play({ index: FIRST + 1, recipeState: FAILED });
  const first = new Set((await play()).groups.map(({ task }) => task));
  const made = groups.filter(({ task }) => !first.has(task));
  expect(made).toHaveLength(32);
  const depths = made.map(({ task }) => arithmetic.difficulty(task));
  expect(new Set(depths)).toEqual(new Set([4, 5]));
  const four = depths.filter((depth) => depth === 4).length;
  expect(four).toBeGreaterThan(16);
  expect(plan.figures).toMatchObject({ failed: 4 / 64, failedDepth: 17 / 4, madeDepth: 5 - four / 32 });
  // A quarter of the answers to chains of five are right, and an eighth of those to chains of four, which are left out.
  expect(plan.figures!.keptShare).toBe((32 - four) / 32);
  expect((plan.updates[0]!.parts[0] as PolicyPart).items).toHaveLength((64 - four) * 8);
  // The second phase notes nothing more.
  expect(plan.recipeState).toEqual(FAILED);
});

test('the other arms make tasks of any depth, or none', async () => {
  const later = { index: FIRST + 1, recipeState: FAILED };
  const first = new Set((await play()).groups.map(({ task }) => task));
  const random = await play({ ...later, variant: 'random-augmentation' });
  const made = random.groups.filter(({ task }) => !first.has(task));
  expect(made).toHaveLength(32);
  expect(new Set(made.map(({ task }) => arithmetic.difficulty(task)))).toEqual(new Set([2, 3, 4, 5]));
  const none = await play({ ...later, variant: 'none' });
  expect(none.groups.every(({ task }) => first.has(task))).toBe(true);
  // Where nothing was failed there is no kind to make more of.
  const sound = await play({ ...later, recipeState: { '1+2': [1, 1] } });
  expect(new Set(sound.groups.map(({ task }) => arithmetic.difficulty(task)))).toEqual(new Set([2, 3, 4, 5]));
});
