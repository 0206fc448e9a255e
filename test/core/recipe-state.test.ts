/** What a recipe carries from round to round is held to its schema, in and out. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools, RoundRecords } from '../../core/plan/training-plan.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { recipes } from '../../recipes/index.ts';

const schema = v.object({ tasks: v.array(v.string()) });
const records = { groups: [], round: { settings: { freeze: [] } } } as unknown as RoundRecords;
const leaving = (recipeState: unknown, state?: typeof schema) =>
  planTraining(
    { name: 'own', learn: () => ({ updates: [], recipeState }), ...(state ? { state } : {}) },
    records,
    {} as LearnTools,
  );

test('nothing was left: there is no state; what was left is read as the schema says', () => {
  expect(readState(schema, undefined)).toBeUndefined();
  expect(readState(schema, { tasks: ['1+2'] })).toEqual({ tasks: ['1+2'] });
});

test('a version that carries something else is refused, with the place and what to do', () => {
  expect(() => readState(schema, { tasks: ['1+2', 3] })).toThrow(
    /What the version carries is not the state of this recipe: tasks\.1: .*another recipe trained this version.*export NAME VERSION DIR.*begin a run with a new policy/s,
  );
});

test('a training plan cannot leave what its stages could not read, nor anything that the recipe does not declare', async () => {
  await expect(leaving({ tasks: [] }, schema)).resolves.toMatchObject({ recipeState: { tasks: [] } });
  await expect(leaving(undefined)).resolves.toMatchObject({ updates: [] });
  await expect(leaving([1], schema)).rejects.toThrow(/What a training plan of own leaves is not the state/);
  await expect(leaving({ tasks: [] })).rejects.toThrow(/own leaves a state, and the recipe declares none/);
});

test('the recipes that carry something say so', () => {
  const stateful = recipes.flatMap(({ name, state }) => (state ? [name] : []));
  expect(stateful.sort()).toEqual([
    'asl',
    'azr',
    'cot-monitor',
    'eva',
    'evoenv',
    'evolmm',
    'mae',
    'r-zero',
    'rewardharness',
    'sd-zero',
    'spin',
    'spiral',
    'sppo',
    'ssp',
    'ssr-swe',
    'ste',
    'stp',
    'sws',
    'tango',
    'trio-in-composition',
    'vision-zero',
  ]);
});
