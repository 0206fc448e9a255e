import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { attemptedTask, variationReward } from '../../recipes/svs/variations.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';
import { evaluateWritten } from './evaluate-written.ts';

const svs = shipped.find('svs');

test('a variation is paid where an eighth to five eighths of its answers are, and without the upper band up to all', () => {
  const rates = [0, 1 / 8, 5 / 8, 6 / 8, 1];
  expect(rates.map((rate) => variationReward(rate))).toEqual([0, 1, 1, 0, 0]);
  expect(rates.map((rate) => variationReward(rate, 'no-upper-band'))).toEqual([0, 1, 1, 1, 1]);
  expect(rates.map((rate) => variationReward(rate, 'random-answers'))).toEqual([0, 1, 1, 0, 0]);
});

const answerOf = (task: string) => runningTotals(task).at(-1)!;
const solved = (answer: number) => `<answer>${answer}<eos>`;
/** A chain of two sums with this answer from -9 to 9, and one of three. */
const short = (answer: number) => `${Math.max(0, answer)}-${Math.max(0, -answer)}+0`;
const long = (answer: number) => `${short(answer)}-0`;

/**
 * Three of eight attempts at a task are right. Of four variations of a task the first and the second are one chain of two sums, the third has
 * another answer and the fourth is no chain. A variation of two sums is answered as expected by four of eight, the other by none.
 */
function write(prompt: string, i: number): string {
  const task = /^<solve>(.*)<sep>$/.exec(prompt)?.[1];
  if (task !== undefined) {
    const right = arithmetic.difficulty(task) === 5 ? i < 3 : i % 2 === 0;
    return solved(answerOf(task) + Number(!right) * 50);
  }
  const answer = Number(/<answer>(.*?)<sep>/.exec(prompt)![1]);
  const within = Math.max(-9, Math.min(9, answer));
  return `${[short(within), short(within), long(within - 1 + 2 * Number(within < 0)), '<answer>'][i]!}<eos>`;
}

/** Every token has an entropy of half a nat. */
const tools: NonNullable<WriteOptions['tools']> = {
  entropies: async (_set, sequences) => sequences.map(({ ids }) => new Float32Array(ids.length).fill(0.5)),
};
/** Plays a round of tasks whose answers have one digit, so that `short` reaches them. */
async function play(more: WriteOptions = {}) {
  const { plan, groups, tokenizer } = await playWritten(svs, write, {
    tasks: 12,
    groupSize: 8,
    tools,
    ...more,
  });
  const reached = groups.find(({ task }) => Math.abs(answerOf(task)) < 9)!;
  const parts = (plan.updates[0]?.parts ?? []) as PolicyPart[];
  const mine = (part: PolicyPart | undefined) =>
    part?.items.filter(({ sample }) => reached.samples.some(({ id }) => id === sample.id)) ?? [];
  return { plan, group: reached, tokenizer, solver: mine(parts[0]), writer: mine(parts[1]), parts };
}

test('a task that is failed by five of eight is varied, equal variations are answered once, and the writer earns by the rate', async () => {
  const { group, tokenizer } = await play();
  const tasks = group.samples.map((sample) =>
    sample.role === 'solver' ? attemptedTask(group, sample) : null,
  );
  const answer = answerOf(group.task);
  const [same, other] = [short(answer), long(answer - 1 + 2 * Number(answer < 0))];
  expect(tasks.filter((task) => task === group.task)).toHaveLength(8);
  expect(tasks.filter((task) => task === same)).toHaveLength(8);
  expect(tasks.filter((task) => task === other)).toHaveLength(8);
  const written = group.samples.filter(({ role }) => role === 'writer');
  expect(tokenizer.decode(written[0]!.prompt)).toBe(`<propose><answer>${answer}<sep>${group.task}<sep>`);
  // Half of the answers to the first two are as expected; of the third none, since its answer is another.
  expect(written.map(({ rewards }) => rewards)).toEqual([1, 1, 0, 0].map((variation) => ({ variation })));
  expect(written.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'off-grammar']);
  const paid = (of: string) =>
    group.samples.filter((_, i) => tasks[i] === of).map(({ rewards }) => rewards.reward);
  expect(paid(group.task)).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
  expect(paid(same)).toEqual([1, 0, 1, 0, 1, 0, 1, 0]);
  expect(paid(other)).toEqual(Array(8).fill(0));
  // By the oracle four answers to the third are exact, which pays nothing.
  expect(group.answersExact.filter((exact, i) => tasks[i] === other && exact)).toHaveLength(4);
});

test('advantages are taken among answers to one task, and among its variations', async () => {
  const { solver, writer, parts } = await play();
  // 3 of 8: mean 3/8, deviation √(8 · 15/64 / 7); 4 of 8: ±1/2 by √(2/7). The variation that nobody answers as expected is left out.
  const [three, half] = [Math.sqrt(15 / 56), Math.sqrt(2 / 7)];
  const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 3));
  expect(solver.map(({ advantage }) => advantage)).toEqual(
    close([
      ...[0, 1, 2].map(() => 5 / 8 / three),
      ...[3, 4, 5, 6, 7].map(() => -3 / 8 / three),
      ...[1, -1, 1, -1, 1, -1, 1, -1].map((sign) => sign / 2 / half),
    ]),
  );
  // 1, 1, 0, 0: mean 1/2, deviation 1/√3.
  expect(writer.map(({ advantage }) => advantage)).toEqual(
    close([1, 1, -1, -1].map((sign) => (sign * Math.sqrt(3)) / 2)),
  );
  expect(parts.map(({ role, weight }) => [role, weight])).toEqual([
    ['solver', 1],
    ['writer', 1],
  ]);
});

test('figures count valid variations, those with the expected answer, and what is answered', async () => {
  const { plan } = await play();
  expect(plan.figures).toMatchObject({ taskEntropy: 0.5, varied: 1, paidVariations: expect.any(Number) });
  // Of three valid variations of each task that is reached two have its answer; of those that are not reached none has.
  expect(plan.figures!.sameAnswer).toBeGreaterThan(0);
  expect(plan.figures!.sameAnswer).toBeLessThanOrEqual(2 / 3);
  expect(plan.figures!.sums).toBeCloseTo((2 + 2 + 3) / 3);
});

test('without variations there is one part; with drawn answers no variation is paid', async () => {
  const alone = await play({ variant: 'rlvr' });
  expect(alone.group.samples).toHaveLength(8);
  expect(alone.parts.map(({ role }) => role)).toEqual(['solver']);
  expect(alone.plan.figures).toEqual({ taskEntropy: 0.5 });
  const drawn = await play({ variant: 'random-answers' });
  const rewards = drawn.group.samples.flatMap(({ role, rewards: { variation } }) =>
    role === 'writer' ? [variation] : [],
  );
  expect(rewards).toHaveLength(4);
  expect(drawn.plan.figures!.paidVariations).toBeLessThan((await play()).plan.figures!.paidVariations!);
});

test('the task itself is no variation of it', async () => {
  const { group: first } = await play({ variant: 'rlvr' });
  const copying = (prompt: string, i: number) =>
    prompt === `<propose><answer>${answerOf(first.task)}<sep>${first.task}<sep>`
      ? `${first.task}<eos>`
      : write(prompt, i);
  const { groups } = await playWritten(svs, copying, { tasks: 64, groupSize: 8, tools });
  const written = groups
    .find(({ task }) => task === first.task)!
    .samples.filter(({ role }) => role === 'writer');
  expect(written.map(({ outcome, rewards }) => [outcome, rewards])).toEqual(
    Array(4).fill(['duplicate', { variation: 0 }]),
  );
});

test('the tasks are those of a fixed set, none of them held out', async () => {
  const alone = { tasks: 64, groupSize: 8, variant: 'rlvr', tools };
  const first = await playWritten(svs, write, alone);
  const second = await playWritten(svs, write, { ...alone, index: 2, seed: 7 });
  const tasks = first.groups.map(({ task }) => task);
  expect(new Set(tasks).size).toBe(64);
  expect(new Set(second.groups.map(({ task }) => task))).toEqual(new Set(tasks));
  expect(tasks.some((task) => arithmetic.isHeldOut(task))).toBe(false);
});

test('an evaluation counts the held-out tasks of five sums of whose eight samples one is exact', async () => {
  // The last of eight samples is exact where the task begins with an even digit.
  const asked = new Set<string>();
  const isEven = (task: string) => Number(task[0]) % 2 === 0;
  const { heldOut, figures } = await evaluateWritten(svs, 200, (prompt, i) => {
    const task = /^<solve>(.*?)<sep>/.exec(prompt)![1]!;
    asked.add(task);
    return solved(answerOf(task) + Number(!(isEven(task) && i === 7)));
  });
  const tasks = [...asked];
  expect(tasks.every((task) => task.length === '1+2+3+4+5+6'.length)).toBe(true);
  expect(heldOut).toMatchObject({ n: tasks.length, accuracy: 0, sampled: 0 });
  const share = tasks.filter(isEven).length / tasks.length;
  expect(share).toBeGreaterThan(0);
  expect(figures).toEqual({ pass8: share });
});
