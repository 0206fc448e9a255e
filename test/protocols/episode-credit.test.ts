import { expect, test } from 'vitest';
import { echoSigns, grpoByEpisode } from '../../protocols/episode-credit.ts';
import { groupOf, turnsOf } from '../recipes/turns.ts';

/** Four episodes with these returns; the first has two turns, and first turns begin with 0 1 2 0. */
const world = (name: string, returns: readonly (number | null)[]) =>
  groupOf(
    name,
    0,
    name,
    returns.flatMap((value, i) => turnsOf(`${name}/${i}`, 'agent', i === 0 ? 2 : 1, value, { token: i % 3 })),
  );
const advantages = (returns: readonly (number | null)[]) =>
  grpoByEpisode([world('w', returns)]).map(({ advantage }) => advantage as number);
const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 4));

test('every turn has its episode’s advantage, over the episodes of one world and not over their turns', () => {
  // mean 1/2, σ of 1 1 0 0 with n-1 is 1/√3; counted by turns the mean would be 3/5
  expect(advantages([1, 1, 0, 0])).toEqual(close([1, 1, 1, -1, -1].map((sign) => (sign * Math.sqrt(3)) / 2)));
  // an episode without a return leaves 1 0 0: mean 1/3, σ 1/√3
  expect(advantages([1, null, 0, 0])).toEqual(close([2, 2, -1, -1].map((value) => value / Math.sqrt(3))));
});

test('worlds are not compared with each other', () => {
  const [easy, hard] = [world('easy', [1, 1, 1, 1]), world('hard', [0, 0, 0, 0])];
  for (const { advantage } of grpoByEpisode([easy, hard])) expect(advantage).toBe(0);
});

test('the signs of the echo trap', () => {
  const signs = echoSigns([world('a', [1, 1, 0, 0]), world('b', [1, 1, 1, 0]), world('c', [1, 1, 1, 1])]);
  // deviations with n: 1/2, √3/4, 0; three of four first turns differ; five turns in four episodes
  expect(signs.returnSpread).toBeCloseTo((1 / 2 + Math.sqrt(3) / 4) / 3, 12);
  expect(signs.variety).toBeCloseTo(3 / 4, 12);
  expect(signs.turns).toBeCloseTo(5 / 4, 12);
  // of two episodes, of two turns and of one, the longer succeeds; nobody knows of the others
  const [known] = [world('d', [1, 0])];
  expect(echoSigns([{ ...known!, answersExact: [true, true, false] }]).success).toBe(1 / 2);
});
