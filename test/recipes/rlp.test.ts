import { expect, test } from 'vitest';
import type { LearnTools, PolicyPart, Sequence, SftPart } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { withMethod } from '../../protocols/method-settings.ts';
import { shipped } from '../../recipes/index.ts';
import {
  isComputable,
  isHeldOutPosition,
  parsePosition,
  workOut,
  writeThought,
} from '../../worlds/documents/sums.ts';
import { evaluateWritten } from './evaluate-written.ts';

const rlp = shipped.find('rlp');

/** A thought that works the digit out where it can be, another thought, one that is cut off, and no thought. */
const write = (prompt: string, i: number): string => {
  const worked = workOut(prompt.slice(0, -'<step>'.length));
  return [writeThought(worked ?? ['2']), '0<step>0<answer>', '0<step>0', '?<answer>'][i]!;
};

/** Log-probabilities of the digit: after the four thoughts before each of two digits, and without a thought; more digits have the same again. */
const AFTER = [-0.5, -1.5, -2.5, -3.5, -1, -1, -1, -5];
const PLAIN = { slow: [-2, -3], start: [-1, -4] };

async function play({
  slow = PLAIN.slow,
  recipe = rlp,
  ...more
}: WriteOptions & { slow?: readonly number[]; recipe?: Recipe } = {}) {
  const asked: { set: string; version: number | undefined; sequences: readonly Sequence[] }[] = [];
  const score: LearnTools['score'] = async (set, sequences, version) => {
    asked.push({ set, version, sequences });
    const told = set === 'slow' ? slow : version === 0 ? PLAIN.start : AFTER;
    return sequences.map((_, i) => Float32Array.of(told[i % told.length]!));
  };
  const played = await playWritten(recipe, write, { tasks: 2, groupSize: 4, tools: { score }, ...more });
  return { ...played, asked, part: played.plan.updates[0]!.parts[0]! };
}
const advantages = ({ part }: Awaited<ReturnType<typeof play>>) =>
  (part as PolicyPart).items.map(({ advantage }) => advantage as number);
const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 5));

/** Group 1: mean -2, so 1.5, .5, -.5, -1.5, times 4/3. Group 2: mean -2, so 1, 1, 1, -3, times 4/3. */
const CENTRED = [2, 2 / 3, -2 / 3, -2, 4 / 3, 4 / 3, 4 / 3, -4];

test('a thought is trained by its gain minus the mean gain of the others', async () => {
  const played = await play();
  const { groups, plan, asked, tokenizer } = played;
  expect(advantages(played)).toEqual(close(CENTRED));
  // Gains over -2 and -3: 1.5, .5, -.5, -1.5 with mean 0, and 2, 2, 2, -2 with mean 1.
  const means = groups.map(({ task }, g) => ({ computable: isComputable(task), mean: g }));
  for (const computable of [true, false]) {
    const own = means.filter((each) => each.computable === computable).map(({ mean }) => mean);
    const figure = plan.figures![computable ? 'gain' : 'noiseGain'];
    if (own.length) expect(figure).toBeCloseTo(own.reduce((a, b) => a + b, 0) / own.length, 5);
    else expect(figure).toBeUndefined();
  }
  // The policy is asked for the digit after each thought, which is ended where it was cut off; the slower copy without one.
  const [after, plain] = asked;
  expect([after!.set, after!.version, plain!.set]).toEqual(['main', undefined, 'slow']);
  const { before, next } = parsePosition(groups[0]!.task);
  const texts = after!.sequences.map(({ prompt }) => tokenizer.decode(prompt));
  expect(texts.slice(1, 4)).toEqual([
    `${before}<step>0<step>0<answer>`,
    `${before}<step>0<step>0<answer>`,
    `${before}<step>?<answer>`,
  ]);
  expect(after!.sequences.slice(0, 4).map(({ ids }) => tokenizer.decode(ids))).toEqual([
    next,
    next,
    next,
    next,
  ]);
  expect(tokenizer.decode(plain!.sequences[0]!.prompt)).toBe(before);
  expect((played.part as PolicyPart).objective).toEqual({ kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.28 });
});

test('another estimator credits the same gains', async () => {
  const centred = withMethod(rlp, { estimator: 'mean-centred' });
  // A thought's own gain is in the mean, so that nothing is scaled by 4/3.
  expect(advantages(await play({ recipe: centred }))).toEqual(close(CENTRED.map((value) => value * 0.75)));
});

test('the likelihood without a thought cancels where thoughts are compared, and counts where they are not', async () => {
  expect(advantages(await play({ variant: 'uncentred' }))).toEqual(
    close([1.5, 0.5, -0.5, -1.5, 2, 2, 2, -2]),
  );
  // Over -1 and -4, which the start policy gives.
  const frozen = await play({ variant: 'frozen-baseline' });
  expect(advantages(frozen)).toEqual(close([0.5, -0.5, -1.5, -2.5, 3, 3, 3, -1]));
  expect(frozen.asked.at(-1)).toMatchObject({ set: 'main', version: 0 });
  expect(advantages(await play({ variant: 'no-baseline' }))).toEqual(close(AFTER));
  // Whatever the slower copy says, what is trained is the same.
  expect(advantages(await play({ slow: [-7, -0.1] }))).toEqual(close(CENTRED));
});

test('next-token prediction has as many tokens as the thoughts', async () => {
  const { part, groups, tokenizer } = await play({ variant: 'nll' });
  const { kind, items } = part as SftPart;
  expect(kind).toBe('sft');
  const thoughts = groups.flatMap(({ samples }) => samples).reduce((sum, { ids }) => sum + ids.length, 0);
  const tokens = items.map(({ ids }) => ids.length);
  const all = tokens.reduce((a, b) => a + b, 0);
  expect(all).toBeGreaterThanOrEqual(thoughts);
  expect(all - tokens.at(-1)!).toBeLessThan(thoughts);
  for (const { prompt, ids } of items) {
    expect(prompt).toHaveLength(1);
    expect(tokenizer.decode([...prompt, ...ids])).toMatch(
      /^(?:(?:\d(?:[+-]\d){2,4}=|[a-z]{2})\d(?: |<eos>$)){4}$/,
    );
  }
});

test('the judge knows no reward of a gain; the controls pay the form and a coin, and nobody is told what is right', async () => {
  const gain = await play();
  expect(gain.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([null, null, null, null]);
  const format = await play({ rewardFunction: 'format' });
  expect(format.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 0, 0]);
  // 1, 1, 0, 0: mean .5, times 4/3.
  expect(advantages(format).slice(0, 4)).toEqual(close([2 / 3, 2 / 3, -2 / 3, -2 / 3]));
  const { groups } = await play({ tasks: 8 });
  expect(new Set(groups.map(({ task }) => isComputable(task)))).toEqual(new Set([true, false]));
  for (const { task, answersExact } of groups)
    expect(answersExact).toEqual(isComputable(task) ? [true, false, null, null] : Array(4).fill(null));
  expect(Object.values(rlp.rewards).some(({ usesGold }) => usesGold)).toBe(false);
});

test('an evaluation predicts the digits of unseen sums after a thought and without one', async () => {
  // It thinks well before sums that begin with an even digit, and is cut off before others. The digit is the last one that it thought, or 0 without a thought.
  const begin = (before: string) => Number(before[before.lastIndexOf(' ') + 1]);
  const asked = new Set<string>();
  const { heldOut, figures } = await evaluateWritten(rlp, 40, (prompt) => {
    if (prompt.endsWith('<answer>')) return prompt.at(-'<answer>'.length - 1)!;
    if (!prompt.endsWith('<step>')) return '0';
    const before = prompt.slice(0, -'<step>'.length);
    asked.add(before);
    return begin(before) % 2 === 0 ? writeThought(workOut(before)!) : '0<step>0';
  });
  const befores = [...asked];
  expect(befores).toHaveLength(40);
  for (const before of befores) expect(isHeldOutPosition(`${before}?0`)).toBe(true);
  const share = (test: (before: string) => boolean) => befores.filter(test).length / 40;
  const whole = share((before) => begin(before) % 2 === 0);
  const zero = (before: string) => workOut(before)!.at(-1) === '0';
  const right = share((before) => begin(before) % 2 === 0 || zero(before));
  expect(heldOut).toMatchObject({ n: 40, accuracy: right, sampled: right, formatRate: whole });
  expect(figures).toEqual({
    plain: share(zero),
    plainSampled: share(zero),
    exactThoughts: whole,
    exactSampled: whole,
  });
  expect(right).toBeGreaterThan(share(zero));
});
