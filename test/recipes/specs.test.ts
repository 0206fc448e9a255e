import { expect, test } from 'vitest';
import type { PreferencePart, SftPart, TrainingPlan } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';
import { DAMAGES, formatPair } from '../../worlds/arithmetic/format-pairs.ts';
import { policyPart } from './play-solver.ts';

const specs = shipped.find('specs');

const TEXT = '<step>7<step>-2<answer>-2';

test('a damaged form keeps the totals and the answer, and never parses', () => {
  expect(Object.values(DAMAGES).map((damage) => damage(TEXT))).toEqual([
    'x7<step>-2<answer>-2',
    '<step>7<step>-2<ok><ok><answer>-2',
    '<step>7<step>-2<step>-2',
    '<answer>-2<step>7<step>-2',
    '<step>7<step>-2<answer>-2<answer>-2',
  ]);
  for (const damage of Object.values(DAMAGES))
    expect(arithmetic.parseSolution('3+4-9', `${damage(TEXT)}<eos>`).ok).toBe(false);
  expect(arithmetic.parseSolution('3+4-9', `${TEXT}<eos>`).ok).toBe(true);
});

test('the damage is drawn for each sample, all five in turn', () => {
  const solution = { steps: ['7', '-2'], answer: '-2' };
  const pairs = Array.from({ length: 100 }, (_, i) => formatPair(solution, `sample ${i}`));
  expect(new Set(pairs.map(({ chosen }) => chosen))).toEqual(new Set([`${TEXT}<eos>`]));
  expect(new Set(pairs.map(({ rejected }) => rejected)).size).toBe(5);
  expect(formatPair(solution, 'sample 3')).toEqual(pairs[3]);
});

/** A wrong answer in the right form, a right one in a wrong form, a right one in the right form, and none. */
const write = (prompt: string, i: number): string => {
  const task = prompt.slice('<solve>'.length, -'<sep>'.length);
  const totals = runningTotals(task);
  const steps = (sign: string) => totals.map((total) => `${sign}${total}`).join('');
  return `${
    [
      `${totals.map(() => '<step>99').join('')}<answer>99`,
      `${steps('k')}<ok><answer>${totals.at(-1)}`,
      `${steps('<step>')}<answer>${totals.at(-1)}`,
      'x',
    ][i]
  }<eos>`;
};
const play = (more: WriteOptions = {}) => playWritten(specs, write, { tasks: 3, groupSize: 4, ...more });
const coldPart = ({ updates }: TrainingPlan) => updates[0]!.parts[0] as PreferencePart;

test('cold start: the first right answer of a group, well written, against the same with its form damaged', async () => {
  const { plan, groups, tokenizer } = await play();
  const part = coldPart(plan);
  expect([part.kind, part.objective, part.reference, part.sft]).toEqual([
    'preference',
    { kind: 'dpo', beta: 0.1 },
    { set: 'main', version: 0 },
    1,
  ]);
  expect(plan.figures).toEqual({ pairs: 3 });
  part.pairs.forEach(({ chosen, rejected }, g) => {
    const { task, samples } = groups[g]!;
    expect(chosen.prompt).toEqual(samples[0]!.prompt);
    const text = tokenizer.decode(chosen.ids);
    // Number 1 is the first whose sums are right; it is written as number 2 is.
    expect(text).toBe(tokenizer.decode(samples[2]!.ids));
    const totals = runningTotals(task).map(String);
    expect(formatPair({ steps: totals, answer: totals.at(-1)! }, samples[1]!.id).rejected).toBe(
      tokenizer.decode(rejected.ids),
    );
  });
});

test('the supervised start imitates the same answers', async () => {
  const chosen = coldPart((await play()).plan).pairs.length;
  const { plan, groups } = await play({ variant: 'sft-start' });
  const part = plan.updates[0]!.parts[0] as SftPart;
  expect([part.kind, part.items.length]).toEqual(['sft', chosen]);
  expect(part.items.map(({ ids }) => ids)).toEqual(groups.map(({ samples }) => samples[2]!.ids));
});

test('rewards after four rounds, or from the first round on: advantages of GRPO over exact answers in the right form', async () => {
  // Rewards 0, 0, 1, 0: mean 1/4, deviation 1/2.
  const wanted = [-0.5, -0.5, 1.5, -0.5].map((a) => expect.closeTo(a, 4));
  for (const more of [{ index: 5 }, { variant: 'no-start' }, { variant: 'sft-start', index: 5 }]) {
    const { plan } = await play(more);
    const items = policyPart(plan).items;
    expect(items.slice(0, 4).map(({ advantage }) => advantage)).toEqual(wanted);
  }
  expect(coldPart((await play({ index: 4 })).plan).kind).toBe('preference');
});

test('controls: any answer counts as right, and a coin says which form is chosen', async () => {
  const format = await play({ rewardFunction: 'format' });
  expect(coldPart(format.plan).pairs.map(({ chosen }) => chosen.ids)).toEqual(
    format.groups.map(({ samples }) => samples[0]!.ids),
  );
  const coin = await play({ rewardFunction: 'random', tasks: 12 });
  const right = coldPart(coin.plan).pairs.map(
    ({ chosen }, g) => chosen.ids.join() === coin.groups[g]!.samples[0]!.ids.join(),
  );
  expect(new Set(right)).toEqual(new Set([true, false]));
});

test('trains on one to three operators', async () => {
  const { groups } = await play({ tasks: 40 });
  expect(new Set(groups.map(({ task }) => arithmetic.difficulty(task)))).toEqual(new Set([1, 2, 3]));
});
