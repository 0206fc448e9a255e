import { expect, test } from 'vitest';
import type { ClassificationPart, SftPart } from '../../core/plan/training-plan.ts';
import { shipped } from '../../recipes/index.ts';
import { exactSolution } from '../../worlds/composition/family.ts';
import { playTree, type WrittenTree, written } from './play-trees.ts';

const alphaLlm = shipped.find('alphallm');

const IMAGINED = 'f07 of bdca';
const [STEP] = exactSolution(IMAGINED).steps.map((step) => `${step}. `) as [string];
const ANSWER = `Answer: ${exactSolution(IMAGINED).answer}<eos>`;
const WRONG = 'f07 gives hhhh. ';
const NO_ANSWER = 'Answer: hhhh<eos>';

/** One task is given, and is answered wrongly; the other one the proposer writes. */
const write: WrittenTree['write'] = (before, i) => {
  if (before.includes('Write a task')) return `${IMAGINED}<eos>`;
  if (before === '') return [STEP, WRONG][i % 2]!;
  return before.startsWith(STEP) ? ANSWER : NO_ANSWER;
};
const isSound = (text: string) => text.startsWith(STEP);
const critics = {
  values: (text: string) => (isSound(text) ? 0.9 : 0.2),
  odds: (text: string) => (isSound(text) ? Math.log(4) : -Math.log(4)),
};
const play = (more: Partial<WrittenTree> = {}) =>
  playTree({ recipe: alphaLlm, tasks: 2, write, ...critics, ...more });

const partOf = <T>({ plan }: Awaited<ReturnType<typeof play>>, kind: string) =>
  plan.updates.flatMap(({ parts }) => parts).find((part): part is typeof part & T => part.kind === kind);

test('the critics pay and choose answers to an imagined task, which the policy imitates', async () => {
  const played = await play();
  const [given, imagined] = played.groups as [(typeof played.groups)[0], (typeof played.groups)[0]];
  expect([given.proposal, imagined.task]).toEqual([null, IMAGINED]);
  expect(imagined.proposal).toBe(played.proposals.samples[0]!.id);
  const of = (text: string) => imagined.samples.find((sample) => written(sample) === text)!.rewards;
  // The mean of .9 and of 4 / (1 + 4), and of .2 and 1 / 5.
  expect(of(STEP + ANSWER).reward).toBeCloseTo(0.85, 12);
  expect(of(WRONG + NO_ANSWER).reward).toBeCloseTo(0.2, 12);
  expect(partOf<SftPart>(played, 'sft')!.items.map(written)).toEqual([STEP + ANSWER]);
  expect(played.plan.figures).toEqual({ imitated: 1, imitatedExact: 1 });
});

test('the critics learn from given tasks alone', async () => {
  const played = await play();
  const [given] = played.groups as [(typeof played.groups)[0]];
  const marks = partOf<ClassificationPart>(played, 'classification')!;
  expect(marks.role).toBe('critic');
  const rightly = new Set(
    given.samples.flatMap((sample) => (sample.rewards.reward === 1 ? [written(sample)] : [])),
  );
  for (const { prompt, ids, label } of marks.items) {
    const text = written({ prompt, ids });
    expect(label).toBe(Number([...rightly].some((answer) => answer.startsWith(text))));
  }
  expect(marks.items).toHaveLength(new Set(given.samples.map(written)).size);
});

test('the better of two answers is imitated, however little the critics trust both', async () => {
  const doubtful = await play({ values: (text) => (isSound(text) ? 0.1 : 0.2), odds: () => -9 });
  expect(partOf<SftPart>(doubtful, 'sft')!.items.map(written)).toEqual([WRONG + NO_ANSWER]);
  expect(doubtful.plan.figures).toEqual({ imitated: 1, imitatedExact: 0 });
});

test('variants: one critic, a lot in the place of critics, whole samples', async () => {
  const alone = await play({ variant: 'value-only' });
  const reward = (text: string, { groups }: typeof alone) =>
    groups[1]!.samples.find((sample) => written(sample) === text)!.rewards.reward;
  expect(reward(STEP + ANSWER, alone)).toBe(0.9);
  const lots = await play({ variant: 'random-trace', values: () => 0.1, odds: () => -9 });
  expect(lots.plan.figures!.imitated).toBe(1);
  const whole = await play({
    variant: 'best-of-n',
    write: (before, i) =>
      before.includes('Write a task') ? `${IMAGINED}<eos>` : [WRONG + NO_ANSWER, STEP + ANSWER][i % 2]!,
  });
  expect(whole.groups[1]!.samples.every(({ of }) => of === undefined)).toBe(true);
  expect(partOf<SftPart>(whole, 'sft')!.items.map(written)).toEqual([STEP + ANSWER]);
});
