import { expect, test } from 'vitest';
import type { PolicyPart, ValuePart } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { searchFigures, searchOf } from '../../worlds/arithmetic/search.ts';
import { expectRows } from './records.ts';

const rlsp = shipped.find('rlsp');

test('checks are whole attempts after the first, and padding those after two that agree', () => {
  const search = (text: string) => searchOf('3+4-9', text);
  expect(search('<step>7<step>-2<answer>-2<eos>')).toEqual({ checks: 0, padding: 0, first: '-2' });
  expect(search('<step>7<step>1<bad><step>7<step>-2<answer>-2<eos>')).toEqual({
    checks: 1,
    padding: 0,
    first: '1',
  });
  // 1, -2, -2, -2, -2: two agree at the third attempt, and two come after it.
  const four = '<bad><step>7<step>-2'.repeat(4);
  expect(search(`<step>7<step>1${four}<answer>-2<eos>`)).toEqual({ checks: 4, padding: 2, first: '1' });
  // Cut off; the attempt that is not finished is none, and neither are marks alone.
  expect(search('<step>7<step>1<bad><step>7<step>-2<bad><step>7')).toEqual({
    checks: 1,
    padding: 0,
    first: '1',
  });
  expect(search('<bad><bad><bad>')).toEqual({ checks: 0, padding: 0, first: null });
});

test('figures say what checks came to, by the oracle', () => {
  const answer = (text: string, exact: boolean) => ({
    task: '3+4-9',
    search: searchOf('3+4-9', text),
    exact,
  });
  expect(
    searchFigures([
      answer('<step>7<step>1<bad><step>7<step>-2<answer>-2<eos>', true),
      answer('<step>7<step>-2<bad><step>7<step>1<answer>1<eos>', false),
      answer('<step>7<step>-2<answer>-2<eos>', true),
      answer('<step>7<step>-2<bad><step>7<step>-2<bad><step>7<step>-2<answer>-2<eos>', true),
    ]),
  ).toEqual({ checks: 1, padding: 0.25, firstExact: 0.75, mended: 0.25, spoiled: 0.25 });
});

/** The task `a±b…` -> its first total. Tasks here have one operator each, so that an attempt is one step. */
const write = (prompt: string, i: number): string => {
  const task = prompt.slice('<solve>'.length, -'<sep>'.length);
  const totals = Array.from({ length: (task.length - 1) / 2 }, (_, k) =>
    Number(new Function(`return ${task.slice(0, 2 * k + 3)}`)()),
  );
  const attempt = totals.map((total) => `<step>${total}`).join('');
  return i === 0
    ? `${attempt}<answer>${totals.at(-1)}<eos>`
    : `${attempt}<bad>${attempt}<bad>${attempt}<answer>99<eos>`;
};

/** One task, one exact answer without checks and a wrong one with two; the critic says 0.5 everywhere. */
const play = (more: WriteOptions = {}, recipe = rlsp) =>
  playWritten(recipe, write, {
    tasks: 1,
    groupSize: 2,
    tools: {
      values: async (_set, sequences) => sequences.map(({ ids }) => new Float32Array(ids.length).fill(0.5)),
    },
    ...more,
  });

const planOf = async (more?: WriteOptions, recipe?: Recipe) => {
  const { plan, groups } = await play(more, recipe);
  const [critic, main] = plan.updates;
  expect([critic!.set, main!.set]).toEqual(['critic', 'main']);
  return {
    rewards: groups[0]!.samples.map(({ rewards }) => rewards.reward),
    lengths: groups[0]!.samples.map(({ ids }) => ids.length),
    targets: (critic!.parts[0] as ValuePart).items.map(({ targets }) => targets),
    advantages: (main!.parts[0] as PolicyPart).items.map(({ advantage }) => advantage as number[]),
    figures: plan.figures,
  };
};
const filled = (lengths: readonly number[], values: readonly number[]) =>
  lengths.map((length, i) => new Array<number>(length).fill(values[i]!));

test('a check is paid 0.03, whatever comes of it, and the recorded reward is the answer’s alone', async () => {
  const { rewards, lengths, targets, advantages, figures } = await planOf();
  expect(rewards).toEqual([1, 0]);
  // Returns 1 and 2 · 0.03; with γ = λ = 1 they are the same at every token.
  expectRows(targets, filled(lengths, [1, 0.06]));
  // Advantages 0.5 on a tokens and -0.44 on b: whitened over all a + b tokens with n - 1.
  const [a, b] = lengths as [number, number];
  const centre = (0.5 * a - 0.44 * b) / (a + b);
  const deviation = Math.sqrt((a * (0.5 - centre) ** 2 + b * (-0.44 - centre) ** 2) / (a + b - 1));
  expectRows(advantages, filled(lengths, [(0.5 - centre) / deviation, (-0.44 - centre) / deviation]));
  expect(figures).toEqual({ checks: 1, padding: 0.5, firstExact: 1, mended: 0, spoiled: 0.5 });
});

test('an answer whose reward is missing trains nothing', async () => {
  const unrated: Recipe = {
    ...rlsp,
    judge: async (context, groups) =>
      (await rlsp.judge(context, groups)).map((group) => ({
        ...group,
        samples: group.samples.map((sample, i) =>
          i === 2 ? { ...sample, rewards: { reward: null } } : sample,
        ),
      })),
  };
  const { rewards, lengths, targets, advantages, figures } = await planOf({ groupSize: 3 }, unrated);
  expect(rewards).toEqual([1, 0, null]);
  expectRows(targets, filled(lengths.slice(0, 2), [1, 0.06]));
  expect(advantages.map((each) => each.length)).toEqual(lengths.slice(0, 2));
  expect(figures).toEqual({ checks: 1, padding: 0.5, firstExact: 1, mended: 0, spoiled: 0.5 });
});

test('no bonus, a large one, and that of another answer', async () => {
  const returns = async (variant: string, id?: WriteOptions) =>
    (await planOf({ variant, ...id })).targets.map((targets) => targets[0]);
  expect(await returns('no-bonus')).toEqual([1, 0]);
  expect(await returns('large-bonus')).toEqual([1, 2]);
  const shuffled = await Promise.all([0, 1, 2, 3, 4, 5].map((seed) => returns('random-bonus', { seed })));
  // Either the order stays, or the answer without checks gets the other’s 0.06.
  const near = (rows: (number | undefined)[]) => rows.map((x) => Math.round(x! * 100) / 100).join();
  expect(new Set(shuffled.map(near))).toEqual(new Set(['1,0.06', '1.06,0']));
});

test('a reader sees where an answer begins again', () => {
  expect(rlsp.describe!.parts!('solver', '<step>1<bad><step>7<answer>7<eos>')).toEqual([
    { kind: 'step', text: '1' },
    { kind: 'text', text: 'again' },
    { kind: 'step', text: '7' },
    { kind: 'answer', text: '7' },
  ]);
});
