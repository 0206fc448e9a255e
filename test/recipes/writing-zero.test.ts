import { expect, test } from 'vitest';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { against, referenceOf } from '../../recipes/writing-zero/compared.ts';
import { styleScore } from '../../worlds/style/family.ts';
import { policyPart } from './play-solver.ts';

const writingZero = shipped.find('writing-zero');

const RESPONSES = ['<answer>ana', '<answer>ana bel', '<answer>ana bel dim', 'x'];
/** What the judge writes of each, three times; its second word on the third response cannot be read. */
const SCORES: Readonly<Record<string, readonly string[]>> = {
  ana: ['1', '2', '3'],
  'ana bel': ['2', '2', '2'],
  'ana bel dim': ['1', 'x', '1'],
};
/** Mean score / 5, and a twentieth for each word: 2/5 + 1/20, 2/5 + 2/20, 1/5 + 3/20, and nothing for what is no response. */
const WORTHS = [0.45, 0.5, 0.35, 0];

const play = (more: WriteOptions = {}) =>
  playWritten(
    writingZero,
    (prompt, i) => {
      const response = /^<judge>.*<sep>(.*)<sep>$/.exec(prompt)?.[1];
      return `${response === undefined ? RESPONSES[i]! : SCORES[response]![i]!}<eos>`;
    },
    { tasks: 6, groupSize: 4, ...more },
  );
const rewardsOf = async (more?: WriteOptions) =>
  (await play(more)).groups.map(({ group, samples }) => ({
    reference: referenceOf(group, 4),
    rewards: samples.map(({ rewards }) => rewards.reward ?? null),
  }));

test('more than the reference is 1, less is -1, and what is the same or missing teaches nothing', () => {
  expect(against([0.2, 0.5, 0.9, null, 0.5], 0.5)).toEqual([-1, null, 1, null, null]);
  expect(against([0.2, 0.9], null)).toEqual([null, null]);
});

test('a response earns 1 where it is worth more than the sibling that was drawn, however much', async () => {
  const paid: Readonly<Record<number, readonly (number | null)[]>> = {
    0: [null, 1, -1, -1],
    1: [-1, null, -1, -1],
    2: [1, 1, null, -1],
    3: [1, 1, 1, null],
  };
  const groups = await rewardsOf();
  expect(groups.map(({ rewards }) => rewards)).toEqual(groups.map(({ reference }) => paid[reference]));
  expect(new Set(groups.map(({ reference }) => reference)).size).toBeGreaterThan(1);
});

test('the reward is the advantage as it is; the report says by how much the judge overrates', async () => {
  const { groups, plan } = await play();
  const items = policyPart(plan).items;
  const rewards = groups.flatMap(({ samples }) => samples.map((sample) => sample.rewards.reward));
  expect(items.map(({ advantage }) => advantage)).toEqual(rewards.filter((reward) => reward !== null));
  const gaps = groups.flatMap(({ task }) =>
    RESPONSES.slice(0, 3).map((text, i) => WORTHS[i]! - styleScore(task, text.slice('<answer>'.length)) / 5),
  );
  expect(plan.figures!.overrated).toBeCloseTo(gaps.reduce((a, b) => a + b) / gaps.length);
});

test('as a scale the same scores are paid themselves, and compared with the mean of the group', async () => {
  for (const { rewards } of await rewardsOf({ variant: 'scalar' }))
    expect(rewards).toEqual(WORTHS.map((worth) => expect.closeTo(worth)));
  const { plan } = await play({ variant: 'scalar' });
  const [first] = policyPart(plan).items;
  // Mean .325, deviation √((.125² + .175² + .025² + .325²) / 3).
  const deviation = Math.sqrt((0.125 ** 2 + 0.175 ** 2 + 0.025 ** 2 + 0.325 ** 2) / 3);
  expect(first!.advantage).toBeCloseTo(0.125 / deviation, 3);
});

test('a reference that stays is 0.7 of the points', async () => {
  for (const { rewards } of await rewardsOf({ variant: 'fixed-yardstick' }))
    expect(rewards).toEqual([-1, -1, -1, -1]);
});

test('where any well-formed response is worth the same, only those that are not well-formed tell it from others', async () => {
  for (const { reference, rewards } of await rewardsOf({ rewardFunction: 'format' }))
    expect(rewards).toEqual(reference === 3 ? [1, 1, 1, null] : [null, null, null, -1]);
});

test('the upper bound compares the points of the rubric', async () => {
  const { groups } = await play({ rewardFunction: 'rubric' });
  for (const { group, task, samples } of groups) {
    const points = RESPONSES.map(
      (text) => styleScore(task, text.replace('<answer>', '')) * Number(text !== 'x'),
    );
    const reference = points[referenceOf(group, 4)]!;
    expect(samples.map(({ rewards }) => rewards.reward ?? null)).toEqual(
      points.map((value) => (value === reference ? null : Math.sign(value - reference))),
    );
  }
});
