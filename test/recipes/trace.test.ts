import { expect, test } from 'vitest';
import type { DistillationPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { commonest, overMarked } from '../../recipes/trace/spans.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { policyPart } from './play-solver.ts';

const trace = shipped.find('trace');

/** All totals of a task and its answer, off by one from total number `from` on. */
function worked(task: string, from = 9): string {
  const totals = runningTotals(task).map((total, i) => (i >= from ? total + 1 : total));
  return `${totals.map((total) => `<step>${total}`).join('')}<answer>${totals.at(-1)}`;
}
const terse = (task: string) => `<answer>${runningTotals(task).at(-1)}`;
const told = (task: string, part: number) => {
  const totals = runningTotals(task);
  if (part >= totals.length - 1) return worked(task);
  return totals
    .slice(0, part + 1)
    .map((total) => `<step>${total}`)
    .join('');
};

type Attempts = (task: string) => readonly string[];
/** Wrong from the second total on (or the only one), right, right without steps, and no solution. */
const mixed: Attempts = (task) => [worked(task, fault(task)), worked(task), terse(task), 'x'];
const fault = (task: string) => Math.min(1, runningTotals(task).length - 1);

/** What the teacher of every marked attempt reads. */
const promptsOf = (tasks: readonly string[]) =>
  tasks.map((task) => `<solve>${task}<sep>${told(task, fault(task))}<sep>`);

async function play(write: Attempts, more: WriteOptions = {}) {
  const played = await playWritten(
    trace,
    (prompt, i) => `${write(prompt.slice('<solve>'.length, -'<sep>'.length))[i]}<eos>`,
    { tasks: 3, groupSize: 4, ...more },
  );
  const { updates } = played.plan;
  const parts = updates[0]?.parts ?? [];
  const [decisive, faulty] = ['forward-kl', 'reverse-kl'].map((kind) =>
    parts.find(
      (part): part is DistillationPart => part.kind === 'distillation' && part.divergence.kind === kind,
    ),
  );
  const { decode } = played.tokenizer;
  /** The text that has weight in each item. */
  const marked = (part: DistillationPart | undefined) =>
    part?.items.map(({ ids, weights }) => decode(ids.filter((_, t) => weights![t]! > 0)));
  const contexts = (part: DistillationPart | undefined) =>
    part?.items.map(({ teacherPrompt }) => decode(teacherPrompt!));
  return {
    ...played,
    parts,
    decisive,
    faulty,
    marked,
    contexts,
    tasks: played.groups.map(({ task }) => task),
  };
}

test('the commonest number, the smaller of two that are as common', () => {
  expect(commonest([])).toBeNull();
  expect(commonest([2, 0, 2])).toBe(2);
  expect(commonest([3, 1])).toBe(1);
});

test('a mean over marked tokens: two of eight tokens count four times each', () => {
  const sample = { prompt: [], ids: [] };
  const weights = (items: readonly number[][]) =>
    overMarked(items.map((of) => ({ sample, context: [], weights: of }))).map((one) => one.weights);
  expect(
    weights([
      [0, 1, 0, 0],
      [0, 0, 1, 0],
    ]),
  ).toEqual([
    [0, 4, 0, 0],
    [0, 0, 4, 0],
  ]);
  expect(
    weights([
      [1, 1],
      [1, 1],
    ]),
  ).toEqual([
    [1, 1],
    [1, 1],
  ]);
  expect(weights([[0, 0]])).toEqual([[0, 0]]);
});

test('the teacher is heard at the first fault of a wrong attempt, and there in a right one', async () => {
  const { decisive, faulty, marked, contexts, tasks, plan } = await play(mixed);
  const part = (text: string, at: number) => text.match(/<(?:step|answer)>-?\d+/g)![at]!;
  expect(marked(faulty)).toEqual(tasks.map((task) => part(worked(task, fault(task)), fault(task))));
  expect(marked(decisive)).toEqual(tasks.map((task) => part(worked(task), fault(task))));
  const prompts = promptsOf(tasks);
  expect(contexts(faulty)).toEqual(prompts);
  expect(contexts(decisive)).toEqual(prompts);
  expect(faulty).toMatchObject({ weight: 1, role: 'solver', teacher: { set: 'main', version: 0 } });
  // A mean over marked tokens: all weights together are as many as there are tokens.
  const all = faulty!.items.flatMap(({ weights }) => weights!);
  expect(all.reduce((a, b) => a + b)).toBeCloseTo(all.length);
  expect(plan.figures).toEqual({ weight: 1, decisive: 3, faulty: 3 });
});

test('rewards teach beside it, and alone where the teacher is not heard', async () => {
  // 0, 1, 1, 0: mean 1/2, deviation 1/√3.
  const wanted = [-1, 1, 1, -1].map((sign) => expect.closeTo((sign * Math.sqrt(3)) / 2, 4));
  const advantages = async (more?: WriteOptions) => {
    const { plan, parts } = await play(mixed, more);
    return {
      parts: parts.length,
      advantages: policyPart(plan)
        .items.slice(0, 4)
        .map((item) => item.advantage),
    };
  };
  expect(await advantages()).toEqual({ parts: 3, advantages: wanted });
  expect(await advantages({ variant: 'grpo' })).toEqual({ parts: 1, advantages: wanted });
  expect((await play(mixed, { rewardFunction: 'format' })).parts).toHaveLength(1);
});

test('the weight falls in a straight line to nothing in twelve rounds, unless it is fixed', async () => {
  const weightIn = async (index: number, variant?: string) =>
    (await play(mixed, { index, ...(variant ? { variant } : {}) })).faulty?.weight;
  expect(await weightIn(4)).toBeCloseTo(3 / 4);
  expect(await weightIn(12)).toBeCloseTo(1 / 12);
  expect(await weightIn(13)).toBeUndefined();
  expect(await weightIn(13, 'fixed-weight')).toBe(1);
});

test('variants: every token, or a part at random, of the same attempts with the same prompts', async () => {
  const whole = await play(mixed, { variant: 'whole' });
  expect(whole.faulty!.items.flatMap(({ weights }) => weights!)).toEqual(
    whole.faulty!.items.flatMap(({ ids }) => ids.map(() => 1)),
  );
  const random = await play(mixed, { variant: 'random-spans', tasks: 16 });
  const parts = random.faulty!.items.map(({ ids, weights }) => {
    const text = random.tokenizer.decode(ids);
    const marked = random.tokenizer.decode(ids.filter((_, t) => weights![t]! > 0));
    return text.split(/(?=<step>|<answer>)/).indexOf(marked);
  });
  // Each is one part of its attempt, and not always the first fault.
  expect(parts).not.toContain(-1);
  expect(parts.some((part, i) => part !== fault(random.tasks[i]!))).toBe(true);
  expect(whole.contexts(whole.faulty)).toEqual(promptsOf(whole.tasks));
  expect(random.contexts(random.faulty)).toEqual(promptsOf(random.tasks));
});

test('a task at which nobody fails, and one without a solution in steps, has nothing to mark', async () => {
  expect((await play((task) => [worked(task), worked(task), terse(task), 'x'])).parts).toHaveLength(1);
  expect((await play(() => ['<answer>99', 'x', 'x', 'x'])).parts).toHaveLength(1);
});
