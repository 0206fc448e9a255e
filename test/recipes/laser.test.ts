import { expect, test } from 'vitest';
import type { LearnTools, LogRatioPart, PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { scoreFigures, scoresOf, withSelfScores } from '../../recipes/laser/self-score.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';

const laser = shipped.find('laser');

test('a score is 0 at −29 nats and 1 ten nats above', () => {
  expect(scoresOf([-29, -19, -34], -29)).toEqual([0, 1, -0.5].map((score) => expect.closeTo(score)));
});

test('scores that spread within a group have a tenth of the advantage, and others none', () => {
  // Clipped 1, 0: mean 1/2, deviation 1/√2, z = ±1/√2. The second group spreads by 0.07 and stays; a missing reward stays missing.
  const credited = withSelfScores(
    [1, -1, 1, -1, null, 0.5],
    [3, -1, 0.5, 0.4, 1, 0],
    ['a', 'a', 'b', 'b', 'c', 'c'],
  );
  expect(credited).toEqual([
    expect.closeTo(0.9 + 0.1 / Math.SQRT2, 4),
    expect.closeTo(-0.9 - 0.1 / Math.SQRT2, 4),
    1,
    -1,
    null,
    expect.closeTo(0.45 - 0.1 / Math.SQRT2, 4),
  ]);
});

test('figures: scores within and across groups, and votes', () => {
  const answers = [
    { group: 'a', answer: '5', exact: false, score: 0.2 },
    { group: 'a', answer: '5', exact: false, score: 0.3 },
    { group: 'a', answer: '7', exact: true, score: 0.6 },
    { group: 'b', answer: '2', exact: true, score: -1 },
    { group: 'b', answer: null, exact: false, score: 0.1 },
    { group: 'c', answer: '4', exact: true, score: 0.1 },
  ];
  // Right 0.6, −1, 0.1 against wrong 0.2, 0.3, 0.1: three wins of 0.6 and a tie, of nine pairs. Group a 2 of 2, group b 0 of 1.
  // Counted, 5 wins group a; weighted, 7 does by 0.6 to 0.5. In group b no given answer has weight, and the count decides.
  expect(scoreFigures(answers)).toEqual({
    scoreRight: expect.closeTo(-0.1),
    scoreWrong: expect.closeTo(0.2),
    auc: expect.closeTo(3.5 / 9),
    groupAuc: expect.closeTo(1 / 2),
    vote: expect.closeTo(2 / 3),
    scoredVote: 1,
  });
});

const total = (prompt: string) => runningTotals(prompt.slice('<solve>'.length, -'<sep>'.length)).at(-1)!;
/** Of four answers one is right, two are wrong, and one is cut off. */
const write = (prompt: string, i: number) =>
  [`<answer>${total(prompt)}<eos>`, '<answer>77<eos>', '<answer>78<eos>', '<answer>7'][i]!;
/** The token after the i-th answer has log-probability −29 + 5·(3 − i mod 4) nats: scores 1.5, 1, 0.5 and 0. */
const score: LearnTools['score'] = async (_set, sequences) =>
  sequences.map((_, i) => new Float32Array([-29 + 5 * (3 - (i % 4))]));
const play = async (more: WriteOptions = {}) => {
  const { plan, groups, tokenizer } = await playWritten(laser, write, {
    tasks: 2,
    groupSize: 4,
    tools: { score },
    ...more,
  });
  return { plan, groups, tokenizer, parts: plan.updates[0]!.parts };
};

test('finished answers are trained to score their reward, right and wrong ones by the same weight', async () => {
  const { groups, tokenizer, parts, plan } = await play();
  const [policy, regression] = parts as [PolicyPart, LogRatioPart];
  expect(policy.items).toHaveLength(8);
  // 1, 0, 0, 0: mean 1/4, deviation 1/2.
  expect(policy.items.slice(0, 4).map(({ advantage }) => advantage)).toEqual(
    [1.5, -0.5, -0.5, -0.5].map((value) => expect.closeTo(value, 4)),
  );
  expect(regression).toMatchObject({ weight: 0.1, beta: 0.1, reference: -29 });
  // Two right and four wrong ones: 6/(2·2) and 6/(2·4).
  expect(regression.items.map(({ target, weight }) => [target, weight])).toEqual(
    [0, 1].flatMap(() => [
      [1, 1.5],
      [0, 0.75],
      [0, 0.75],
    ]),
  );
  const { prompt, ids } = groups[0]!.samples[1]!;
  expect(regression.items[1]).toMatchObject({
    prompt: [...prompt, ...ids],
    ids: tokenizer.encode('<unk>'),
  });
  expect(plan.figures).toMatchObject({ auc: 1, groupAuc: 1, vote: 1, scoredVote: 1 });
});

test('after eight rounds scores count in advantages', async () => {
  const [policy] = (await play({ index: 9 })).parts as [PolicyPart];
  // Clipped 1, 1, 1/2, 0: mean 5/8, squared distances 9, 9, 1 and 25 of 64, deviation √(44/192).
  const deviation = Math.sqrt(44 / 192);
  const z = [3, 3, -1, -5].map((eighths) => eighths / 8 / deviation);
  expect(policy.items.slice(0, 4).map(({ advantage }) => advantage)).toEqual(
    [1.5, -0.5, -0.5, -0.5].map((value, i) => expect.closeTo(0.9 * value + 0.1 * z[i]!, 4)),
  );
});

test('variants: nothing but GRPO, and rewards of other answers', async () => {
  const plain = await play({ variant: 'grpo', index: 9 });
  expect(plain.parts.map(({ kind }) => kind)).toEqual(['policy']);
  expect((plain.parts[0] as PolicyPart).items[0]!.advantage).toBeCloseTo(1.5, 4);
  const shuffled = (await play({ variant: 'shuffled-targets' })).parts[1] as LogRatioPart;
  const targets = shuffled.items.map(({ target }) => target);
  expect(targets).not.toEqual([1, 0, 0, 1, 0, 0]);
  expect(targets.toSorted()).toEqual([0, 0, 0, 0, 1, 1]);
});
