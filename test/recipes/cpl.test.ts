import { expect, test } from 'vitest';
import type { PreferencePart, SftPart } from '../../core/plan/training-plan.ts';
import { shipped } from '../../recipes/index.ts';
import { exactSolution } from '../../worlds/composition/family.ts';
import { playTree, type WrittenTree, written } from './play-trees.ts';

const cpl = shipped.find('cpl');

const TASK = 'f07 of bdca';
const [STEP] = exactSolution(TASK).steps.map((step) => `${step}. `) as [string];
const ANSWER = `Answer: ${exactSolution(TASK).answer}<eos>`;
const WRONG = 'f07 gives hhhh. ';
const NO_ANSWER = 'Answer: hhhh<eos>';

const write: WrittenTree['write'] = (before, i) => {
  if (before === '') return i % 4 === 0 ? STEP : WRONG;
  return before === STEP && i % 4 > 0 ? ANSWER : NO_ANSWER;
};
const values = (text: string) => (text.startsWith(STEP) ? 0.25 : -0.25);
const play = (more: Partial<WrittenTree> = {}) =>
  playTree({ recipe: cpl, task: TASK, write, values, ...more });

const pairsOf = ({ plan }: Awaited<ReturnType<typeof play>>) => {
  const part = plan.updates
    .flatMap(({ parts }) => parts)
    .find((one): one is PreferencePart => one.kind === 'preference');
  return part
    ? { ...part, texts: part.pairs.map(({ chosen, rejected }) => [written(chosen), written(rejected)]) }
    : null;
};

test('the best and the worst step after a beginning are a pair, apart by their values', async () => {
  const played = await play();
  const { texts, pairs, objective, reference } = pairsOf(played)!;
  expect(objective).toEqual({ kind: 'dpo', beta: 0.3 });
  expect(reference).toEqual({ set: 'main', version: 0 });
  expect(texts).toEqual([
    [STEP, WRONG],
    [STEP + ANSWER, STEP + NO_ANSWER],
  ]);
  // Only the step itself is compared, after what both have in common.
  expect(pairs[1]!.chosen.ids).toHaveLength(6);
  const worthOf = (text: string) =>
    played.groups[0]!.samples.find((sample) => written(sample) === text)!.rewards.value!;
  // A right answer is worth 1, any other −1: after the step, three of its draws of four are right.
  expect([worthOf(STEP + ANSWER), worthOf(STEP + NO_ANSWER)]).toEqual([1, -1]);
  expect(pairs[1]!.offset).toBe(2);
  expect(pairs[0]!.offset).toBeCloseTo(worthOf(STEP) - worthOf(WRONG), 12);
  const traces = played.plan.updates[0]!.parts.find((one): one is SftPart => one.kind === 'sft')!;
  expect(traces.items.map(written)).toEqual([STEP + ANSWER]);
  const heads = played.plan.updates.find(({ set }) => set === 'value')!;
  expect(heads.parts.map(({ kind }) => kind)).toEqual(['value']);
});

test('the value of a step is that of the answers below it, by visits', async () => {
  const { groups } = await play();
  const of = (text: string) => groups[0]!.samples.find((sample) => written(sample) === text)!.rewards;
  const below = [STEP + ANSWER, STEP + NO_ANSWER].map(of);
  const visits = below.map((one) => one.visits!);
  const sum = visits[0]! + visits[1]!;
  // What the value model says of it counts once.
  expect(of(STEP).estimate).toBe(0.25);
  expect(of(STEP).value).toBeCloseTo((0.25 + visits[0]! - visits[1]!) / (1 + sum), 12);
});

test('variants: without offsets, by whole answers, by random values, without pairs', async () => {
  const plain = pairsOf(await play({ variant: 'step-dpo' }))!;
  expect(plain.texts).toHaveLength(2);
  expect(plain.pairs.every(({ offset }) => offset === undefined)).toBe(true);
  const whole = pairsOf(await play({ variant: 'outcome-dpo' }))!;
  expect(whole.pairs).toHaveLength(1);
  expect(written(whole.pairs[0]!.chosen)).toBe(STEP + ANSWER);
  expect(whole.pairs[0]!.chosen.ids).toHaveLength(13);
  const random = pairsOf(await play({ variant: 'random-values' }));
  expect(random?.pairs.map(({ offset }) => offset)).not.toEqual(
    pairsOf(await play())!.pairs.map(({ offset }) => offset),
  );
  const none = await play({ variant: 'imitation-only' });
  expect(pairsOf(none)).toBeNull();
  expect(none.plan.updates[0]!.parts.map(({ kind }) => kind)).toEqual(['sft']);
});
