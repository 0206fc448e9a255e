import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { testQuestions } from '../../recipes/ttcs/recipe.ts';
import { isClose, variantReward } from '../../recipes/ttcs/variants.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';
import { misreadSolution } from '../../worlds/arithmetic/variants.ts';

const ttcs = shipped.find('ttcs');

test('a variant is paid for a split vote, less for being like its source and for repetition, and never below 0', () => {
  expect(variantReward(0.5, 0, 0.25)).toBe(0.75);
  // 4 · 0.8 · 0.2 = 0.64, and 0.64^1.2 = exp(1.2 · ln 0.64) = exp(-0.535545) = 0.585350; half of it, less a tenth.
  expect(variantReward(0.8, 0.5, 0.1)).toBeCloseTo(0.58535 / 2 - 0.1, 5);
  expect(variantReward(1, 0, 0.25)).toBe(0);
});

test('a variant is close to its source by its operators, or by its text', () => {
  expect(isClose('1+2-3', '3+4-9')).toBe(true);
  // Precisions 6/7, 4/6, 3/5 and 2/4 in both directions: (0.1714)^(1/4) = 0.64.
  expect(isClose('3+4-9+1', '3+4-9-1')).toBe(true);
  // One direction exp(1 - 5/3) = 0.51, the other (3/5 · 2/4 · 1/3 · 0.1/2)^(1/4) = 0.27: a mean of 0.39.
  expect(isClose('3+4', '3+4-9')).toBe(false);
});

const taskOf = (prompt: string) => prompt.replace(/<[a-z]+>/g, '');
/** Of four variants the third is a copy, and the fourth is no chain. */
const VARIANTS = [() => '1+1', () => '2+2-3', (source: string) => source, () => 'xx'] as const;
/** Of a test question one answer in four is right and two agree on a wrong one. */
function write(
  prompt: string,
  i: number,
  variants: readonly ((source: string) => string)[] = VARIANTS,
): string {
  const task = taskOf(prompt);
  if (prompt.startsWith('<propose>')) return `${variants[i]!(task)}<eos>`;
  const total = runningTotals(task).at(-1)!;
  const answers = { '1+1': [2, 2, 3, 3], '2+2-3': [1, 1, 1, 1] }[task] ?? [total, 50, 50, 60];
  return `<answer>${answers[i]}<eos>`;
}
const play = (more: WriteOptions = {}, writes: typeof write = write) =>
  playWritten(ttcs, (prompt, i) => writes(prompt, i), { tasks: 5, groupSize: 4, ...more });
const advantages = (part: unknown) => (part as PolicyPart).items.map(({ advantage }) => advantage);
const near = (numbers: readonly number[]) => numbers.map((n) => expect.closeTo(n, 4));

test('a round: one test question and four variants of it, of which the solver’s votes pay one', async () => {
  const { proposals, groups, plan } = await play();
  const [source] = groups.map(({ task }) => task);
  expect(testQuestions()).toContain(source);
  expect(groups.map(({ task }) => task)).toEqual([source, '1+1', '2+2-3', source]);
  expect(proposals.samples.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'off-grammar']);
  const [synthesizer, solver] = plan.updates;
  expect([synthesizer!.set, solver!.set]).toEqual(['synthesizer', 'main']);
  // Each text is a cluster of its own, a quarter of the batch. Rewards 1 - 1/4; 0, where all attempts agree; 0, for a copy; 0, for no chain.
  // Mean 3/16, sample deviation sqrt(((9/16)² + 3 · (3/16)²) / 3) = 3/8.
  expect(advantages(synthesizer!.parts[0])).toEqual(near([1.5, -0.5, -0.5, -0.5]));
});

test('variants are compared with those of the same test question', async () => {
  let first: string | undefined;
  const { plan } = await play({ tasks: 10 }, (prompt, i) => {
    if (!prompt.startsWith('<propose>')) return write(prompt, i);
    first ??= prompt;
    return prompt === first ? write(prompt, i) : 'xx<eos>';
  });
  // Of the first four only one earns something, of the others none: a common baseline would make these negative.
  expect(advantages(plan.updates[0]!.parts[0])).toEqual(near([1.5, -0.5, -0.5, -0.5, 0, 0, 0, 0]));
});

test('the solver is trained on what its votes are split on, by the majority, right or wrong', async () => {
  const { groups, plan } = await play();
  const [, solver] = plan.updates;
  expect(solver!.epochs).toBe(2);
  // The chain on which all attempts agree is left out. Of four answers two are paid: mean 1/2, sample deviation 1/sqrt(3).
  const high = Math.sqrt(3) / 2;
  const test = [-high, high, high, -high];
  expect(advantages(solver!.parts[0])).toHaveLength(3 * 4);
  expect(advantages(solver!.parts[0]).slice(0, 4)).toEqual(near(test));
  expect(advantages(solver!.parts[0]).slice(8)).toEqual(near(test));
  // The label of the test question and of its copy is wrong. 2 is first among two equally frequent answers to 1+1.
  expect(plan.figures).toEqual({
    testLabels: 0,
    variantLabels: expect.closeTo(2 / 3),
    agreement: expect.closeTo((0.5 + 1 + 0.5) / 3),
    variantSums: (1 + 2 + arithmetic.difficulty(groups[0]!.task)) / 3,
    likeness: expect.any(Number),
    copies: expect.closeTo(1 / 3),
    trained: 3 / 4,
    trainedLabels: expect.closeTo(1 / 3),
  });
});

test('without the discount a copy earns what its split vote is worth', async () => {
  const { plan } = await play({ variant: 'no-discount' });
  // Rewards 3/4, 0, 3/4, 0: mean 3/8, sample deviation sqrt(4 · (3/8)² / 3) = (3/8) · 2/sqrt(3).
  const high = Math.sqrt(3) / 2;
  expect(advantages(plan.updates[0]!.parts[0])).toEqual(near([high, -high, high, -high]));
});

test('a held-out chain that is no test question is neither a task nor paid', async () => {
  const short = arithmetic.heldOut().find((task) => arithmetic.difficulty(task) === 2)!;
  const { proposals, groups } = await play({}, (prompt, i) =>
    write(prompt, i, [() => short, ...VARIANTS.slice(1)]),
  );
  expect(groups.map(({ task }) => task)).not.toContain(short);
  expect(proposals.samples[0]).toMatchObject({ outcome: 'held-out' });
  expect(proposals.samples[0]!.rewards).toEqual({});
});

test('the other arms: test questions alone, all of them trained on, or chains drawn at random', async () => {
  const ttrl = await play({ variant: 'ttrl' });
  expect(ttrl.groups.every(({ task }) => testQuestions().includes(task))).toBe(true);
  expect(ttrl.plan.updates.map(({ set }) => set)).toEqual(['main']);
  expect(ttrl.plan.figures).toEqual({ testLabels: 0, trained: 1, trainedLabels: 0 });
  const random = await play({ variant: 'random-variants', tasks: 40 });
  expect(random.plan.updates.map(({ set }) => set)).toEqual(['main']);
  const drawn = random.groups.slice(8).map(({ task }) => task);
  expect(drawn).toHaveLength(32);
  expect(drawn.some((task) => arithmetic.isHeldOut(task))).toBe(false);
  expect(new Set(drawn.map((task) => arithmetic.difficulty(task)))).toEqual(new Set([2, 3, 4, 5]));
});

test('the start’s solver misreads later operators more often, and carries the error on', () => {
  const random = new Random('ttcs/misread');
  const misread = [0, 0, 0, 0, 0];
  for (let n = 0; n < 2000; n++) {
    const { steps, answer } = misreadSolution(random, '9+1+1+1+1+1');
    const changes = [9, ...steps.map(Number)].flatMap((total, i, all) => (i ? [total - all[i - 1]!] : []));
    expect(new Set(changes.map(Math.abs))).toEqual(new Set([1]));
    expect(answer).toBe(steps.at(-1));
    for (const [i, change] of changes.entries()) misread[i]! += Number(change < 0) / 2000;
  }
  // Five standard deviations of a share of one half over 2000 are 0.056.
  for (const [i, share] of [0.01, 0.15, 0.32, 0.52, 0.58].entries())
    expect(Math.abs(misread[i]! - share)).toBeLessThan(0.056);
});
