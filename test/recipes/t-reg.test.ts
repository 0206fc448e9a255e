import { expect, test } from 'vitest';
import type { LearnTools, PreferencePart, Sequence, TrainingPlan } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { shuffledRewards, tokenRewardsOf } from '../../recipes/t-reg/contrast.ts';
import { type Probe, probeFigures, probeOf } from '../../recipes/t-reg/probe.ts';
import { parseStyleTask, pointsOf, styleScore } from '../../worlds/style/family.ts';
import { recordsOf, solved, tokenizer } from './records.ts';

const tReg = shipped.find('t-reg');

test('the reward of a token: half at most, 0 where both wishes make it as likely', () => {
  const [better, worse] = [[0.75, 0.5, 0.1].map(Math.log), [0.25, 0.5, 0.9].map(Math.log)];
  // σ(log a/b) = a / (a + b).
  for (const [t, reward] of [0.25, 0, -0.4].entries())
    expect(tokenRewardsOf(better!, worse!)[t]).toBeCloseTo(reward, 12);
});

test('shuffled rewards are the same ones at other tokens, the same for the same sample', () => {
  const rewards = Array.from({ length: 12 }, (_, t) => t / 24);
  const shuffled = shuffledRewards(rewards, 'a');
  expect(shuffled).not.toEqual(rewards);
  expect([...shuffled].sort((a, b) => a - b)).toEqual(rewards);
  expect(shuffledRewards(rewards, 'a')).toEqual(shuffled);
  expect(shuffledRewards(rewards, 'b')).not.toEqual(shuffled);
});

test('a probe is a perfect response but for a word that stands there twice, whose letters are marked', () => {
  const task = 'az 2-4:tok bel ana dim';
  const { ids, marks } = probeOf(task, tokenizer.encode)!;
  const words = tokenizer.decode(ids).slice('<answer>'.length, -'<eos>'.length).split(' ');
  const parsed = parseStyleTask(task);
  const points = parsed.ok && pointsOf(parsed.value, words.join(' '));
  expect(points).toMatchObject({ form: true, source: true, distinct: false });
  const marked = tokenizer.decode(ids.filter((_, t) => marks[t] === 1));
  expect(words.filter((word) => word === marked)).toHaveLength(2);
  expect(marks.indexOf(1)).toBeGreaterThan(ids.indexOf(tokenizer.encode(' ')[0]!));
});

/** A token has probability 1/2 after the task, 3/4 after a wish for better and 1/4 after one for worse; the policy has moved by 1/10 nat. */
const tools = {
  decode: tokenizer.decode,
  encode: tokenizer.encode,
  score: async (_set: string, sequences: readonly Sequence[], version?: number) =>
    sequences.map(({ prompt, ids }) => {
      const text = tokenizer.decode(prompt);
      const p = text.includes('<right>') ? 0.75 : text.includes('<wrong>') ? 0.25 : 0.5;
      return new Float32Array(ids.length).fill(Math.log(p) + (version === 0 ? 0 : 0.1));
    }),
} as unknown as LearnTools;
const TASK = 'az 2-4:tok bel ana dim';
const responses = [
  ['<answer>ana bel<eos>', 1],
  ['<answer>ana ana<eos>', 0.8],
  ['x<eos>', 0],
] as const;
const learn = (variant?: string, settings: { readonly rewardFunction?: string } = {}) =>
  tReg.learn(
    recordsOf(
      't-reg',
      [
        { task: TASK, samples: responses.map(([text, reward]) => solved(text, reward)) },
        { task: TASK, samples: [solved('<answer>ana<eos>', 0.6), solved('<answer>bel<eos>', 0.6)] },
      ],
      { ...settings, ...(variant ? { variant } : {}) },
    ),
    tools,
  );
const partOf = ({ updates }: TrainingPlan) => updates[0]!.parts[0] as PreferencePart;
const texts = ({ pairs }: PreferencePart) =>
  pairs.map(({ chosen, rejected }) => [chosen, rejected].map(({ ids }) => tokenizer.decode(ids)));

test('best against worst, each token with its reward by the start policy; equals make no pair', async () => {
  const plan = await learn();
  const part = partOf(plan);
  expect(part.objective).toEqual({ kind: 't-reg', beta: 0.1, alpha: 0.5 });
  expect(part.reference).toEqual({ set: 'main', version: 0 });
  expect(texts(part)).toEqual([['<answer>ana bel<eos>', 'x<eos>']]);
  // σ(log 3/4 − log 1/4) − 1/2 = 3/4 − 1/2, at each of 9 and of 2 tokens.
  const { tokenRewards } = part.pairs[0]!;
  expect(tokenRewards!.map((row) => row.length)).toEqual([9, 2]);
  for (const reward of tokenRewards!.flat()) expect(reward).toBeCloseTo(0.25, 6);
  // The policy has moved alike at every token, so that no fault stands out.
  expect(plan.figures!.atFault).toBeCloseTo(0.1, 6);
  expect(plan.figures!.dip).toBeCloseTo(0, 6);
  expect(plan.figures!.firstDip).toBeCloseTo(0, 6);
  expect(plan.figures!.pairs).toBe(1);
});

test('the figures of a probe: at the fault, at its first token and elsewhere', async () => {
  // The policy has moved by 0.1 elsewhere, by −0.4 at the first token of a fault and by −0.2 at its other tokens.
  const score = async (_set: string, sequences: readonly Sequence[], version?: number) =>
    sequences.map((sequence) => {
      const { marks } = sequence as Probe;
      const moved = (t: number) => (marks[t] === 0 ? 0.1 : t === marks.indexOf(1) ? -0.4 : -0.2);
      return Float32Array.from(marks, (_, t) => (version === 0 ? -1 : -1 + moved(t)));
    });
  const { encode } = tokenizer;
  const figures = await probeFigures({ score, encode }, [TASK, 'no task']);
  // A word of the task has three letters.
  expect(figures.elsewhere).toBeCloseTo(0.1, 6);
  expect(figures.atFault).toBeCloseTo(-0.8 / 3, 6);
  expect(figures.dip).toBeCloseTo(0.1 + 0.8 / 3, 6);
  expect(figures.firstDip).toBeCloseTo(0.5, 6);
  expect(await probeFigures({ score, encode }, ['no task'])).toEqual({});
});

test('DPO has the same pairs under its own objective', async () => {
  const dpo = partOf(await learn('dpo'));
  expect(dpo.objective).toEqual({ kind: 'dpo', beta: 0.1 });
  expect(texts(dpo)).toEqual(texts(partOf(await learn())));
});

test('with one wish a token is worth what it gains on no wish', async () => {
  const { tokenRewards } = partOf(await learn('one-wish')).pairs[0]!;
  // σ(log 3/4 − log 1/2) − 1/2 = 3/5 − 1/2.
  for (const reward of tokenRewards!.flat()) expect(reward).toBeCloseTo(0.1, 6);
});

test('the control by form: a response of each group against itself with a tag for a word, under the method’s own objective', async () => {
  const part = partOf(await learn(undefined, { rewardFunction: 'format' }));
  expect(part.objective.kind).toBe('t-reg');
  // The second group's responses have one word each, so that no form can be broken.
  expect(texts(part)).toEqual([['<answer>ana bel<eos>', '<answer>ana <sep><eos>']]);
  expect(part.pairs[0]!.tokenRewards!.map((row) => row.length)).toEqual([9, 7]);
});

test('a response earns its share of the points, anything well-formed as much as another, or what a coin says', async () => {
  const write = (_prompt: string, i: number) => ['<answer>zzz zzz<eos>', 'x<eos>'][i]!;
  const paid = async (rewardFunction: string) => {
    const { groups } = await playWritten(tReg, write, {
      tasks: 8,
      groupSize: 2,
      rewardFunction,
      variant: 'dpo',
      tools: { score: async (_set, sequences) => sequences.map(({ ids }) => new Float32Array(ids.length)) },
    });
    return groups.map(({ task, samples }) => ({ task, rewards: samples.map((s) => s.rewards.reward) }));
  };
  // Two equal words, which are not of the source: form, and an order that is kept by both being the same; and the length where it is asked.
  for (const { task, rewards } of await paid('rubric'))
    expect(rewards).toEqual([styleScore(task, 'zzz zzz') / 5, 0]);
  for (const { rewards } of await paid('format')) expect(rewards).toEqual([1, 0]);
  expect(new Set((await paid('random')).map(({ rewards }) => rewards[0]))).toEqual(new Set([0, 1]));
});
