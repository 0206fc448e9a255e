/** Whatever changes a run is in its identity: its id, and the name of the policy that it trains. */
import { expect, test } from 'vitest';
import { KERNEL_ENGINES, SMALLER_WEIGHTS } from '../../core/policy/policy.ts';
import { policyNameOf } from '../../core/runs/policy-name.ts';
import { runIdOf } from '../../core/schema/round.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { type RunOrder, runOf } from '../../recipes/run-order.ts';

const plain: RunOrder = { recipe: 'trio', seed: 0, rounds: 1, freeze: [] };

/** One change of each setting that an order takes, but for its number of rounds, which extends the same run. */
const changes: { readonly [setting in Exclude<keyof RunOrder, 'rounds'>]-?: Partial<RunOrder> } = {
  recipe: { recipe: 'tango' },
  seed: { seed: 1 },
  policy: { policy: 'mine' },
  rewardFunction: { rewardFunction: 'gold' },
  freeze: { freeze: ['judge'] },
  variant: { recipe: 'dapo', variant: 'grpo' },
  weights: { weights: 'w8a8' },
  engine: { engine: 'kernels' },
  ahead: { ahead: 1 },
  tasks: { tasks: 8 },
  groupSize: { groupSize: 4 },
};

for (const [setting, change] of Object.entries(changes))
  test(`${setting} changes the run and the policy that it trains`, () => {
    const before = runOf(shipped, {
      ...plain,
      ...(change.variant ? { recipe: change.recipe! } : {}),
    }).settings;
    const after = runOf(shipped, { ...plain, ...change }).settings;
    expect(runIdOf(after)).not.toBe(runIdOf(before));
    expect(after.policy).not.toBe(before.policy);
  });

test('a setting that is written out as its default is the same run', () => {
  const { tasks, groupSize } = runOf(shipped, plain).settings;
  expect(runOf(shipped, { ...plain, tasks, groupSize }).settings).toEqual(runOf(shipped, plain).settings);
  expect(runOf(shipped, { ...plain, rounds: 9 }).settings).toEqual(runOf(shipped, plain).settings);
  expect(runOf(shipped, { ...plain, ahead: 0 }).settings).toEqual(runOf(shipped, plain).settings);
  expect(runOf(shipped, { ...plain, engine: 'onnx' }).settings).toEqual(runOf(shipped, plain).settings);
});

test('weights that the kernels do not hold are refused with them', () => {
  expect(() => runOf(shipped, { ...plain, engine: 'kernels', weights: 'int4' })).toThrow(
    /The engine kernels does not hold int4 weights/,
  );
  expect(runOf(shipped, { ...plain, weights: 'int4' }).settings.weights).toBe('int4');
});

/** [] and each single role. */
const freezes = (roles: readonly string[]) => [[], ...roles.map((role) => [role])];

/** Weights and engine: each alone, and together. */
const forms = [undefined, ...SMALLER_WEIGHTS].flatMap((weights) =>
  [undefined, ...KERNEL_ENGINES].map((engine) => [weights, engine] as const),
);

test('no two combinations of settings of any recipe train one policy', () => {
  const names = new Map<string, object>();
  // Of so many combinations an expectation for each would take most of the time.
  const faults: string[] = [];
  for (const recipe of recipes)
    for (const rewardFunction of [undefined, ...Object.keys(recipe.rewards)])
      for (const variant of [undefined, ...Object.keys(recipe.variants ?? {})])
        for (const [weights, engine] of forms)
          for (const freeze of freezes(recipe.freezable ?? []))
            for (const tasks of [recipe.tasks, recipe.tasks + 1])
              for (const groupSize of [recipe.groupSize, recipe.groupSize + 1])
                for (const seed of [0, 1]) {
                  const run = {
                    recipe: recipe.name,
                    rewardFunction,
                    variant,
                    weights,
                    engine,
                    freeze,
                    tasks,
                    groupSize,
                    seed,
                  };
                  const name = policyNameOf(run, recipe);
                  const other = names.get(name);
                  if (other || name.length > 64)
                    faults.push(`${name} of ${JSON.stringify(run)} and ${JSON.stringify(other)}`);
                  names.set(name, run);
                }
  expect(faults.slice(0, 3)).toEqual([]);
});

test('a variant that is called like a reward does not take its name', () => {
  const defaults = { tasks: 4, groupSize: 2, rewards: { exact: {}, random: {} } };
  const name = (change: object) => policyNameOf({ recipe: 'r', seed: 0, freeze: [], ...change }, defaults);
  expect(name({ rewardFunction: 'random' })).toBe('r-random-0');
  expect(name({ variant: 'random' })).toBe('r-variant-random-0');
});
