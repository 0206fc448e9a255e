import { expect, test } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { armsRead } from '../../rule/arms-read.ts';
import { conditionsOfFewSeeds, digestOf, expectUnchanged, register } from '../../rule/registration.ts';
import { speed } from '../../rule/speed.ts';

const trio = claimed.find('trio');

const circumstances = {
  attempt: 3,
  registeredAt: '2026-01-01T00:00:00.000Z',
  engine: 'kernels',
  start: { policy: 'arithmetic-base', sha256: 'abc', seeds: 'one' },
} as const;
const registered = register(trio, circumstances);
const claim = trio.claim!;

/** Conditions that were registered before arms of four seeds were refused, by the arms that have four. */
const KNOWN = [
  'q-evolve: mean',
  'q-evolve: shuffled',
  'q-evolve: shuffled',
  'rewardharness: ungated',
  'rlp: uncentred, frozen baseline',
  'rlp: uncentred, no baseline',
  'specs: format',
  'specs: random',
  'svs: no upper band',
];

test('a registration names arms with their seeds, conditions with their bounds, settings and start', () => {
  expect(registered.seeds).toHaveLength(8);
  expect(registered.arms.find(({ name }) => name === 'frozen judge')).toEqual({
    name: 'frozen judge',
    reward: 'judge',
    freeze: ['judge'],
    seeds: registered.seeds,
  });
  expect(registered.arms.find(({ name }) => name === 'random')?.seeds).toEqual(registered.seeds.slice(0, 4));
  expect(registered.conditions[0]).toEqual({
    description: 'mix: greedy accuracy rises',
    bound: 'at least 0.2',
  });
  expect(registered).toMatchObject({
    rounds: 40,
    settings: { tasks: 64, groupSize: 8, evaluateEvery: 5 },
    start: circumstances.start,
  });
});

/** `trio` with an arm of fewer seeds. */
const withFew = (name: string) => ({
  ...trio,
  claim: { ...claim, arms: claim.arms.map((arm) => (arm.name === name ? { ...arm, seedCount: 4 } : arm)) },
});

test('a condition that measures an arm of fewer than eight seeds is refused, a control is not', () => {
  expect(() => register(withFew('frozen judge'), circumstances)).toThrow(
    /measures frozen judge on fewer than 8 seeds/,
  );
  expect(() => register({ ...trio, claim: { ...claim, seeds: [1, 2, 3] } }, circumstances)).toThrow(
    /on fewer than 8 seeds/,
  );
  expect(conditionsOfFewSeeds(claim)).toEqual([]);
  expect(claim.conditions.some(({ control }) => control)).toBe(true);
});

test('no other claim has such a condition than those that were registered before it was refused', () => {
  const few = claimed.recipes.flatMap(({ name, claim }) =>
    conditionsOfFewSeeds(claim).map(({ arms }) => `${name}: ${arms.join(', ')}`),
  );
  expect(few.sort()).toEqual(KNOWN);
});

test('the arms of a measure are found, also where it asks for one only if another gains', () => {
  const of = (measure: Parameters<typeof armsRead>[0]['measure']) => armsRead({ measure }, { rounds: 20 });
  expect(of((results, seed) => speed(results, 'a', 'b', seed))).toEqual(['b', 'a']);
  expect(
    of((results) => {
      throw new Error(`needs the judge of ${results.c?.length}`);
    }),
  ).toEqual(['c']);
});

test('a claim with a start of its own is held to that one, whatever its recipe begins from', () => {
  const own = { ...trio, startPolicy: 'games', claim: { ...claim, startPolicy: 'arithmetic-base' } };
  expectUnchanged(own, registered);
});

test('its digest is that of its content', () => {
  expect(digestOf(registered)).toMatch(/^[0-9a-f]{64}$/);
  expect(digestOf({ ...registered, attempt: 4 })).not.toBe(digestOf(registered));
});

test('a claim that still is what was registered passes; words about arms and the diagnosis may change', () => {
  const arms = claim.arms.map((arm) => ({ ...arm, description: 'said otherwise' }));
  expectUnchanged({ ...trio, claim: { ...claim, arms, diagnosis: 'new' } }, registered);
});

test.each([
  ['rounds', { ...trio, claim: { ...claim, rounds: 41 } }],
  ['seeds', { ...trio, claim: { ...claim, seeds: [1, 2, 3] } }],
  ['arms', { ...trio, claim: { ...claim, arms: claim.arms.slice(1) } }],
  ['conditions', { ...trio, claim: { ...claim, conditions: claim.conditions.slice(1) } }],
  [
    'conditions',
    {
      ...trio,
      claim: {
        ...claim,
        conditions: [{ ...claim.conditions[0]!, atLeast: 0.1 }, ...claim.conditions.slice(1)] as never,
      },
    },
  ],
  ['observations', { ...trio, claim: { ...claim, observations: [] } }],
  ['settings', { ...trio, tasks: 32 }],
  ['start', { ...trio, startPolicy: 'games' }],
  ['start', { ...trio, claim: { ...claim, startPolicy: 'games' } }],
])('%s that were changed are refused', (field, recipe) => {
  expect(() => expectUnchanged(recipe, registered)).toThrow(new RegExp(`its ${field} differ`));
});
