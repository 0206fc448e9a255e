import { expect, test } from 'vitest';
import { digestOf, expectUnchanged, register } from '../../../core/claims/registration.ts';
import { trio } from '../../../recipes/trio/recipe.ts';

const circumstances = {
  attempt: 3,
  registeredAt: '2026-01-01T00:00:00.000Z',
  engine: 'kernels',
  start: { policy: 'arithmetic-base', sha256: 'abc', seeds: 'one' },
} as const;
const registered = register(trio, circumstances);
const claim = trio.claim!;

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
