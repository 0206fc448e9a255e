import { expect, test } from 'vitest';
import type { LearnTools, PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { evidenceFigures, evidenceOf, lambdaOf, partsAt, weighted } from '../../recipes/cepo/evidence.ts';
import { shipped } from '../../recipes/index.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { expectRows } from './records.ts';

const cepo = shipped.find('cepo');

test('λ falls from a half to nothing in 25 rounds', () => {
  expect([1, 6, 26, 40].map(lambdaOf)).toEqual([0.5, expect.closeTo(0.4), 0, 0]);
});

test('evidence for the outcome adds to a token’s advantage, evidence against it takes away, and no sign changes', () => {
  expect(evidenceOf([-1, -2], [-3, -0.5])).toEqual([2, -1.5]);
  // e^0.1 = 1.105, e^2 is cut to 1.2, e^-2 to 0.8: 2·(1/2 + w/2).
  expectRows([weighted(2, [0, 0.1, 2, -2], 0.5)], [[2, 1 + Math.exp(0.1), 2.2, 1.8]]);
  // Blame is the other way round: where the right answer is less likely than the rejected one there is more of it.
  expectRows([weighted(-1, [-2, 2, 0], 0.25)], [[-1.05, -0.95, -1]]);
  expect(weighted(-1, [-2, 2], 0)).toEqual([-1, -1]);
});

test('where an attempt parts from another text', () => {
  expect(partsAt([1, 2, 3], [1, 5, 3])).toBe(1);
  expect(partsAt([1, 2, 3], [1, 2])).toBe(2);
  expect(partsAt([1, 2], [1, 2])).toBeNull();
});

test('figures: evidence for the outcome before, at and behind the decisive token', () => {
  const figures = evidenceFigures([
    { exact: true, evidence: [0.1, 2, -0.3], decisive: 1 },
    { exact: false, evidence: [-1, 0.5], decisive: 0 },
  ]);
  // At: 2 and 1. Before: 0.1. Behind: -0.3 and -0.5.
  expect(figures).toEqual({
    atDecisive: expect.closeTo(1.5),
    before: expect.closeTo(0.1),
    behind: expect.closeTo(-0.4),
  });
  expect(evidenceFigures([])).toEqual({});
});

const taskOf = (prompt: string) => prompt.slice('<solve>'.length, prompt.indexOf('<sep>'));
const answerOf = (task: string) => `<answer>${runningTotals(task).at(-1)!}`;
/** Of four attempts one does not parse, two are wrong and one is right. */
const write = (prompt: string, i: number) =>
  `${['x', '<answer>77', '<answer>78', answerOf(taskOf(prompt))][i]!}<eos>`;

/** Plays a round. After the first context each token has 0 nats, after the second -0.1 for its place in the attempt. */
async function play(more: WriteOptions = {}) {
  let asked: readonly (readonly number[])[] = [];
  const score: LearnTools['score'] = async (_set, sequences) => {
    asked = sequences.map(({ prompt }) => prompt);
    return sequences.map(({ ids }, i) =>
      Float32Array.from(ids, (_, t) => (i < sequences.length / 2 ? 0 : -0.1 * t)),
    );
  };
  const { plan, groups, tokenizer } = await playWritten(cepo, write, {
    tasks: 2,
    groupSize: 4,
    tools: { score },
    ...more,
  });
  const contexts = asked.map((prompt) => tokenizer.decode(prompt));
  return {
    plan,
    tasks: groups.map(({ task }) => task),
    items: (plan.updates[0]!.parts[0] as PolicyPart).items,
    right: contexts.slice(0, contexts.length / 2),
    other: contexts.slice(contexts.length / 2),
  };
}

const told = (task: string, text: string) => `<solve>${task}<sep>${text}<sep>`;
const worked = (task: string) =>
  runningTotals(task)
    .map((total) => `<step>${total}`)
    .join('') + answerOf(task);
/** Each of the two tasks once for each of its four attempts. */
const fourEach = (texts: readonly string[]) => texts.flatMap((text) => Array<string>(4).fill(text));

test('a token counts by what a right solution and the first rejected attempt that parses make of it', async () => {
  const { items, tasks, right, other, plan } = await play();
  expect(right).toEqual(fourEach(tasks.map((task) => told(task, worked(task)))));
  expect(other).toEqual(fourEach(tasks.map((task) => told(task, '<answer>77'))));
  // Rewards 0, 0, 0, 1: advantages -1/2 and 3/2. Δ is 0, 0.1, 0.2, 0.3, …: blame shrinks by it, down to 0.8, and praise grows, up to 1.2.
  const w = (sign: number, t: number) => Math.min(1.2, Math.max(0.8, Math.exp(0.1 * sign * t)));
  expectRows(
    items.map(({ advantage }) => advantage as number[]),
    items.map(({ sample: { ids } }, i) =>
      ids.map((_, t) => (i % 4 === 3 ? 1.5 * (0.5 + 0.5 * w(1, t)) : -0.5 * (0.5 + 0.5 * w(-1, t)))),
    ),
  );
  expect(items[1]!.advantage as number[]).toEqual(
    // e^-0.1 = 0.9048, e^-0.2 = 0.8187, and 0.8.
    [-0.5, -0.4762, -0.4547, -0.45].map((a) => expect.closeTo(a, 4)),
  );
  expect(plan.figures).toHaveProperty('atDecisive');
});

test('λ is that of the round', async () => {
  const { items } = await play({ index: 26 });
  expect((items[1]!.advantage as number[]).every((a) => Math.abs(a + 0.5) < 1e-6)).toBe(true);
});

test('one context is compared with the prompt alone; shuffled answers are the next task’s', async () => {
  const one = await play({ variant: 'one-context' });
  expect(one.right).toEqual(fourEach(one.tasks.map((task) => told(task, worked(task)))));
  expect(one.other).toEqual(fourEach(one.tasks.map((task) => `<solve>${task}<sep>`)));
  const shuffled = await play({ variant: 'shuffled-answers' });
  const [first, second] = shuffled.tasks;
  expect(shuffled.right).toEqual(fourEach([told(first!, worked(second!)), told(second!, worked(first!))]));
});

test('a coin has the first attempt that it pays told, and GRPO scores nothing', async () => {
  const coin = await play({ rewardFunction: 'random', tasks: 8 });
  const written = new Set(['<answer>77', '<answer>78', ...coin.tasks.map(answerOf)]);
  expect(coin.right.length).toBeGreaterThan(0);
  for (const prompt of [...coin.right, ...coin.other]) expect(written).toContain(prompt.split('<sep>')[1]);
  const plain = await play({ variant: 'grpo' });
  expect([...plain.right, ...plain.other]).toEqual([]);
  expect(plain.items.map(({ advantage }) => advantage).slice(0, 4)).toEqual(
    [-0.5, -0.5, -0.5, 1.5].map((a) => expect.closeTo(a, 4)),
  );
});

test('where no attempt was rejected nothing is weighted', async () => {
  const { items, right } = await play({ rewardFunction: 'format' });
  // Three attempts parse and are paid; the one that is not has no solution to tell.
  expect(right).toEqual([]);
  expect(items.every(({ advantage }) => typeof advantage === 'number')).toBe(true);
});
